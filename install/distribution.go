package install

import "halfnote/install/wheel"

// description is the page of the wheel.
const description = `Go cells in JupyterLab, VS Code and every other Jupyter front end, with tensors, automatic differentiation and mixed precision as in PyTorch.
The program needs neither Go nor a compiler.

    pip install halfnote           # adds the kernel "Go (halfnote)" to this environment
    halfnote lab                   # opens the course, 21 notebooks, in a private JupyterLab
    halfnote run notebook.ipynb    # runs a notebook without Jupyter
    halfnote doctor                # says what is missing, and the command that fixes it

In a notebook of a Python kernel, "%load_ext halfnote" adds the cell magic "%%go".`

// Distribution returns the wheel halfnote: the program beside its kernelspec, a command that starts it, the parts
// for papermill, nbconvert and JupyterLab, and %%go. program is the program's file for the operating system goos, and tags name
// the platforms that it runs on, such as "py3-none-manylinux_2_17_x86_64". The extra "lab" adds JupyterLab with widgets.
func Distribution(program []byte, goos, version string, tags []string) (wheel.Wheel, error) {
	w := wheel.Wheel{
		Name: "halfnote", Version: version, Summary: "A Jupyter kernel for Go with tensors and automatic mixed precision", Tags: tags,
		Headers: []string{
			"Requires-Python: >=3.8",
			"License-Expression: BSD-3-Clause",
			"Keywords: jupyter,kernel,go,mixed precision,amp",
			"Provides-Extra: lab",
			`Requires-Dist: jupyterlab>=4.4; extra == "lab"`,
			`Requires-Dist: ipywidgets>=8; extra == "lab"`,
		},
		Description: description,
		EntryPoints: "[console_scripts]\nhalfnote = halfnote:main\n\n" + entryPoints,
	}
	python, err := jupyterFiles(version, w.Prefix())
	if err != nil {
		return w, err
	}
	spec := w.Prefix() + "share/jupyter/kernels/halfnote/"
	w.Files = append(python, wheel.File{Name: spec + binaryName(goos), Mode: 0o755, Content: program})
	for _, f := range specFiles(Options{Version: version}.named(), goos) {
		w.Files = append(w.Files, wheel.File{Name: spec + f.name, Mode: 0o644, Content: f.content})
	}
	return w, nil
}

package install

import (
	"bytes"
	"cmp"
	"embed"
	"fmt"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"strings"

	"halfnote/install/wheel"
	"halfnote/internal/save"
)

// wheelPackage is a Python package for programs around Jupyter: it writes papermill's
// parameters as Go, and exports notebooks as Go programs for nbconvert.
//
//go:embed jupyter/halfnote_jupyter/*.py
var wheelPackage embed.FS

// labExtension shows the outputs of cells that ran while the browser was closed. JupyterLab loads it
// from its data folder.
//
//go:embed jupyter/labextension
var labExtension embed.FS

// entryPoints name the parts of the package that programs load. papermill imports its part
// because it is one of its engines.
const entryPoints = `[papermill.engine]
halfnote = halfnote_jupyter.papermill:Engine

[nbconvert.exporters.script]
go = halfnote_jupyter.script:GoExporter
`

// Wheel returns the path of the wheel that [Install] wrote into the folder of a
// kernelspec. pip installs it without a network. Python notebooks then run Go cells with %%go,
// papermill -p sets parameters of Go cells, and JupyterLab's export "Executable Script" writes a Go program.
func Wheel(dir, version string) string {
	return filepath.Join(dir, wheel.Wheel{Name: "halfnote_jupyter", Version: cmp.Or(version, "0"), Tags: anyPlatform}.FileName())
}

var anyPlatform = []string{"py3-none-any"}

// jupyterWheel returns the wheel without the program, which its %%go looks for in the kernelspecs.
func jupyterWheel(version string) (wheel.Wheel, error) {
	w := wheel.Wheel{
		Name: "halfnote_jupyter", Version: version, Summary: "Go cells in Python notebooks, papermill, nbconvert and JupyterLab",
		Tags: anyPlatform, EntryPoints: entryPoints,
	}
	var err error
	w.Files, err = jupyterFiles(version, w.Prefix())
	return w, err
}

// launcher is the Python package that starts the program, and has the magic command %%go.
//
//go:embed jupyter/halfnote/*.py
var launcher embed.FS

// jupyterFiles returns the Python packages and the extension of JupyterLab. prefix is the wheel's folder
// for the prefix of the environment.
func jupyterFiles(version, prefix string) ([]wheel.File, error) {
	list, err := embedded(launcher, "jupyter/halfnote/*.py", "halfnote")
	if err != nil {
		return nil, err
	}
	parts, err := embedded(wheelPackage, "jupyter/halfnote_jupyter/*.py", "halfnote_jupyter")
	if err != nil {
		return nil, err
	}
	list = append(list, parts...)
	extension, err := embedded(labExtension, "jupyter/labextension/*.js*", prefix+"share/jupyter/labextensions/halfnote")
	for _, f := range extension {
		f.Content = bytes.ReplaceAll(f.Content, []byte("VERSION"), []byte(version))
		list = append(list, f)
	}
	return list, err
}

// embedded returns the files of a pattern, for a folder of a wheel.
func embedded(from embed.FS, pattern, folder string) (list []wheel.File, err error) {
	names, err := fs.Glob(from, pattern)
	if err != nil {
		return nil, fmt.Errorf("install: the wheel: %w", err)
	}
	for _, name := range names {
		text, err := from.ReadFile(name)
		if err != nil {
			return nil, fmt.Errorf("install: the wheel: %w", err)
		}
		list = append(list, wheel.File{Name: path.Join(folder, path.Base(name)), Mode: 0o644, Content: text})
	}
	return list, nil
}

// writeWheel replaces the wheels of earlier versions in a folder.
func writeWheel(dir, version string) error {
	w, err := jupyterWheel(version)
	if err != nil {
		return err
	}
	var b bytes.Buffer
	if err := w.Write(&b); err != nil {
		return fmt.Errorf("install: %w", err)
	}
	old, _ := filepath.Glob(Wheel(dir, "*"))
	for _, path := range old {
		if path != Wheel(dir, version) {
			os.Remove(path)
		}
	}
	if err := save.Text(Wheel(dir, version), b.Bytes()); err != nil {
		return fmt.Errorf("install: %w", err)
	}
	return nil
}

// unpackWheel installs the wheel in the Python environment at prefix, as pip does. A prefix
// without an environment stays as it is, and so does one with the wheel of the whole program.
func unpackWheel(prefix, version string) error {
	w, err := jupyterWheel(version)
	if err != nil {
		return err
	}
	for _, pattern := range []string{"lib/python3*/site-packages", "Lib/site-packages"} {
		sites, _ := filepath.Glob(filepath.Join(prefix, filepath.FromSlash(pattern)))
		for _, site := range sites {
			if whole, _ := filepath.Glob(filepath.Join(site, "halfnote-*.dist-info")); len(whole) > 0 {
				continue
			}
			old, _ := filepath.Glob(filepath.Join(site, "halfnote_jupyter-*.dist-info"))
			for _, dir := range old {
				os.RemoveAll(dir)
			}
			for _, f := range w.All() {
				path, content := filepath.Join(site, filepath.FromSlash(f.Name)), f.Content
				if name, ok := strings.CutPrefix(f.Name, w.Prefix()); ok {
					path = filepath.Join(prefix, filepath.FromSlash(name))
				}
				if strings.HasSuffix(f.Name, "/RECORD") { // its paths are relative to site
					up, err := filepath.Rel(site, prefix)
					if err != nil {
						return fmt.Errorf("install: %w", err)
					}
					content = bytes.ReplaceAll(content, []byte(w.Prefix()), []byte(filepath.ToSlash(up)+"/"))
				}
				if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
					return fmt.Errorf("install: %w", err)
				}
				if err := save.Text(path, content); err != nil {
					return fmt.Errorf("install: %w", err)
				}
			}
		}
	}
	return nil
}

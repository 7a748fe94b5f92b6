package e2e

import (
	"encoding/json"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"sync"
	"testing"

	"halfnote/install"
	"halfnote/internal/testenv"
)

// jupyter installs the kernel, by the name halfnote on every engine. It returns a function that makes commands for a
// Python that has the modules and finds the kernel.
func jupyter(t *testing.T, modules ...string) func(args ...string) *exec.Cmd {
	t.Helper()
	python := need(t, "jupyter", "python3")
	if out, err := exec.Command(python, "-c", "import "+strings.Join(modules, ", ")).CombinedOutput(); err != nil {
		need(t, "jupyter", "python3 with "+strings.Join(modules, ", ")+": "+string(out))
	}
	exe, err := program()
	if err != nil {
		t.Fatal(err)
	}
	prefix := t.TempDir()
	if _, err := install.Install(install.Options{Prefix: prefix, Name: "halfnote", Engine: *engine, Binary: exe, Version: "1"}); err != nil {
		t.Fatal(err)
	}
	return func(args ...string) *exec.Cmd {
		cmd := exec.CommandContext(t.Context(), python, args...)
		cmd.Env = append(os.Environ(), "JUPYTER_PATH="+filepath.Join(prefix, "share", "jupyter"))
		return cmd
	}
}

// TestJupyterRunsTheNotebook runs a tutorial on the installed kernel with the executors and
// the console of the Jupyter project. The losses must equal those of "halfnote run".
func TestJupyterRunsTheNotebook(t *testing.T) {
	python := jupyter(t, "jupyter_console", "nbclient", "nbconvert", "nbformat", "papermill", "pexpect")
	dir, err := threeLoops()
	if err != nil {
		t.Fatal(err)
	}
	const notebook = "notebooks/05-three-loops.ipynb"
	want := readExecuted(t, filepath.Join(dir, "out.ipynb")).losses()
	out := filepath.Join(t.TempDir(), "out.ipynb")
	for _, tt := range []struct {
		name string
		args []string
	}{
		{"nbclient", []string{"-c", `import sys, nbformat, nbclient
nb = nbformat.read(sys.argv[1], 4)
nbclient.NotebookClient(nb, timeout=300).execute()
nbformat.write(nb, sys.argv[2])`, notebook, out}},
		{"nbconvert", []string{"-m", "nbconvert", "--to", "notebook", "--execute", notebook, "--output", out}},
		{"papermill", []string{"-m", "papermill", "--no-progress-bar", "--kernel", "halfnote", notebook, out}},
		{"console", []string{"internal/e2e/testdata/jupyter/console.py", notebook, "halfnote"}},
	} {
		t.Run(tt.name, func(t *testing.T) {
			os.Remove(out)
			text, err := python(tt.args...).CombinedOutput()
			if err != nil {
				t.Fatalf("%v\n%s", err, text)
			}
			got := losses(string(text))
			if tt.name != "console" { // the console does not write a notebook
				got = readExecuted(t, out).losses()
			}
			if !slices.Equal(got, want) {
				t.Errorf("got losses %v, want %v as from halfnote run\n%s", got, want, text)
			}
		})
	}
	t.Run("nbformat", func(t *testing.T) {
		validate := `import sys, nbformat; nbformat.validate(nbformat.read(sys.argv[1], nbformat.NO_CONVERT))`
		if out, err := python("-c", validate, filepath.Join(dir, "out.ipynb")).CombinedOutput(); err != nil {
			t.Errorf("%v\n%s", err, out)
		}
	})
}

// TestNbconvertDrawsWidgets checks that nbconvert finds the states that "halfnote run" saves, and shows the text of a
// widget without a saved state.
func TestNbconvertDrawsWidgets(t *testing.T) {
	python := jupyter(t, "nbconvert", "nbformat")
	dir := t.TempDir()
	in, out := filepath.Join(dir, "in.ipynb"), filepath.Join(dir, "out.ipynb")
	const cells = `{"cells": [{"cell_type": "code", "id": "a", "metadata": {}, "execution_count": null, "outputs": [], "source": "widget.NewIntSlider(7, 0, 9)"}], "metadata": {}, "nbformat": 4, "nbformat_minor": 5}`
	if err := os.WriteFile(in, []byte(cells), 0o644); err != nil {
		t.Fatal(err)
	}
	if text, code := halfnote(t, "run", in, "--output", out); code != 0 {
		t.Fatalf("got exit code %d\n%s", code, text)
	}
	text, err := python("-c", `import sys, nbformat
from nbconvert import HTMLExporter
nb = nbformat.read(sys.argv[1], nbformat.NO_CONVERT)
nbformat.validate(nb)
for _ in range(2):
    page = HTMLExporter().from_notebook_node(nb)[0]
    print('type="application/vnd.jupyter.widget-state+json"' in page, 'type="application/vnd.jupyter.widget-view+json"' in page, ">7 (0 to 9)<" in page)
    nb.metadata.pop("widgets", None)
`, out).CombinedOutput()
	if want := "True True False\nFalse False True\n"; err != nil || !strings.HasSuffix(string(text), want) {
		t.Errorf("%v: state, view and text in the page: got\n%s\nwant\n%s", err, text, want)
	}
}

// wheel installs the wheel that comes with the kernel with pip, for a function that [jupyter] returned. It returns
// such a function whose Python finds the wheel.
func wheel(t *testing.T, python func(args ...string) *exec.Cmd) func(args ...string) *exec.Cmd {
	t.Helper()
	wheels, err := filepath.Glob(filepath.Join(jupyterPath(python()), "kernels", "halfnote", "halfnote_jupyter-*.whl"))
	if err != nil || len(wheels) != 1 {
		t.Fatalf("got wheels %q next to the kernelspec, want one", wheels)
	}
	dir := t.TempDir()
	pip := python("-m", "pip", "install", "--quiet", "--disable-pip-version-check", "--no-index", "--no-deps", "--target", dir, wheels[0])
	if out, err := pip.CombinedOutput(); err != nil {
		t.Fatalf("pip: %v\n%s", err, out)
	}
	return func(args ...string) *exec.Cmd {
		cmd := python(args...)
		cmd.Env = append(cmd.Env, "PYTHONPATH="+dir)
		return cmd
	}
}

// TestNbconvertScript exports a notebook as a script: with the wheel that comes with the kernel it is a Go program,
// and without it nbconvert refuses.
func TestNbconvertScript(t *testing.T) {
	python := jupyter(t, "nbconvert", "pip")
	dir := t.TempDir()
	in, out := filepath.Join(dir, "in.ipynb"), filepath.Join(dir, "out.ipynb")
	const cells = `{"cells": [
{"cell_type": "code", "id": "a", "metadata": {}, "execution_count": null, "outputs": [], "source": "import \"in/own\"\nx := own.Two()"},
{"cell_type": "code", "id": "b", "metadata": {}, "execution_count": null, "outputs": [], "source": "x := \"again\"\nx"}
], "metadata": {"kernelspec": {"name": "halfnote", "display_name": "", "language": "go"}}, "nbformat": 4, "nbformat_minor": 5}`
	for name, text := range map[string]string{"in.ipynb": cells, "go.mod": "module in\n\ngo 1.26.0\n", "own/own.go": "package own\n\nfunc Two() int { return 2 }\n"} {
		if err := os.MkdirAll(filepath.Dir(filepath.Join(dir, name)), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	if text, code := halfnote(t, "run", in, "--output", out); code != 0 {
		t.Fatalf("got exit code %d\n%s", code, text)
	}
	script := []string{"-m", "nbconvert", "--to", "script", out}
	text, err := python(script...).CombinedOutput()
	if want := `Unknown exporter "halfnote_jupyter.script.GoExporter"`; err == nil || !strings.Contains(string(text), want) {
		t.Errorf("without the wheel: got %v\n%s\nwant %s", err, text, want)
	}
	python = wheel(t, python)
	if text, err := python(script...).CombinedOutput(); err != nil {
		t.Fatalf("%v\n%s", err, text)
	}
	root, err := os.Getwd()
	if err == nil {
		err = os.WriteFile(filepath.Join(dir, "go.work"), []byte("go 1.26.0\n\nuse (\n\t.\n\t"+root+"\n)\n"), 0o644)
	}
	if err != nil {
		t.Fatal(err)
	}
	run := exec.CommandContext(t.Context(), "go", "run", "out.go")
	run.Dir = dir
	if text, err := run.CombinedOutput(); err != nil || string(text) != "again\n" {
		t.Errorf("go run out.go: got %q, %v, want again", text, err)
	}
}

// TestPapermillParameters sets parameters of each type with papermill, after pip has installed the wheel that
// comes with the kernel.
func TestPapermillParameters(t *testing.T) {
	python := wheel(t, jupyter(t, "papermill", "pip"))
	dir := t.TempDir()
	in, out, params := filepath.Join(dir, "in.ipynb"), filepath.Join(dir, "out.ipynb"), filepath.Join(dir, "params.yaml")
	run := func(args ...string) string {
		t.Helper()
		text, err := python(args...).CombinedOutput()
		if err != nil {
			t.Fatalf("%v\n%s", err, text)
		}
		return string(text)
	}
	declares := "lr, steps := 0.1, 10 // learning rate\nvar name, on = \"a // b\", false\nconst depth = 2\nvar (\n\tlimit float32 = 1\n)\nsizes := []float64{\n\t1,\n}"
	prints := `fmt.Printf("%T %v, %T %v, %q %v, %v, %T %v, %T %v\n", lr, lr, steps, steps, name, on, depth, limit, limit, sizes, sizes)
fmt.Printf("%#v %#v %#v %#v %v\n", list, mixed, table, nested, nothing)`
	text, err := json.Marshal(map[string]any{
		"nbformat": 4, "nbformat_minor": 5,
		"metadata": map[string]any{"kernelspec": map[string]string{"name": "halfnote", "display_name": "Go (halfnote)", "language": "go"}},
		"cells": []any{
			map[string]any{"cell_type": "code", "id": "a", "source": declares, "metadata": map[string]any{"tags": []string{"parameters"}}, "outputs": []any{}, "execution_count": nil},
			map[string]any{"cell_type": "code", "id": "b", "source": prints, "metadata": struct{}{}, "outputs": []any{}, "execution_count": nil},
		},
	})
	if err == nil {
		err = os.WriteFile(in, text, 0o644)
	}
	if err == nil {
		err = os.WriteFile(params, []byte("list: [1, 2.5]\nmixed: [1, two, null]\ntable: {a: 1}\nnested: {a: [1], b: []}\nnothing: null\nsizes: [3, 4]\n"), 0o644)
	}
	if err != nil {
		t.Fatal(err)
	}
	run("-m", "papermill", "--no-progress-bar", "-f", params, "-p", "lr", "1", "-p", "steps", "30", "-p", "name", `a "b" \ ü`, "-p", "on", "true",
		"-p", "depth", "4", "-p", "limit", "2", in, out)
	const want = `float64 1, int 30, "a \"b\" \\ ü" true, 4, float32 2, []float64 [3 4]
[]float64{1, 2.5} []interface {}{1, "two", interface {}(nil)} map[string]int{"a":1} map[string]interface {}{"a":[]int{1}, "b":[]interface {}{}} <nil>
`
	if got := readExecuted(t, out).printed(); got != want {
		t.Errorf("got\n%s\nwant\n%s", got, want)
	}
	help := run("-m", "papermill", "--help-notebook", in)
	for _, want := range []string{"lr: float64 (default 0.1)       learning rate", `name: string (default "a // b")`, "depth: int (default 2)", "limit: float32 (default 1)", "sizes: []float64"} {
		if !strings.Contains(help, want) {
			t.Errorf("papermill --help-notebook lacks %q:\n%s", want, help)
		}
	}
}

// jupyterPath returns the folder of Jupyter's data that a command searches first.
func jupyterPath(cmd *exec.Cmd) (dir string) {
	for _, v := range cmd.Env {
		if path, ok := strings.CutPrefix(v, "JUPYTER_PATH="); ok {
			dir = path // the last one counts
		}
	}
	return dir
}

// TestJupyterConformance runs all tests of jupyter_kernel_test.
func TestJupyterConformance(t *testing.T) {
	python := jupyter(t, "jupyter_kernel_test")
	out, err := python("internal/e2e/testdata/jupyter/conformance.py", "halfnote").CombinedOutput()
	if err != nil || !strings.Contains(string(out), "13 run, 0 skipped") {
		t.Errorf("%v\n%s", err, out)
	}
}

// TestJupyterSavesWidgets checks that nbclient saves the state of a cell's widgets in the
// notebook. Pages without a kernel draw the widgets from this state.
func TestJupyterSavesWidgets(t *testing.T) {
	python := jupyter(t, "nbclient", "nbformat")
	out, err := python("-c", `import nbformat, nbclient
v4 = nbformat.v4
nb = v4.new_notebook(cells=[v4.new_code_cell("s := widget.NewIntSlider(1, 0, 9, widget.Description(\"n\"))\ns"), v4.new_code_cell("for i := range 8 { s.SetValue(i) }")],
    metadata={"kernelspec": {"name": "halfnote", "display_name": "", "language": "go"}})
nbclient.NotebookClient(nb, timeout=60).execute()
nbformat.validate(nb)
view = nb.cells[0].outputs[0].data["application/vnd.jupyter.widget-view+json"]
states = nb.metadata.widgets["application/vnd.jupyter.widget-state+json"]["state"]
slider = states[view["model_id"]]
layout = states[slider["state"]["layout"].removeprefix("IPY_MODEL_")]
print(slider["model_name"], slider["state"]["value"], slider["state"]["description"], layout["model_name"], len(states))
`).CombinedOutput()
	if want := "IntSliderModel 7 n LayoutModel 3\n"; err != nil || !strings.HasSuffix(string(out), want) {
		t.Errorf("%v, nbclient: got\n%s\nwant\n%s", err, out, want)
	}
}

// TestJupyterClientsOfOneIdentity checks that halfnote's kernel and ipykernel serve the same clients if clients of
// one KernelManager displace each other.
func TestJupyterClientsOfOneIdentity(t *testing.T) {
	python := jupyter(t, "jupyter_client", "ipykernel")
	var outputs [2][]byte
	var running sync.WaitGroup
	for i, kernel := range []string{"halfnote", "python3"} {
		running.Go(func() {
			out, err := python("internal/e2e/testdata/jupyter/handover.py", kernel).CombinedOutput()
			if err != nil {
				t.Errorf("%s: %v\n%s", kernel, err, out)
			}
			outputs[i] = out
		})
	}
	running.Wait()
	if ours, theirs := string(outputs[0]), string(outputs[1]); ours != theirs || !strings.HasSuffix(ours, "alive: True\n") {
		t.Errorf("halfnote:\n%s\nipykernel:\n%s", ours, theirs)
	}
}

// TestConsoleProgress checks that jupyter console, which ignores updates of outputs, shows a bar as one
// line that is rewritten, below printed text, and the last state of a chart that changes.
func TestConsoleProgress(t *testing.T) {
	python := jupyter(t, "jupyter_console", "nbformat", "pexpect")
	file := filepath.Join(t.TempDir(), "progress.ipynb")
	cell := `for i := range display.Track(4, "training") {
	time.Sleep(300 * time.Millisecond)
	if i == 1 { fmt.Println("half", "way") }
}
h := display.Live(chart.Plot([]float64{1, 2}))
h.Update(chart.Plot([]float64{1, 5}))`
	data, err := json.Marshal(map[string]any{
		"nbformat": 4, "nbformat_minor": 5, "metadata": map[string]any{},
		"cells": []any{map[string]any{"cell_type": "code", "id": "a", "source": cell, "metadata": map[string]any{}, "outputs": []any{}, "execution_count": nil}},
	})
	if err == nil {
		err = os.WriteFile(file, data, 0o666)
	}
	if err != nil {
		t.Fatal(err)
	}
	out, err := python("internal/e2e/testdata/jupyter/console.py", file, "halfnote").CombinedOutput()
	if err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	want := regexp.MustCompile(`(?s)\ntraining \[·{20}\] 0/4[^\n]*\nhalf way\n` +
		`training [^\n]*training \[█{20}\] 4/4 in [^\n]*\ny ends at 2[^\n]*\ny ends at 5, [^\n]*\n\s*name +points`)
	if !want.Match(out) {
		t.Errorf("got\n%q\nwant %v", out, want)
	}
}

// TestJupyterEncrypts runs a cell through jupyter_client with transport_encryption=required. A listener in the middle
// must see neither text nor keys, and a client with wrong keys gets no answer.
func TestJupyterEncrypts(t *testing.T) {
	python := jupyter(t, "jupyter_client", "zmq")
	if err := python("-c", "import zmq; assert zmq.has('curve')").Run(); err != nil {
		need(t, "jupyter", "pyzmq with CURVE")
	}
	out, err := python("internal/e2e/testdata/jupyter/encrypted.py", "halfnote").Output()
	const want = `through the proxy: ok attack at dawn, heartbeat True
bytes recorded: True texts and keys found: []
wrong keys: no answer
`
	if got := string(out); err != nil || got != want {
		t.Errorf("got %v\n%s\nwant\n%s", err, got, want)
	}
}

// TestGateway starts, interrupts, restarts and ends a kernel through gateway_provisioners, with and without encryption: as a process, and in
// stand-ins for a Docker engine, a Kubernetes cluster and YARN.
func TestGateway(t *testing.T) {
	python, err := exec.LookPath("python3")
	if err != nil || exec.Command(python, "-c", "import gateway_provisioners, docker, jinja2, kubernetes, yarn_api_client").Run() != nil {
		testenv.Missing(t, "gateway", "needs python3 with gateway-provisioners[docker,k8s,yarn]")
	}
	exe, err := program()
	if err != nil {
		t.Fatal(err)
	}
	prefix := t.TempDir()
	for _, tt := range []struct {
		class, remote string
		script        []string
		policies      []string
	}{
		{"Distributed", "ssh", []string{"gateway.py", "halfnote-remote"}, []string{"disabled", "required"}},
		{"Docker", "docker --image halfnote:test", []string{"cluster.py", "docker", exe, "halfnote-docker"}, []string{"required"}},
		{"Kubernetes", "kubernetes --image halfnote:test", []string{"cluster.py", "kubernetes", exe, "halfnote-kubernetes"}, []string{"disabled"}},
		{"Yarn", "yarn", []string{"cluster.py", "yarn", exe, "halfnote-yarn"}, []string{"required"}},
	} {
		if out, code := halfnote(t, append([]string{"install", "--prefix", prefix, "--remote"}, strings.Fields(tt.remote)...)...); code != 0 {
			t.Fatalf("install: exit code %d\n%s", code, out)
		}
		for _, policy := range tt.policies {
			t.Run(tt.class+" "+policy, func(t *testing.T) {
				cmd := exec.CommandContext(t.Context(), python, append(tt.script, policy)...)
				cmd.Args[1] = "internal/e2e/testdata/jupyter/" + tt.script[0]
				cmd.Env = append(os.Environ(), "JUPYTER_PATH="+filepath.Join(prefix, "share", "jupyter"), "GP_KERNEL_LOG_DIR="+t.TempDir())
				var log strings.Builder
				cmd.Stderr = &log
				out, err := cmd.Output()
				keys := map[string]string{"disabled": "without keys", "required": "with keys"}[policy]
				want := `start: ` + tt.class + `Provisioner ` + keys + `
run: ok  hello
alive: True
signal: error Interrupted looping
interrupt: error Interrupted looping
restart: ok  again
shutdown: ended by itself
`
				if tt.script[0] == "cluster.py" {
					want += "left: 0\n"
				}
				if err != nil || string(out) != want {
					t.Errorf("got %v\n%s\nwant\n%s\nthe server's log:\n%s", err, out, want, &log)
				}
			})
		}
	}
}

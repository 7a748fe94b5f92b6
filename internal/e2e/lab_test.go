package e2e

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
	"time"

	"halfnote/install"
	"halfnote/internal/testenv"
)

// lab runs JupyterLab as users do, with notebooks made of cells. It returns a function that runs a script of
// testdata/browser, which drives a browser that shows JupyterLab. HALFNOTE_LAB_CACHE keeps the environment
// for the next run.
func lab(t *testing.T, notebooks map[string][]string) (browse func(script string) string) {
	t.Helper()
	files := map[string][]byte{}
	for name, cells := range notebooks {
		var list []map[string]any
		for i, code := range cells {
			list = append(list, map[string]any{
				"cell_type": "code", "id": fmt.Sprint("cell", i), "source": code, "metadata": struct{}{}, "outputs": []any{}, "execution_count": nil,
			})
		}
		data, err := json.Marshal(map[string]any{
			"nbformat": 4, "nbformat_minor": 5, "cells": list,
			"metadata": map[string]any{"kernelspec": map[string]string{"name": "halfnote", "display_name": "Go (halfnote)", "language": "go"}},
		})
		if err != nil {
			t.Fatal(err)
		}
		files[name] = data
	}
	return labWith(t, files)
}

// labWith runs JupyterLab in a folder with the given files. See lab.
func labWith(t *testing.T, files map[string][]byte) (browse func(script string) string) {
	t.Helper()
	chromium := need(t, "browser", "chromium", "chromium-browser", "google-chrome", "chrome")
	python, base := labServer(t, files, 0)
	return func(script string) string {
		t.Helper()
		args := []string{filepath.Join("internal", "e2e", "testdata", "browser", script), chromium, base, "secret"}
		if shots := os.Getenv("HALFNOTE_SCREENSHOTS"); shots != "" { // a folder for screenshots
			name := filepath.Join(shots, strings.TrimSuffix(script, ".py"))
			args = append(args, name+".failed.png", name+".png")
		}
		return runPython(t, python, args...)
	}
}

// runPython runs a script and returns its output.
func runPython(t *testing.T, python string, args ...string) string {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), 5*time.Minute)
	defer cancel()
	cmd := exec.CommandContext(ctx, python, args...)
	cmd.Env = append(os.Environ(), "PYTHONDONTWRITEBYTECODE=1")
	cmd.WaitDelay = 10 * time.Second // a browser that outlives the script holds its output open
	out, err := cmd.CombinedOutput()
	if err != nil {
		t.Fatalf("%s: %v\n%s", args[0], err, out)
	}
	return string(out)
}

// labServer runs JupyterLab in a folder with the given files, with the token "secret". It returns the Python of its environment and the
// address of the server.
func labServer(t *testing.T, files map[string][]byte, idle time.Duration) (python, base string) {
	t.Helper()
	if os.Getenv("HALFNOTE_LAB") == "" && !testenv.Requires("jupyter") {
		t.Skip("needs pip and its index: set HALFNOTE_LAB to run it")
	}
	exe, err := program()
	if err != nil {
		t.Fatal(err)
	}
	dir := t.TempDir()
	for name, data := range files {
		if err := os.WriteFile(filepath.Join(dir, name), data, 0o644); err != nil {
			t.Fatal(err)
		}
	}
	cache := os.Getenv("HALFNOTE_LAB_CACHE")
	if cache == "" {
		cache = t.TempDir()
	}
	port := freePort(t)
	t.Setenv("JUPYTER_TOKEN", "secret")
	ctx, cancel := context.WithCancel(context.Background())
	r, w := io.Pipe()
	ended := make(chan error, 1)
	go func() {
		err := install.Lab(ctx, install.LabOptions{
			Port: port, NoBrowser: true, Dir: dir, Engine: *engine, Binary: exe, Version: "1", CacheDir: cache, Idle: idle, Stdout: w, Stderr: io.Discard,
			Args: []string{"--LabApp.expose_app_in_browser=True"},
		})
		w.CloseWithError(err)
		ended <- err
	}()
	t.Cleanup(func() { cancel(); <-ended })
	var out strings.Builder
	for !strings.Contains(out.String(), "Ctrl-C ends it.") {
		buf := make([]byte, 1000)
		n, err := r.Read(buf)
		if out.Write(buf[:n]); err != nil {
			t.Fatalf("JupyterLab: %v\n%s", err, &out)
		}
	}
	go io.Copy(io.Discard, r)
	pythons, err := filepath.Glob(filepath.Join(cache, "lab-*", "bin", "python"))
	if err != nil || len(pythons) == 0 {
		t.Fatalf("no Python of JupyterLab in %s: %v", cache, err)
	}
	_, address, _ := strings.Cut(out.String(), "JupyterLab: ")
	base, _, _ = strings.Cut(address, "lab?token=")
	return pythons[len(pythons)-1], base
}

func freePort(t *testing.T) int {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	return l.Addr().(*net.TCPAddr).Port
}

// TestLabWidgets checks that JupyterLab in a browser draws the widgets of a cell, that their
// callbacks run while another cell runs, that a second browser shows their current state, and
// that a page without their kernel shows the saved state.
func TestLabWidgets(t *testing.T) {
	browse := lab(t, map[string][]string{"widgets.ipynb": {
		`scale := widget.NewIntSlider(0, 0, 100, widget.Description("scale"))
said := widget.NewLabel("")
button, clicked := widget.NewButton("Stop"), make(chan bool, 1)
scale.OnChange(func(v int) { said.SetValue(fmt.Sprintf("Go says %d", v)) })
button.OnClick(func() { clicked <- true })
widget.NewVBox(scale, said, button)`,
		`fmt.Println("training")
<-clicked
fmt.Println("the cell saw the click")`,
	}})
	if got, want := browse("widgets.py"), "dragged while a cell runs: True\nclicked\nin another browser: True\nwithout their kernel: True\n"; got != want {
		t.Errorf("browser: got\n%s\nwant\n%s", got, want)
	}
}

// TestLabCharts checks that interactive charts in JupyterLab show values under the pointer and zoom,
// also one that is updated while a cell runs, and that the saved notebook shows them when it is
// opened again, and has no widget state, because it has no widgets.
func TestLabCharts(t *testing.T) {
	browse := lab(t, map[string][]string{"charts.ipynb": {
		`chart.Loss([]chart.Series{{Name: "run", Values: []float64{5, 5, 5, 5, 5, 5, 5, 5, 5, 5}}})`,
		`h := display.Live(chart.Loss(nil))
var losses []float64
for i := range 20 {
	losses = append(losses, 1/float64(i+1))
	h.Update(chart.Loss([]chart.Series{{Name: "run", Values: losses}}))
	time.Sleep(20 * time.Millisecond)
}`,
	}})
	got := browse("charts.py")
	if !regexp.MustCompile(`^hover: run:? run step:? \d loss:? 5\nzoomed\nafter the loop: True\nsaved metadata: kernelspec language_info\nopened again: drawn\ndark charts: 0 2 0\n$`).MatchString(got) {
		t.Errorf("browser: got\n%s", got)
	}
}

// TestLabControls checks that interactive charts fit pages of three widths, that of a phone among them, that
// their controls are reached and set with the keyboard, and that they follow the width of the page.
func TestLabControls(t *testing.T) {
	browse := lab(t, map[string][]string{"controls.ipynb": {
		`chart.Loss([]chart.Series{{Name: "float32", DType: "float32", Values: []float64{5, 4, 3, 2.5, 2.2, 2}}, {Name: "autocast", DType: "float16", Values: []float64{5, 4.5, 3.5, 3, 2.5, 2.1}}})`,
		`chart.Panels([]chart.Panel{{Name: "loss", Values: []float64{3, 2, 1, .5}}, {Name: "memory", Unit: "B", Values: []float64{3e6, 4e6, 5e6, 5e6}}})`,
		`chart.Imshow([][]float64{{1, 2, 3}, {4, 5, 6}})`,
		`chart.Scatter([]float64{1, 2, 3}, []float64{3, 1, 2})`,
	}})
	const want = `390 pixels: 0 outputs that scroll
900 pixels: 0 outputs that scroll
1600 pixels: 0 outputs that scroll
one run: True
Tab: only, magnify, place
zoomed by keys: True
vertical axis zoomed by keys: True
Escape shows all: True
drawn again in a narrower page: True
`
	if got := browse("controls.py"); got != want {
		t.Errorf("browser: got\n%s\nwant\n%s", got, want)
	}
}

// TestLabNumbers checks the widgets of number formats in JupyterLab: a bit that is flipped, and the knob of
// a loss scale that is turned while a cell trains.
func TestLabNumbers(t *testing.T) {
	browse := lab(t, map[string][]string{"numbers.ipynb": {
		"experiment.Bits(0.1).Widget()",
		`net := nn.NewLinear(4, 1)
sgd, scaler := optim.NewSGD(nn.Parameters(net), 0.01), amp.NewGradScaler()
knob := diagnose.ScaleKnob(scaler)
display.Show(knob)
defer knob.Stop()
for scaler.CurrentScale() >= 65536 {
	sgd.ZeroGrad()
	scaler.Scale(net.Forward(tensor.Ones(2, 4)).Mean()).Backward()
	scaler.Step(sgd)
	scaler.Update()
	time.Sleep(50 * time.Millisecond)
}
fmt.Println("the scale is lower")`,
	}})
	const want = "flipped: 0.10003662109375\nchart: True\nturned while the cell trains: True\n"
	if got := browse("numbers.py"); got != want {
		t.Errorf("browser: got\n%s\nwant\n%s", got, want)
	}
}

// TestLabDashboard checks that a dashboard in JupyterLab changes while its cell trains, and that it ends
// as a chart whose panels share the step under the pointer, the selected steps and the zoom, also in a
// cell that fails.
func TestLabDashboard(t *testing.T) {
	// The first cell trains until the page has seen pictures of it.
	const train = `net := nn.NewSequential(nn.NewLinear(64, 64), nn.NewReLU(), nn.NewLinear(64, 1))
sgd, scaler := optim.NewSGD(nn.Parameters(net), 0.01), amp.NewGradScaler()
x, y := tensor.Randn(64, 64), tensor.Randn(64, 1)
rec := trace.Start(trace.Live())
defer rec.Stop()
for i := range display.Track(5000, "training") {
	var loss *tensor.Tensor
	amp.Autocast(amp.Float16, func() { loss = nn.MSELoss(net.Forward(x), y) })
	sgd.ZeroGrad()
	scaler.Scale(loss).Backward()
	scaler.Step(sgd)
	scaler.Update()
	time.Sleep(20 * time.Millisecond)
	if i == stop { panic("on purpose") }
	if _, err := os.Stat("seen"); i > 150 && err == nil { break }
}`
	browse := lab(t, map[string][]string{"dashboard.ipynb": {"import \"os\"\nstop := -1\n" + train, "stop := 9\n" + train}})
	const want = `^pictures while it trains: True \| bar moves: True
a cell that fails has its chart: True
hover: step:? \d+ name:? loss value:? [\d.]+ exactly:? [\d.e-]+
shown in the panels below: True
selected steps are marked below: True
zoom is shared: True
$`
	if got := browse("dashboard.py"); !regexp.MustCompile(want).MatchString(got) {
		t.Errorf("browser: got\n%s\nwant\n%s", got, want)
	}
}

// TestLabRestoresOutputs closes the browser while a cell trains for at least 20 seconds, and opens it
// again while the cell runs and after its end: the cell has all its output each time, charts included.
func TestLabRestoresOutputs(t *testing.T) {
	t.Setenv("HALFNOTE_HISTORY", filepath.Join(t.TempDir(), "history.sqlite"))
	browse := lab(t, map[string][]string{"outlast.ipynb": {
		`import "errors"
import "os"
h := display.Live(chart.Loss(nil))
var losses []float64
going := os.ErrNotExist
for epoch := 0; epoch < 100 || errors.Is(going, os.ErrNotExist); epoch++ {
	_, going = os.Stat("stop")
	losses = append(losses, 1/float64(epoch+1))
	fmt.Println("epoch", epoch)
	h.Update(chart.Loss([]chart.Series{{Name: "run", Values: losses}}))
	time.Sleep(200 * time.Millisecond)
}
chart.Loss([]chart.Series{{Name: "run", Values: losses}}).Interactive()`,
		`%output 1`,
		`fmt.Println("last")`,
	}})
	const want = `opened while it runs: True, it goes on: True
opened after its end: all epochs, 2 of 2 charts drawn, of all, prompt [1]:
%output: all epochs, 2 of 2 charts drawn, of all, prompt [2]:
a cell that was not run: 0 outputs
`
	if got := browse("outlast.py"); got != want {
		t.Errorf("browser: got\n%s\nwant\n%s", got, want)
	}
}

// TestLabClearedOutputs checks that a cell that runs while its page asks for earlier outputs shows its
// output once, and that an output that was cleared by hand stays away when the notebook is opened again.
func TestLabClearedOutputs(t *testing.T) {
	t.Setenv("HALFNOTE_HISTORY", filepath.Join(t.TempDir(), "history.sqlite"))
	browse := lab(t, map[string][]string{"cleared.ipynb": {`fmt.Println("first")`, `time.Sleep(300 * time.Millisecond)
"second"`}})
	const want = `run while it was opened: ['first\n', 'second']
cleared by hand: ['', 'second']
`
	if got := browse("cleared.py"); got != want {
		t.Errorf("browser: got\n%s\nwant\n%s", got, want)
	}
}

// TestLabKilledKernel kills the kernel of a page while a cell runs. JupyterLab starts another one, and the next cell says how the first one ended, and
// which outputs are kept.
func TestLabKilledKernel(t *testing.T) {
	t.Setenv("HALFNOTE_HISTORY", filepath.Join(t.TempDir(), "history.sqlite"))
	browse := lab(t, map[string][]string{"killed.ipynb": {
		`fmt.Println("loss 0.31 after 40 epochs")`,
		`import "os"
fmt.Println("the kernel is process", os.Getpid())
for {
	time.Sleep(time.Second)
}`,
		`%output ~1`,
	}})
	const want = `dialog: The kernel for killed.ipynb appears to have died. It will restart automatically.
note: the kernel of TIME ended suddenly while In[2] ran, which began at TIME: signal 9 (killed) ended its process. Its variables are lost; %output ~1 lists the outputs that are kept %output ~1/1 TIME 1 line fmt.Println("loss 0.31 after 40 epochs") %output ~1/2 unfinished the kernel ended
`
	if got := browse("killed.py"); got != want {
		t.Errorf("browser: got\n%s\nwant\n%s", got, want)
	}
}

// TestLabDebugger checks that JupyterLab's debugger lists a struct, a slice and a tensor, and
// that it stops at breakpoints in a cell that ran before and in the running one, steps
// between them, and stops at a panic.
func TestLabDebugger(t *testing.T) {
	browse := lab(t, map[string][]string{"debugger.ipynb": {
		`type point struct{ X, Y int }
func double(n int) int {
	return 2 * n
}
at, list, weights, rate := point{1, 2}, []int{3, 4}, tensor.Ones(2, 2), 0.5`,
		`sum := 0
for i := range 5 {
	twice := double(i)
	sum += twice
}
sum`,
		`list[sum]`,
	}})
	const want = `variables: at point X 1 Y 2 list []int rate 0.5 weights *tensor.Tensor
stopped at: twice := double(i) | calls: Cell [*]:3
next: return 2 * n | calls: Cell [1]:3 < Cell [*]:3 | the cell runs: True
ended with: 20
panicked at: list[sum]
`
	if got := browse("debugger.py"); got != want {
		t.Errorf("browser: got\n%s\nwant\n%s", got, want)
	}
}

// TestLabMagics checks that JupyterLab replaces a cell with its formatted text, puts a recalled
// cell into a new one, and shows the table and the flame graph of a profile.
func TestLabMagics(t *testing.T) {
	browse := lab(t, map[string][]string{"magics.ipynb": {
		"%%gofmt\nx   :=1\nif x>0 {\nx++ }",
		`import "crypto/sha256"
data := make([]byte, 1<<20)
func sum() {
	sha256.Sum256(data)
}`,
		"%%prun\nfor start := time.Now(); time.Since(start) < time.Second; {\n\tsum()\n}",
		"%%capture out\nfmt.Println(\"kept\")",
		"out.Stdout",
		"%recall crypto",
	}})
	const want = `'x := 1\nif x > 0 {\n\tx++\n}'
'import "crypto/sha256"\ndata := make([]byte, 1<<20)\nfunc sum() {\n\tsha256.Sum256(data)\n}'
'%%prun\nfor start := time.Now(); time.Since(start) < time.Second; {\n\tsum()\n}'
'%%capture out\nfmt.Println("kept")'
'out.Stdout'
'%recall crypto'
'import "crypto/sha256"\ndata := make([]byte, 1<<20)\nfunc sum() {\n\tsha256.Sum256(data)\n}'
table: In[2], line 4
captured: kept
`
	if got := browse("magics.py"); got != want {
		t.Errorf("browser: got\n%s\nwant\n%s", got, want)
	}
}

// TestLabTyping checks that JupyterLab indents a typed block by tabs, that a closing brace goes back one level, that Shift-Tab inside a call marks the
// current parameter, and that a name that a restart has lost is known to be of the kernel before.
func TestLabTyping(t *testing.T) {
	t.Setenv("HALFNOTE_HISTORY", filepath.Join(t.TempDir(), "history.sqlite"))
	browse := lab(t, map[string][]string{"typing.ipynb": {"x := 1", "", "tensor.Linspace(0, 10, 5)", "x + 1"}})
	const want = `'if true {\n\tfor range 2 {\n\t\tx++\n\t}\n}\nx'
tooltip: func Linspace(start, end float64, steps int) *Tensor
                                  ^^^^^^^^^
undefined: x: In[1] of the kernel before this one declares it: %rerun ~1/1 runs that cell again, %rerun ~1 all of them
`
	if got := browse("keys.py"); got != want {
		t.Errorf("browser: got\n%s\nwant\n%s", got, want)
	}
}

// TestLabKeyboard checks that the keyboard reaches each widget, each input below a chart and a dashboard, and the menus of
// charts, in the order of the page and with a visible focus, and that they answer to keys.
func TestLabKeyboard(t *testing.T) {
	browse := lab(t, map[string][]string{"keyboard.ipynb": {
		`widget.NewVBox(widget.NewIntSlider(0, 0, 100, widget.Description("scale")), widget.NewCheckbox(true, widget.Description("on")), widget.NewButton("Stop"))`,
		`chart.Loss([]chart.Series{{Name: "float32", DType: "float32", Values: []float64{5, 4, 3}}, {Name: "autocast", DType: "float16", Values: []float64{5, 4.5, 3.5}}})`,
		`chart.Bars("memory", "B", []chart.Bar{{Name: "float32", Parts: []chart.Part{{Name: "weights", DType: "float32", Value: 200}, {Name: "activations", DType: "float32", Value: 300}}}})`,
		`chart.Panels([]chart.Panel{{Name: "loss", Values: []float64{3, 2, 1, .5}}, {Name: "memory", Unit: "B", Values: []float64{3e6, 4e6, 5e6, 5e6}}})`,
	}})
	const want = `Tab: slider, widget-readout, checkbox, submit, only, magnify, place, summary, only, summary, magnify, place, summary
focus not seen: []
slider: 1
Enter leaves the page: False
menu: Save as SVG, Save as PNG, View Source, View Compiled Vega, Open in Vega Editor
`
	if got := browse("keyboard.py"); got != want {
		t.Errorf("browser: got\n%s\nwant\n%s", got, want)
	}
}

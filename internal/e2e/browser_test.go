package e2e

import (
	"context"
	"encoding/json"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"testing"

	"halfnote/install"
	"halfnote/internal/receipt"
	"halfnote/internal/testenv"
	"halfnote/notebooks/notebook"
)

// browserCells train a network under autocast.
var browserCells = []string{`tensor.ManualSeed(2)
net := nn.NewSequential(nn.NewLinear(16, 32), nn.NewReLU(), nn.NewLinear(32, 4))
opt, lossFn, scaler := optim.NewSGD(nn.Parameters(net), 0.1), nn.NewMSELoss(), amp.NewGradScaler()
x, y := tensor.Randn(8, 16), tensor.Randn(8, 4)`,
	`for range 3 {
	var loss *tensor.Tensor
	amp.Autocast(amp.Float16, func() { loss = lossFn.Forward(net.Forward(x), y) })
	scaler.Scale(loss).Backward()
	scaler.Step(opt)
	scaler.Update()
	opt.ZeroGrad()
	fmt.Println(loss.DType(), loss.Item())
}`,
	"net",
}

// limitCells are cells that must end, on one thread that nothing preempts, and what they print.
var limitCells = []liteCell{
	{Code: "x := 6 * 7", want: ""},
	{Code: "for {}", Interrupt: 300, want: "Interrupted: variables and functions are kept"},
	{Code: "tensor.Randn(2048, 2048).MatMul(tensor.Randn(2048, 2048))", Interrupt: 300, want: "Interrupted: variables and functions are kept"},
	{Code: "var name string\nfmt.Scanln(&name)\nfmt.Println(\"hello\", name)", Answer: "Ada", want: "hello Ada\n"},
	{Code: "func deep(n int) int { return 1 + deep(n+1) }\ndeep(0)", want: "Panic: calls nest more than 1000 deep: endless recursion?"},
	{Code: "<-make(chan int)", want: "Deadlock: all goroutines are asleep - deadlock!"},
	{Code: "var rows [][]byte\nfor { rows = append(rows, make([]byte, 64<<20)) }", want: "OutOfMemory: out of memory: 64.0 MiB requested"},
	{Code: "%%timeout 300ms\nfor i := 0; ; i++ {}", want: "Interrupted: stopped after 300 ms"},
	{Code: "tick := time.NewTicker(20 * time.Millisecond)\nn := 0\nfor n < 3 { select { case <-tick.C: n++; default: } }\nn", want: "3\n"},
	{Code: "!ls", want: "MagicError: In[10]:1:1: a page in a browser cannot run other programs"},
	{Code: "import \"net/http\"", want: "CompileError: In[11]:1:8: package \"net/http\" is not available in a browser tab"},
	{Code: "x", want: "42\n"},
	{Code: "%output 4", want: "hello Ada\n"},
}

// liteCell is a cell for testdata/lite/cells.mjs.
type liteCell struct {
	Code      string `json:"code"`
	Interrupt int    `json:"interrupt,omitempty"`
	Answer    string `json:"answer,omitempty"`
	want      string // beginning of what it prints
}

// liteProgram builds the program of a page once.
var liteProgram = sync.OnceValues(func() (path string, err error) {
	here, err := program()
	if err != nil {
		return "", err
	}
	path = filepath.Join(filepath.Dir(here), "halfnote.wasm")
	return path, install.BuildLite(context.Background(), ".", path)
})

// inNode runs cells in Node and returns what each prints.
func inNode(t *testing.T, cells []liteCell) (printed []string) {
	t.Helper()
	if !testenv.Requires("node") {
		t.Skip("the kernel is compiled and run for minutes; HALFNOTE_REQUIRE=node does it")
	}
	node := need(t, "node", "node")
	root, err := exec.Command("go", "env", "GOROOT").Output()
	if err != nil {
		t.Fatal(err)
	}
	program, err := liteProgram()
	if err != nil {
		t.Fatal(err)
	}
	list, err := json.Marshal(cells)
	if err != nil {
		t.Fatal(err)
	}
	file := filepath.Join(t.TempDir(), "cells.json")
	if err := os.WriteFile(file, list, 0o644); err != nil {
		t.Fatal(err)
	}
	run := exec.Command(node, "internal/e2e/testdata/lite/cells.mjs", strings.TrimSpace(string(root)), program, file)
	var failure strings.Builder
	run.Stderr = &failure
	out, err := run.Output()
	if err != nil {
		t.Fatalf("%v\n%s%s", err, out, failure.String())
	}
	for line := range strings.Lines(string(out)) {
		var reply struct {
			Outputs []struct {
				Type    string
				Content map[string]any
			}
		}
		if err := json.Unmarshal([]byte(line), &reply); err != nil {
			t.Fatalf("%s: %v", line, err)
		}
		var outputs []map[string]any
		for _, o := range reply.Outputs {
			if !strings.HasPrefix(o.Type, "comm_") {
				o.Content["output_type"] = o.Type
				outputs = append(outputs, o.Content)
			}
		}
		printed = append(printed, jupyterText(outputs))
	}
	return printed
}

// TestCellsInNode runs cells in a kernel compiled for js/wasm, in Node, as a worker of a browser does. They print what they print here, and
// those without an end are ended.
func TestCellsInNode(t *testing.T) {
	var all []liteCell
	cells := []map[string]any{}
	for _, c := range browserCells {
		all = append(all, liteCell{Code: c})
		cells = append(cells, map[string]any{"cell_type": "code", "metadata": map[string]any{}, "outputs": []any{}, "execution_count": nil, "source": c})
	}
	all = append(append([]liteCell{}, limitCells...), all...)
	got := inNode(t, all)
	for i, c := range limitCells {
		if !strings.HasPrefix(got[i], c.want) || c.want == "" && got[i] != "" {
			t.Errorf("%s: got %q, want %q", c.Code, got[i], c.want)
		}
	}

	data, err := json.Marshal(map[string]any{"cells": cells, "metadata": map[string]any{}, "nbformat": 4, "nbformat_minor": 4})
	if err != nil {
		t.Fatal(err)
	}
	file := filepath.Join(t.TempDir(), "cells.ipynb")
	if err := os.WriteFile(file, data, 0o644); err != nil {
		t.Fatal(err)
	}
	if text, code := halfnote(t, "run", file, "--output", file); code != 0 {
		t.Fatalf("got exit code %d\n%s", code, text)
	}
	trained := strings.Join(got[len(limitCells):], "")
	if want := readExecuted(t, file).printed(); trained != want || !strings.Contains(want, "float32") {
		t.Errorf("in Node:\n%s\nhere:\n%s", trained, want)
	}
}

// TestLessonsInNode runs lessons in a kernel compiled for js/wasm. They print what they print here, apart from times.
func TestLessonsInNode(t *testing.T) {
	for _, name := range []string{"00-hello", "01-what-is-a-half", "02-sums-that-stop", "03-overflow-lab"} {
		t.Run(name, func(t *testing.T) {
			nb, err := notebook.ReadFile(filepath.Join("notebooks", name+".ipynb"))
			if err != nil {
				t.Fatal(err)
			}
			var cells []liteCell
			for _, c := range nb.CodeCells() {
				cells = append(cells, liteCell{Code: c.Source})
			}
			got := inNode(t, cells)
			for i, c := range nb.CodeCells() {
				if want := cellText(c); got[i] != want && !c.HasTag("timing") && !receipt.Compares(c.Source) { // the page's kernel has no files
					t.Errorf("%s\nprints\n%s\nwant\n%s", c.Source, got[i], want)
				}
			}
		})
	}
}

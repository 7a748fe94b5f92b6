package bench

import (
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"time"

	"halfnote/kernel/client"
)

// language holds the cells of one language.
type language struct {
	sum, result    string // an expression, and its text/plain
	short, loop    string // print 20 lines; add 10^5 times
	operands, sums string // make two tensors of 16 numbers; add them 1000 times
	keep, kept     string // keep a value; return it
	lines, fill    string // print "line N" 10,000 times; print 50 times 2^20 characters
	spin           string // print a line, then run forever
	train          string // the same, with work for every processor; "" if the language has no such work
	slider         string // show a slider whose callback sets a label to twice the value
	complete       string
}

var languages = map[string]language{
	"go": {
		sum: "1 + 1", result: "2", keep: "kept := 41", kept: "kept + 1",
		short:    "for i := range 20 { fmt.Println(i) }",
		loop:     "s := 0\nfor i := range 100000 { s += i }\ns",
		operands: "x, y := tensor.Ones(16), tensor.Ones(16)",
		sums:     "for range 1000 { x.Add(y) }",
		lines:    "for i := range 10000 { fmt.Println(\"line\", i) }",
		fill:     "for range 50 { fmt.Print(strings.Repeat(\"x\", 1<<20)) }",
		spin:     "fmt.Println(\"on\")\nfor {}",
		train:    "a := tensor.Ones(256, 256)\nfmt.Println(\"on\")\nfor { a.MatMul(a) }",
		slider: "s, l := widget.NewIntSlider(0, 0, 1<<30), widget.NewLabel(\"\")\n" +
			"s.OnChange(func(v int) { l.SetValue(fmt.Sprint(2 * v)) })\nwidget.NewVBox(s, l)",
		complete: "strings.Rep",
	},
	"python": {
		sum: "1 + 1", result: "2", keep: "kept = 41", kept: "kept + 1",
		short:    "for i in range(20): print(i)",
		loop:     "s = 0\nfor i in range(100000): s += i\ns",
		operands: "import numpy\nx, y = numpy.ones(16, 'f'), numpy.ones(16, 'f')",
		sums:     "for i in range(1000): x + y",
		lines:    "for i in range(10000): print('line', i)",
		fill:     "for i in range(50): print('x' * (1<<20), end='')",
		spin:     "print('on', flush=True)\nwhile True: pass",
		slider: "import ipywidgets\ns, l = ipywidgets.IntSlider(0, 0, 1<<30), ipywidgets.Label('')\n" +
			"def changed(c): l.value = str(2 * c['new'])\ns.observe(changed, 'value')\nipywidgets.VBox([s, l])",
		complete: "str.rep",
	},
}

// guest is a measured kernel.
type guest struct {
	name string
	spec client.Spec
	language
	kernel *client.Kernel
	ready  time.Duration // time from the start of its process until it answers

	models map[string]string // comms of the widgets, by model; nil if the kernel has no widgets
	drags  int
}

// cell runs a cell that must succeed. It returns its text/plain and the number of bytes that it
// printed.
func (g *guest) cell(ctx context.Context, code string) (result string, printed int, err error) {
	r, err := g.kernel.Execute(ctx, code, client.ExecuteOptions{}, func(m client.Message) {
		var c struct {
			Text string
			Data map[string]json.RawMessage
		}
		switch m.Header.Type {
		case "stream":
			if m.Decode(&c) == nil {
				printed += len(c.Text)
			}
		case "execute_result":
			if m.Decode(&c) == nil {
				_ = json.Unmarshal(c.Data["text/plain"], &result)
			}
		}
	})
	if err == nil && r.Status != "ok" {
		err = fmt.Errorf("the cell %q: %s: %s: %s", code, r.Status, r.ErrorName, r.ErrorValue)
	}
	return result, printed, err
}

func (g *guest) expect(ctx context.Context, code, want string) error {
	got, _, err := g.cell(ctx, code)
	if err == nil && got != want {
		err = fmt.Errorf("the cell %q: result %q, want %q", code, got, want)
	}
	return err
}

func (g *guest) expectSum(ctx context.Context) error { return g.expect(ctx, g.sum, g.result) }

// times calls f n times and returns the sorted times of the calls in milliseconds.
func times(n int, f func() error) ([]float64, error) {
	var took []float64
	for range n {
		start := time.Now()
		if err := f(); err != nil {
			return nil, err
		}
		took = append(took, ms(time.Since(start)))
	}
	slices.Sort(took)
	return took, nil
}

func ms(d time.Duration) float64 { return float64(d) / float64(time.Millisecond) }

// middle returns the median and the 99th percentile of sorted times.
func middle(took []float64) []float64 { return []float64{took[len(took)/2], took[len(took)*99/100]} }

// resident returns the resident memory of g in bytes; 0 if the system does not report it.
func (g *guest) resident() float64 {
	return resident(fmt.Sprintf("/proc/%d/", g.kernel.Pid()), "VmRSS")
}

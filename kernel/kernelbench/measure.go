package main

import (
	"context"
	"encoding/json"
	"fmt"
	"os"
	"slices"
	"strconv"
	"strings"
	"time"

	"halfnote/kernel/client"
)

// metrics are the table's rows, in their order; more is better where it says so.
var metrics = []struct {
	name string
	more bool
}{
	{"start to ready, ms", false},
	{"1 + 1, request to idle, p50 ms", false},
	{"1 + 1, request to idle, p99 ms", false},
	{"a completion, p50 ms", false},
	{"a completion, p99 ms", false},
	{"control while a cell spins, p50 ms", false},
	{"control while a cell spins, p99 ms", false},
	{"interrupt of a spinning cell, ms", false},
	{"a drag of a slider while a cell spins, p50 ms", false},
	{"a drag of a slider while a cell spins, p99 ms", false},
	{"control while a cell trains, p50 ms", false},
	{"control while a cell trains, p99 ms", false},
	{"a drag of a slider while a cell trains, p50 ms", false},
	{"a drag of a slider while a cell trains, p99 ms", false},
	{"10,000 lines of stdout, lines/s", true},
	{"50 MB of stdout, s", false},
	{"50 MB of stdout, resident after, MB", false},
	{"resident when idle, MB", false},
	{"growth of resident memory, bytes a cell", false},
}

// language holds the cells of one language.
type language struct {
	sum, result string // an expression, and its text/plain
	keep, kept  string // keep a value; tell it
	lines, fill string // print "line N" 10,000 times; print 50 times 2^20 characters
	spin        string // say something, then run for ever
	train       string // the same, with work for every processor; "" where the language alone has none
	slider      string // show a slider whose callback sets a label to twice the value
	complete    string
}

var languages = map[string]language{
	"go": {
		sum: "1 + 1", result: "2", keep: "kept := 41", kept: "kept + 1",
		lines: "for i := range 10000 { fmt.Println(\"line\", i) }",
		fill:  "for range 50 { fmt.Print(strings.Repeat(\"x\", 1<<20)) }",
		spin:  "fmt.Println(\"on\")\nfor {}",
		train: "a := tensor.Ones(256, 256)\nfmt.Println(\"on\")\nfor { a.MatMul(a) }",
		slider: "s, l := widget.NewIntSlider(0, 0, 1<<30), widget.NewLabel(\"\")\n" +
			"s.OnChange(func(v int) { l.SetValue(fmt.Sprint(2 * v)) })\nwidget.NewVBox(s, l)",
		complete: "strings.Rep",
	},
	"python": {
		sum: "1 + 1", result: "2", keep: "kept = 41", kept: "kept + 1",
		lines: "for i in range(10000): print('line', i)",
		fill:  "for i in range(50): print('x' * (1<<20), end='')",
		spin:  "print('on', flush=True)\nwhile True: pass",
		slider: "import ipywidgets\ns, l = ipywidgets.IntSlider(0, 0, 1<<30), ipywidgets.Label('')\n" +
			"def changed(c): l.value = str(2 * c['new'])\ns.observe(changed, 'value')\nipywidgets.VBox([s, l])",
		complete: "str.rep",
	},
}

// bench is a kernel that is measured.
type bench struct {
	ctx context.Context
	k   *client.Kernel
	language
	out map[string]float64

	models map[string]string // comms of the widgets, by model; nil for none
	drags  int
}

// measure starts a kernel, takes every metric, and ends it.
func measure(ctx context.Context, spec client.Spec) (map[string]float64, error) {
	l, ok := languages[strings.ToLower(spec.Language)]
	if !ok {
		return nil, fmt.Errorf("language %q: no cells are known for it, expected go or python", spec.Language)
	}
	b := &bench{ctx: ctx, language: l, out: map[string]float64{}}
	start := time.Now()
	k, err := client.Start(ctx, spec, client.Options{})
	if err != nil {
		return nil, err
	}
	defer k.Close()
	b.out["start to ready, ms"] = ms(time.Since(start))
	b.k = k
	for _, step := range []func() error{b.trips, b.completions, b.busy, b.lines, b.growth, b.fill} {
		if err := step(); err != nil {
			return nil, err
		}
	}
	return b.out, k.Shutdown(ctx, false)
}

func ms(d time.Duration) float64 { return float64(d) / float64(time.Millisecond) }

// cell runs a cell that must end well, and returns its text/plain and its stdout's
// length.
func (b *bench) cell(code string) (result string, printed int, err error) {
	r, err := b.k.Execute(b.ctx, code, client.ExecuteOptions{}, func(m client.Message) {
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
				json.Unmarshal(c.Data["text/plain"], &result)
			}
		}
	})
	if err == nil && r.Status != "ok" {
		err = fmt.Errorf("the cell %q: %s: %s: %s", code, r.Status, r.ErrorName, r.ErrorValue)
	}
	return result, printed, err
}

func (b *bench) expect(code, want string) error {
	got, _, err := b.cell(code)
	if err == nil && got != want {
		err = fmt.Errorf("the cell %q: result %q, want %q", code, got, want)
	}
	return err
}

// times calls f n times, and returns how long it took, sorted.
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

func (b *bench) percentiles(name string, took []float64) {
	b.out[name+", p50 ms"] = took[len(took)/2]
	b.out[name+", p99 ms"] = took[len(took)*99/100]
}

func (b *bench) trips() error {
	sum := func() error { return b.expect(b.sum, b.result) }
	if _, err := times(20, sum); err != nil { // the first are others
		return err
	}
	took, err := times(*trips, sum)
	if err != nil {
		return err
	}
	b.percentiles("1 + 1, request to idle", took)
	return nil
}

func (b *bench) completions() error {
	took, err := times(min(*trips, 100), func() error {
		m, err := b.k.Request(b.ctx, "shell", "complete_request", map[string]any{"code": b.complete, "cursor_pos": len(b.complete)})
		if err != nil {
			return err
		}
		var c struct{ Matches []string }
		if err := m.Decode(&c); err != nil || len(c.Matches) == 0 {
			return fmt.Errorf("completion of %q: no matches (%v)", b.complete, err)
		}
		return nil
	})
	if err == nil {
		b.percentiles("a completion", took)
	}
	return err
}

func (b *bench) lines() error {
	took, err := times(3, func() error {
		_, printed, err := b.cell(b.language.lines)
		if err == nil && printed != 98890 {
			err = fmt.Errorf("10,000 lines: %d bytes arrived, want 98890", printed)
		}
		return err
	})
	if err == nil {
		b.out["10,000 lines of stdout, lines/s"] = 10_000 / took[1] * 1000
	}
	return err
}

func (b *bench) fill() error {
	start := time.Now()
	_, printed, err := b.cell(b.language.fill)
	if err != nil {
		return err
	}
	b.out["50 MB of stdout, s"] = time.Since(start).Seconds()
	if printed != 50<<20 {
		return fmt.Errorf("50 MB: %d bytes arrived, want %d", printed, 50<<20)
	}
	if rss, ok := resident(b.k.Pid()); ok {
		b.out["50 MB of stdout, resident after, MB"] = rss / 1e6
	}
	return nil
}

func (b *bench) growth() error {
	before, ok := resident(b.k.Pid())
	if !ok {
		return nil
	}
	b.out["resident when idle, MB"] = before / 1e6
	if *cells == 0 {
		return nil
	}
	for range *cells {
		if err := b.expect(b.sum, b.result); err != nil {
			return err
		}
	}
	after, _ := resident(b.k.Pid())
	b.out["growth of resident memory, bytes a cell"] = (after - before) / float64(*cells)
	return nil
}

// resident returns the bytes of a process in memory; only Linux tells, proc(5).
func resident(pid int) (float64, bool) {
	b, err := os.ReadFile(fmt.Sprintf("/proc/%d/statm", pid))
	if err != nil {
		return 0, false
	}
	fields := strings.Fields(string(b))
	if len(fields) < 2 {
		return 0, false
	}
	pages, err := strconv.ParseFloat(fields[1], 64)
	return pages * float64(os.Getpagesize()), err == nil
}

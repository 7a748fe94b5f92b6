package debug

import (
	"slices"
	"testing"

	"halfnote/interp/internal/history"
	"halfnote/interp/internal/live"
	"halfnote/kernel/eval"
)

// TestSteps drives the debugger without an engine: a function of two lines that calls itself once, with
// a breakpoint in its first line. It checks the stops for each way to continue.
func TestSteps(t *testing.T) {
	const code = "// a comment\nfirst\nsecond"
	for _, c := range []struct {
		how  string
		want []int // lines at which the goroutine stops
	}{
		{"continue", []int{2, 2}},
		{"next", []int{2, 2, 3, 3}},
		{"stepIn", []int{2, 2, 3, 3}},
		{"stepOut", []int{2, 2, 3}},
	} {
		d := New(nil, live.NewRegistry(100), history.New())
		d.stops = []Stop{{Code: code, Line: 2, to: 2, begins: true, Func: "f"}, {Code: code, Line: 3, to: 3, begins: true, Func: "f"}}
		var got []int
		d.Debug(func(e eval.DebugEvent) {
			if e.Reason == "" {
				return
			}
			got = append(got, d.Stack(e.Thread)[0].Line)
			if list := d.Stopped(); !slices.Equal(list, []int{e.Thread}) {
				t.Errorf("got the stopped threads %v, want %d", list, e.Thread)
			}
			if err := d.Resume(e.Thread, c.how); err != nil {
				t.Error(err)
			}
		})
		if at := d.SetBreakpoints(code, []int{1}); !slices.Equal(at, []int{2}) {
			t.Errorf("got a breakpoint in line %v, want the first line of code, 2", at)
		}
		var call func(calls int)
		call = func(calls int) {
			d.Pass(0)
			if calls > 0 {
				call(calls - 1)
			}
			d.Pass(1)
		}
		call(1)
		if !slices.Equal(got, c.want) {
			t.Errorf("%s: got stops in lines %v, want %v", c.how, got, c.want)
		}
		d.CellEnds()
		if *d.Flag() != 1 || !d.On() {
			t.Errorf("%s: the debugger is off while a front end debugs", c.how)
		}
		d.Debug(nil)
		if *d.Flag() != 0 || d.On() {
			t.Errorf("%s: the debugger is on without a front end", c.how)
		}
	}
}

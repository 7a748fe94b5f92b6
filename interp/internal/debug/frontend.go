package debug

import (
	"fmt"
	"reflect"
	"slices"
	"strings"

	"halfnote/interp/internal/assist"
	"halfnote/kernel/eval"
)

// Debug implements eval.Debugger.
func (d *Debugger) Debug(event func(eval.DebugEvent)) {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.event = event
	if event == nil {
		d.breakpoints, d.pausing, d.panics = map[string][]int{}, false, false
		for _, t := range d.threads {
			t.step = ""
			if t.resume != nil {
				t.resume <- ""
				t.resume = nil
			}
		}
	}
	d.watch()
}

// SetBreakpoints implements eval.Debugger.
func (d *Debugger) SetBreakpoints(code string, lines []int) []int {
	at := make([]int, len(lines))
	for i, line := range lines {
		at[i] = codeLine(code, line)
	}
	d.mu.Lock()
	defer d.mu.Unlock()
	if d.breakpoints[code] = slices.Clone(at); len(at) == 0 {
		delete(d.breakpoints, code)
	}
	d.watch()
	return at
}

// codeLine returns the first line at or after line that holds code.
func codeLine(code string, line int) int {
	lines := strings.Split(code, "\n")
	for i := max(line, 1); i <= len(lines); i++ {
		if text := strings.TrimSpace(lines[i-1]); text != "" && !strings.HasPrefix(text, "//") {
			return i
		}
	}
	return line
}

// StopAtPanics implements eval.Debugger.
func (d *Debugger) StopAtPanics(yes bool) {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.panics = yes && d.event != nil
	d.watch()
}

// Pause implements eval.Debugger.
func (d *Debugger) Pause() {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.pausing = d.event != nil
	d.watch()
}

// Stopped implements eval.Debugger.
func (d *Debugger) Stopped() []int {
	d.mu.Lock()
	defer d.mu.Unlock()
	list := []int{}
	for id, t := range d.threads {
		if t.resume != nil {
			list = append(list, int(id))
		}
	}
	return list
}

// Resume implements eval.Debugger.
func (d *Debugger) Resume(id int, how string) error {
	d.mu.Lock()
	defer d.mu.Unlock()
	t := d.threads[uint64(id)]
	if t == nil || t.resume == nil {
		return fmt.Errorf("threadId: thread %d is not stopped", id)
	}
	t.resume <- how
	t.resume = nil
	return nil
}

// Stack implements eval.Debugger.
func (d *Debugger) Stack(id int) []eval.DebugFrame {
	d.mu.Lock()
	defer d.mu.Unlock()
	t := d.threads[uint64(id)]
	if t == nil || t.resume == nil {
		return nil
	}
	var list []eval.DebugFrame
	for _, c := range slices.Backward(t.calls) {
		at := d.stops[c.stop]
		list = append(list, eval.DebugFrame{
			Function: at.Function, Code: at.Code, Line: at.Line,
			Locals: func() (list []eval.Variable) {
				d.session.Seen().Values.While(func() { list = d.locals(at, c.vars) })
				return list
			},
		})
	}
	return list
}

// locals describes the variables of a call.
func (d *Debugger) locals(at Stop, vars []any) (list []eval.Variable) {
	snap := d.session.Seen()
	for i, v := range at.vars {
		list = append(list, assist.Variable(snap, at.pkg, v, reflect.ValueOf(vars[i]).Elem()))
	}
	return list
}

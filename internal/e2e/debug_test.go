package e2e

import (
	"context"
	"encoding/json"
	"fmt"
	"strings"
	"testing"
	"time"

	"halfnote/kernel/client"
)

// debugging is a connection to a kernel that speaks the debug adapter protocol.
type debugging struct {
	t   *testing.T
	ctx context.Context
	k   *client.Kernel
	seq int
}

// ask sends a command and stores the body of the reply in the variable that v points to.
func (d *debugging) ask(command string, arguments any, v any) {
	d.t.Helper()
	d.seq++
	m, err := d.k.Request(d.ctx, "control", "debug_request", map[string]any{"type": "request", "seq": d.seq, "command": command, "arguments": arguments})
	var reply struct {
		Success bool
		Message string
		Body    json.RawMessage
	}
	if err == nil {
		err = m.Decode(&reply)
	}
	if err != nil || !reply.Success {
		d.t.Fatalf("%s: %v %s", command, err, reply.Message)
	}
	if v != nil {
		if err := json.Unmarshal(reply.Body, v); err != nil {
			d.t.Fatalf("%s: %v: %s", command, err, reply.Body)
		}
	}
}

// stopped waits until a thread has stopped. It returns its calls, in the form "f:3".
func (d *debugging) stopped() (thread int, frames []string) {
	d.t.Helper()
	var info struct{ StoppedThreads []int }
	for len(info.StoppedThreads) == 0 {
		if d.ask("debugInfo", nil, &info); d.ctx.Err() != nil {
			d.t.Fatal("timed out waiting for a stopped thread")
		}
		time.Sleep(time.Millisecond)
	}
	var trace struct {
		StackFrames []struct {
			Name   string
			Line   int
			Source struct{ Path string }
		}
	}
	d.ask("stackTrace", map[string]int{"threadId": info.StoppedThreads[0]}, &trace)
	for _, f := range trace.StackFrames {
		frames = append(frames, fmt.Sprintf("%s:%d", f.Name, f.Line))
	}
	return info.StoppedThreads[0], frames
}

// variables returns the values of the variables visible in a frame, by scope and name.
func (d *debugging) variables(frame int) map[string]map[string]string {
	d.t.Helper()
	var scopes struct {
		Scopes []struct {
			Name               string
			VariablesReference int
		}
	}
	d.ask("scopes", map[string]int{"frameId": frame}, &scopes)
	all := map[string]map[string]string{}
	for _, s := range scopes.Scopes {
		var list struct {
			Variables []struct{ Name, Value string }
		}
		d.ask("variables", map[string]int{"variablesReference": s.VariablesReference}, &list)
		all[s.Name] = map[string]string{}
		for _, v := range list.Variables {
			all[s.Name][v.Name] = v.Value
		}
	}
	return all
}

// TestDebugger stops a cell at a breakpoint, reads its variables and steps through it. It checks that the kernel
// answers requests meanwhile, and that an interrupt ends the stopped cell.
func TestDebugger(t *testing.T) {
	k, err := startKernel(client.Options{})
	if err != nil {
		t.Fatal(err)
	}
	defer k.Close()
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	defer cancel()
	d := &debugging{t: t, ctx: ctx, k: k}
	const cell = `func loss(x *tensor.Tensor, by float32) *tensor.Tensor {
	y := x.Mul(x)
	return y.Sum()
}
x, total := tensor.Ones(2, 2), 0
for i := range 100 {
	l := loss(x, float32(i))
	total += int(l.Item())
}
total`
	run := func() <-chan string {
		ended := make(chan string, 1)
		go func() {
			value := ""
			r, err := k.Execute(ctx, cell, client.ExecuteOptions{}, func(m client.Message) {
				var c struct{ Data map[string]any }
				if m.Header.Type == "execute_result" && m.Decode(&c) == nil {
					value, _ = c.Data["text/plain"].(string)
				}
			})
			ended <- fmt.Sprint(r.Status, r.ErrorName, " ", r.ErrorValue, value, err)
		}()
		return ended
	}
	d.ask("initialize", map[string]any{}, nil)
	d.ask("attach", map[string]any{}, nil)
	var source struct{ SourcePath string }
	d.ask("dumpCell", map[string]string{"code": cell}, &source)
	breakpoints := func(lines ...int) {
		list := []map[string]int{}
		for _, line := range lines {
			list = append(list, map[string]int{"line": line})
		}
		d.ask("setBreakpoints", map[string]any{"source": map[string]string{"path": source.SourcePath}, "breakpoints": list}, nil)
	}
	breakpoints(3)
	ended := run()
	thread, frames := d.stopped()
	if got, want := fmt.Sprint(frames), "[loss:3 In[1]:7]"; got != want {
		t.Errorf("calls: got %s, want %s", got, want)
	}
	vars := d.variables(1)
	if got := vars["Locals"]["y"]; got != "float32 (2, 2) tensor([[1., 1.], [1., 1.]])" {
		t.Errorf("y: got %q, want a tensor of ones; all variables: %v", got, vars)
	}
	if vars["Locals"]["by"] != "0" || vars["Globals"]["total"] != "0" {
		t.Errorf("got variables %v, want by and total to be 0", vars)
	}
	var value struct{ Result string }
	d.ask("evaluate", map[string]any{"expression": "by", "frameId": 1}, &value)
	if value.Result != "0" {
		t.Errorf("value of by: got %q, want 0", value.Result)
	}
	if _, err := k.Request(ctx, "control", "kernel_info_request", struct{}{}); err != nil {
		t.Error(err)
	}
	breakpoints()
	d.ask("next", map[string]int{"threadId": thread}, nil)
	if thread, frames = d.stopped(); fmt.Sprint(frames) != "[In[1]:8]" {
		t.Errorf("calls after next: got %v, want line 8 of the cell", frames)
	}
	if l := d.variables(1)["Locals"]["l"]; l == "" {
		t.Error("after next the variable l is missing")
	}
	d.ask("continue", map[string]int{"threadId": thread}, nil)
	if got := <-ended; got != "ok 400<nil>" {
		t.Errorf("cell: got %s, want 400", got)
	}

	breakpoints(7)
	ended = run()
	d.stopped()
	if err := k.Interrupt(ctx); err != nil {
		t.Error(err)
	}
	if got := <-ended; !strings.HasPrefix(got, "errorInterrupted variables and functions are kept") {
		t.Errorf("cell interrupted at a breakpoint: got %s, want Interrupted", got)
	}
	ended = run()
	d.stopped()
	d.ask("disconnect", map[string]any{}, nil)
	if got := <-ended; got != "ok 400<nil>" {
		t.Errorf("cell after disconnect: got %s, want 400", got)
	}
}

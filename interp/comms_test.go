package interp

import (
	"context"
	"encoding/json"
	"fmt"
	"strings"
	"sync"
	"testing"
	"time"

	"halfnote/kernel/eval"
)

// frontEnd implements eval.Comms for a test that acts as the front end.
type frontEnd struct {
	mu      sync.Mutex
	comms   []*frontComm
	targets map[string]eval.CommOpened
}

// frontComm is one comm of a frontEnd. It records the data of the messages that cells send.
type frontComm struct {
	f      *frontEnd
	id     string
	target string
	model  string
	out    eval.Output // output of the cell that opened it
	h      eval.CommHandler
	sent   []string // data of the opening message and of the messages from cells
	outs   []eval.Output
	closed bool
}

func (f *frontEnd) Register(target string, opened eval.CommOpened) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.targets[target] = opened
}

func (f *frontEnd) Open(target string, m eval.CommMessage, out eval.Output, h eval.CommHandler) (eval.Comm, error) {
	f.mu.Lock()
	defer f.mu.Unlock()
	var data struct {
		State struct {
			Model string `json:"_model_name"`
		} `json:"state"`
	}
	json.Unmarshal(m.Data, &data)
	c := &frontComm{f: f, id: fmt.Sprint("c", len(f.comms)), target: target, model: data.State.Model, out: out, h: h, sent: []string{string(m.Data)}}
	f.comms = append(f.comms, c)
	return c, nil
}

func (c *frontComm) ID() string     { return c.id }
func (c *frontComm) Target() string { return c.target }
func (c *frontComm) Send(m eval.CommMessage, out eval.Output) error {
	c.f.mu.Lock()
	defer c.f.mu.Unlock()
	c.sent, c.outs = append(c.sent, string(m.Data)), append(c.outs, out)
	return nil
}

func (c *frontComm) Close(eval.CommMessage, eval.Output) error {
	c.f.mu.Lock()
	defer c.f.mu.Unlock()
	c.closed = true
	return nil
}

// find returns the newest comm whose model or target has the name.
func (f *frontEnd) find(name string) *frontComm {
	f.mu.Lock()
	defer f.mu.Unlock()
	for i := len(f.comms) - 1; i >= 0; i-- {
		if c := f.comms[i]; c.model == name+"Model" || c.target == name {
			return c
		}
	}
	return nil
}

// deliver passes a message to the handler of a comm, as the kernel does, and returns the
// text that the handler printed.
func (c *frontComm) deliver(ctx context.Context, data string) string {
	out := &recorder{}
	c.h.Message(ctx, eval.CommMessage{Data: json.RawMessage(data)}, out)
	return out.text(eval.Result{})
}

// TestWidgets checks that widgets and comms of cells exchange messages with a front end.
func TestWidgets(t *testing.T) {
	s := newSession(t)
	f := &frontEnd{targets: map[string]eval.CommOpened{}}
	s.UseComms(f)
	n := 0
	evaluate := func(code, want string) {
		t.Helper()
		n++
		if got := evalFor(t, s, n, code, ""); got != want {
			t.Errorf("cell %s\ngot  %q\nwant %q", code, got, want)
		}
	}
	click := `{"method":"custom","content":{"event":"click"}}`
	deliver := func(name, data, want string) {
		t.Helper()
		if got := f.find(name).deliver(t.Context(), data); got != want {
			t.Errorf("%s received %s: got output %q, want %q", name, data, got, want)
		}
	}

	evaluate(`lr := widget.NewIntSlider(1, 0, 9)
seen := 0
lr.OnChange(func(v int) { seen = v; fmt.Println("now", v) })
lr`, "= 1 (0 to 9)\n")
	deliver("IntSlider", `{"method":"update","state":{"value":4}}`, "now 4\n")
	evaluate(`10*seen + lr.Value()`, "= 44\n")
	evaluate(`lr.SetValue(5)`, "now 5\n")

	// A panic in a callback ends only that callback.
	evaluate(`b := widget.NewButton("Go")
what := "panic"
var list []int
done := make(chan bool)
b.OnClick(func() {
	switch what {
	case "panic":
		fmt.Println(list[3])
	case "loop":
		fmt.Println("looping")
		for {
		}
	case "wake":
		done <- true
	}
})
display.Show(b)`, "display [Go]\n")
	got := f.find("Button").deliver(t.Context(), click)
	if !strings.Contains(got, "index out of range [3] with length 0") || !strings.Contains(got, "In[4], line 8") {
		t.Errorf("a callback that panics printed %q", got)
	}
	evaluate(`what = "loop"`, "")
	out := &recorder{}
	f.find("Button").h.Message(interruptAfter(t.Context(), s, out, 50*time.Millisecond), eval.CommMessage{Data: json.RawMessage(click)}, out)
	if got := out.text(eval.Result{}); got != "looping\nstderr: a widget callback was interrupted\n" {
		t.Errorf("a callback that loops printed %q", got)
	}
	evaluate(`what = "wake"`, "")
	clicked := make(chan string)
	time.AfterFunc(1500*time.Millisecond, func() { clicked <- f.find("Button").deliver(t.Context(), click) })
	go func() { evaluate(`<-done`, "= true\n"); clicked <- "" }() // no deadlock is reported while the cell waits
	if got := <-clicked + <-clicked; got != "" {
		t.Errorf("the click printed %q", got)
	}

	// Widget outputs capture the output of their goroutine.
	evaluate(`o := widget.NewOutput()
widget.Redirect(o, func() { fmt.Println("inside"); display.Show(7); fmt.Println(len([]int{1})) })
fmt.Println("outside")
o`, "outside\n= inside\n7\n1\n")
	evaluate(`box := widget.Interact(func() { fmt.Println("lr", lr.Value()) }, lr)
box`, "= 5 (0 to 9)\nlr 5\n")
	deliver("IntSlider", `{"method":"update","state":{"value":6}}`, "now 6\n")
	evaluate(`box`, "= 6 (0 to 9)\nlr 6\n")
	evaluate(`func() {
	defer func() { fmt.Println("recovered", recover()) }()
	widget.Redirect(o, func() { panic("stop") })
}()`, "recovered stop\n")
	evaluate(`fmt.Println("and then")`, "and then\n")

	// Comms that cells open.
	evaluate(`c, err := widget.OpenComm("viewer", map[string]int{"a": 1}, func(m widget.Message) {
	var q struct{ N int }
	fmt.Println(m.Decode(&q), q.N)
})
fmt.Println(c.Send(map[string]int{"b": 2}), err)`, "<nil> <nil>\n")
	deliver("viewer", `{"N":3}`, "<nil> 3\n")
	if c := f.find("viewer"); len(c.sent) != 2 || c.sent[1] != `{"b":2}` {
		t.Errorf("the viewer received %q, want a second message {\"b\":2}", c.sent)
	}
	evaluate(`widget.RegisterTarget("mine", func(c *widget.Comm, first widget.Message) {
	fmt.Println("opened with", first)
	c.OnMessage(func(m widget.Message) { c.Send(map[string]string{"back": m.String()}) })
})`, "")
	theirs, out := &frontComm{f: f}, &recorder{}
	theirs.h = f.targets["mine"](t.Context(), theirs, eval.CommMessage{Data: json.RawMessage(`{"x":1}`)}, out)
	if got := out.text(eval.Result{}) + theirs.deliver(t.Context(), `{}`); got != "opened with {\"x\":1}\n" || theirs.sent[0] != `{"back":"{}"}` {
		t.Errorf("the comm that the front end opened: got output %q and messages %q", got, theirs.sent)
	}

	evaluate(`%reset`, "")
	for _, c := range f.comms {
		if !c.closed {
			t.Errorf("%%reset left the comm of a %s%s open", c.model, c.target)
		}
	}
}

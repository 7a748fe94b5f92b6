package widget

import (
	"encoding/json"
	"image"
	"math"
	"os"
	"reflect"
	"slices"
	"strings"
	"sync"
	"testing"

	"halfnote/display"
)

// TestStates checks that new widgets have the state of ipywidgets' widgets, which testdata/states.py prints,
// and that each is opened after its layout and its style.
func TestStates(t *testing.T) {
	data, err := os.ReadFile("testdata/states.json")
	if err != nil {
		t.Fatal(err)
	}
	var want map[string]map[string]any
	if err := json.Unmarshal(data, &want); err != nil {
		t.Fatal(err)
	}
	for name, state := range want {
		c := newControl(name, nil, nil)
		if name == "ToggleButtons" || name == "Dropdown" || name == "Select" || name == "RadioButtons" {
			c = newChoice(name, "", nil, nil).control
		}
		_, x := connect(&Box{c})
		got := map[string]map[string]any{}
		last := map[string]any{}
		for _, s := range x.take() {
			var open struct {
				State       map[string]any
				BufferPaths [][]string `json:"buffer_paths"`
			}
			if err := s.m.Decode(&open); err != nil || s.what != "open" || string(s.m.Metadata) != `{"version": "2.1.0"}` {
				t.Fatalf("%s: got messages %+v, error %v", name, s, err)
			}
			for i, path := range open.BufferPaths {
				if len(path) != 1 || len(s.m.Buffers[i]) != 0 {
					t.Errorf("%s: got buffers at %v", name, path)
				}
				open.State[path[0]] = "bytes"
			}
			for trait, v := range open.State {
				if id, ok := v.(string); ok && strings.HasPrefix(id, "IPY_MODEL_") {
					open.State[trait] = got[strings.TrimPrefix(id, "IPY_MODEL_")]
				}
			}
			got[s.id] = open.State
			last = open.State
		}
		if b, _ := json.Marshal(last); !reflect.DeepEqual(normal(t, last), normal(t, state)) {
			w, _ := json.Marshal(state)
			t.Errorf("%s:\ngot  %s\nwant %s", name, b, w)
		}
	}
	for _, k := range kinds {
		if _, ok := want[k.name]; !ok && !k.isPart() {
			t.Errorf("%s is missing in states.json", k.name)
		}
	}
	if !slices.IsSortedFunc(kinds, func(a, b kind) int { return strings.Compare(a.name, b.name) }) {
		t.Error("kinds is not sorted")
	}
}

// normal returns a state as decoded JSON, with [] for null where a list is empty.
func normal(t *testing.T, v any) (n any) {
	t.Helper()
	b, err := json.Marshal(v)
	if err == nil {
		err = json.Unmarshal(b, &n)
	}
	if err != nil {
		t.Fatal(err)
	}
	if m, ok := n.(map[string]any); ok && m["_options_labels"] == nil && m["index"] == nil && m["_model_name"] != nil {
		if _, has := m["_options_labels"]; has {
			m["_options_labels"] = []any{}
		}
	}
	return n
}

// TestUpdate checks that changes by a front end are echoed, corrected and passed to the callbacks.
func TestUpdate(t *testing.T) {
	slider := NewIntSlider(3, 0, 10)
	var received []int
	slider.OnChange(func(v int) { received = append(received, v) })
	_, x := connect(slider)
	for _, test := range []struct {
		name, state, want string
		value             int
	}{
		{"valid value", `{"value":4}`, `msg echo_update {"value":4}`, 4},
		{"same value", `{"value":4}`, `msg echo_update {"value":4}`, 4},
		{"value above max", `{"value":99}`, "msg echo_update {\"value\":99}\nmsg update {\"value\":10}", 10},
		{"wrong type", `{"value":"x"}`, "msg echo_update {\"value\":\"x\"}\nmsg update {\"value\":10}", 10},
		{"null", `{"value":null}`, "msg echo_update {\"value\":null}\nmsg update {\"value\":10}", 10},
		{"unknown trait", `{"colour":1}`, "", 10},
		{"trait of the view", `{"_view_count":1}`, `msg echo_update {"_view_count":1}`, 10},
		{"reference to a model", `{"layout":"IPY_MODEL_x"}`, "msg echo_update {\"layout\":\"IPY_MODEL_x\"}\nmsg update {\"layout\":\"IPY_MODEL_c1\"}", 10},
		{"max below the value", `{"max":5}`, "msg echo_update {\"max\":5}\nmsg update {\"value\":5}", 5},
	} {
		x.take()
		x.receive(slider.ID(), `{"method":"update","state":`+test.state+`,"buffer_paths":[]}`)
		if got := updates(t, x.take(), slider.ID()); got != test.want || slider.Value() != test.value {
			t.Errorf("%s: got value %d and messages\n%s\nwant %d and\n%s", test.name, slider.Value(), got, test.value, test.want)
		}
	}
	if want := []int{4, 10, 5}; !slices.Equal(received, want) {
		t.Errorf("OnChange: got %v, want %v", received, want)
	}
	x.receive(slider.ID(), `{"method":"request_state"}`)
	if got := updates(t, x.take(), slider.ID()); !strings.Contains(got, `"value":5`) || !strings.Contains(got, `"_model_name":"IntSliderModel"`) {
		t.Errorf("request_state: got %s, want the complete state", got)
	}
	for _, q := range []string{`{}`, `{"method":"x"}`, `{"method":"update"}`, `{"method":"update","state":[1]}`, `{"method":"custom"}`, `7`} {
		x.receive(slider.ID(), q)
		if got := x.take(); got != nil {
			t.Errorf("%s: got the messages %v, want none", q, got)
		}
	}
}

// TestSet checks that the first change by a cell is sent at once, further changes at most once per frame, and
// the last value always.
func TestSet(t *testing.T) {
	bar := NewIntProgress(0, 0, 1000)
	m, x := connect(bar)
	x.take()
	for i := range 1001 {
		bar.SetValue(i)
	}
	m.Flush()
	list := x.take()
	got := updates(t, list, bar.ID())
	if !strings.HasPrefix(got, `msg update {"value":`) || !strings.HasSuffix(got, `msg update {"value":1000}`) || len(list) > 500 {
		t.Errorf("got %d messages, want few, the last with the value 1000:\n%s", len(list), got)
	}
	bar.SetValue(1000)
	m.Flush()
	if got := x.take(); got != nil {
		t.Errorf("SetValue with the same value: got the messages %v, want none", got)
	}
	loss := NewFloatText(math.NaN())
	m.Connect(loss)
	loss.SetValue(math.Inf(1))
	loss.SetValue(0.5)
	m.Flush()
	if got := updates(t, x.take(), loss.ID()); !strings.HasPrefix(got, "open") || !strings.Contains(got, `{"value":0.5}`) {
		t.Errorf("non-finite numbers: got %s", got)
	}
}

func TestKinds(t *testing.T) {
	log := NewFloatLogSlider(1, -3, 0, Base(2), Description("lr"))
	if log.Set("max", -1); log.Value() != 0.5 {
		t.Errorf("slider from 2^-3 to 2^-1: got %g, want 0.5", log.Value())
	}
	choice := NewDropdown("b", []string{"a", "b"})
	var received []string
	choice.OnChange(func(s string) { received = append(received, s) })
	_, x := connect(choice)
	for _, index := range []string{"0", "null", "7", "1"} {
		x.receive(choice.ID(), `{"method":"update","state":{"index":`+index+`}}`)
	}
	choice.SetChoices([]string{"b", "c"})
	choice.SetChoices([]string{"c"})
	if want := []string{"a", "", "b", ""}; !slices.Equal(received, want) || choice.Index() != -1 {
		t.Errorf("choice: got the changes %q and index %d, want %q and -1", received, choice.Index(), want)
	}
	button, clicks := NewButton("Go", Look("success"), Icon("check")), 0
	button.OnClick(func() { clicks++ })
	_, x = connect(button)
	x.receive(button.ID(), `{"method":"custom","content":{"event":"click"}}`)
	x.receive(button.ID(), `{"method":"custom","content":{"event":"other"}}`)
	button.Click()
	if clicks != 2 {
		t.Errorf("got %d clicks, want 2", clicks)
	}
	picture := NewImage(image.NewNRGBA(image.Rect(0, 0, 2, 2)))
	_, x = connect(picture)
	open := x.take()
	if m := open[len(open)-1].m; len(m.Buffers) != 1 || !strings.HasPrefix(string(m.Buffers[0]), "\x89PNG") || !strings.Contains(string(m.Data), `"buffer_paths":[["value"]]`) {
		t.Errorf("picture: got the state %s and %d buffers", m.Data, len(m.Buffers))
	}
}

func TestBundle(t *testing.T) {
	on := NewCheckbox(true, Description("AMP"))
	box := NewVBox(NewIntSlider(3, 0, 10, Description("<n>")), NewHBox(on, NewButton("Go")), NewIntProgress(1, 0, 2),
		NewToggleButtons("a", []string{"a", "b"}), NewLabel(""), NewHTML("<b>x</b>"))
	const text = "<n>: 3 (0 to 10)\nAMP: on  [Go]\n1 (0 to 2)\n[a] b\nLabel\n<b>x</b>"
	b := display.Of(box)
	if b.String() != text || len(b.Data) != 2 {
		t.Errorf("box outside a notebook: got\n%v\nwant\n%s", b.Data, text)
	}
	page := b.Data["text/html"].(string)
	for _, part := range []string{"&lt;n&gt;: 3", "<b>x</b>", `<progress max="2" value="1">`, "flex-direction:row"} {
		if !strings.Contains(page, part) {
			t.Errorf("the page lacks %s: %s", part, page)
		}
	}
	m, x := connect(box)
	view, _ := display.Of(box).Data["application/vnd.jupyter.widget-view+json"].(map[string]any)
	if view["model_id"] != box.ID() || view["version_major"] != 2 || box.ID() == "" || on.ID() == "" {
		t.Errorf("box in a notebook: got %v, want the model %q", view, box.ID())
	}
	// A reloaded page requests the states of all widgets.
	x.take()
	c := wireConn{x, "control", controlTarget}
	x.targets[controlTarget](c, Message{}).Message(Message{Data: json.RawMessage(`{"method":"request_states"}`)})
	var states struct {
		Method string
		States map[string]struct {
			Name    string `json:"model_name"`
			Module  string `json:"model_module"`
			Version string `json:"model_module_version"`
			State   map[string]any
		}
	}
	if err := x.take()[0].m.Decode(&states); err != nil || states.Method != "update_states" || len(states.States) != len(m.models) {
		t.Fatalf("request_states: got %+v, %v", states, err)
	}
	if s := states.States[on.ID()]; s.Name != "CheckboxModel" || s.Module != "@jupyter-widgets/controls" || s.Version != "2.0.0" || s.State["value"] != true {
		t.Errorf("checkbox: got %+v", s)
	}
	on.SetValue(false)
	x.take()
	x.targets[controlTarget](c, Message{}).Message(Message{Data: json.RawMessage(`{"method":"request_bundles","models":["` + on.ID() + `","unknown"]}`)})
	var bundles struct{ Bundles map[string]map[string]any }
	if err := x.take()[0].m.Decode(&bundles); err != nil || len(bundles.Bundles) != 1 || bundles.Bundles[on.ID()]["text/plain"] != on.String() {
		t.Errorf("request_bundles: got %v, %v, want the text %q", bundles.Bundles, err, on)
	}
	m.Close()
	closed := 0
	for _, s := range x.take() {
		if s.what == "close" {
			closed++
		}
	}
	if closed != len(states.States) || box.ID() != "" {
		t.Errorf("Close: got %d closed comms, want %d", closed, len(states.States))
	}
}

func TestOutput(t *testing.T) {
	o := NewOutput()
	o.Stdout().Write([]byte("one\n"))
	o.Stdout().Write([]byte("two\n"))
	o.Stderr().Write([]byte("bad\n"))
	o.Display(display.Bundle{Data: map[string]any{"text/plain": "old"}, ID: "p"})
	o.Update(display.Bundle{Data: map[string]any{"text/plain": "new"}})
	o.Update(display.Bundle{Data: map[string]any{"text/plain": "newer"}, ID: "p"})
	_, x := connect(o)
	x.take()
	o.Flush()
	const want = `msg update {"outputs":[{"name":"stdout","output_type":"stream","text":"one\ntwo\n"},` +
		`{"name":"stderr","output_type":"stream","text":"bad\n"},{"data":{"text/plain":"newer"},"metadata":{},"output_type":"display_data"}]}`
	if got := updates(t, x.take(), o.ID()); got != want {
		t.Errorf("got\n%s\nwant\n%s", got, want)
	}
	if got := display.Of(o).String(); got != "one\ntwo\nbad\nnewer" {
		t.Errorf("as text: got %q", got)
	}
	o.Clear(true)
	o.Flush()
	if len(o.model.outputs()) != 3 {
		t.Error("Clear(true) cleared before the next output")
	}
	o.Stdout().Write([]byte(strings.Repeat("a long line\n", 10000)))
	o.Flush()
	if list := o.model.outputs(); len(list) != 1 || len(list[0].Text) > maxText+10 || !strings.HasPrefix(list[0].Text, "…\na long line\n") {
		t.Errorf("got %d outputs of %d bytes, want one with the end of the text", len(list), len(list[0].Text))
	}
	o.Clear(false)
	o.Flush()
	if len(o.model.outputs()) != 0 {
		t.Error("Clear(false) did not clear all outputs")
	}
}

// TestOutputConcurrent shows outputs from several goroutines: the list that was read first must not be sent last.
func TestOutputConcurrent(t *testing.T) {
	for range 100 {
		o := NewOutput()
		var all sync.WaitGroup
		const writers, each = 8, 20
		for range writers {
			all.Go(func() {
				for range each {
					o.Display(display.Bundle{Data: map[string]any{"text/plain": "x"}})
					o.Flush()
				}
			})
		}
		all.Wait()
		if shown := o.model.get("outputs").([]output); len(shown) != writers*each {
			t.Fatalf("%d outputs are shown, want %d", len(shown), writers*each)
		}
	}
}

func TestInteract(t *testing.T) {
	x := newWire()
	m := NewManager(x)
	n, on := NewIntSlider(1, 0, 9), NewCheckbox(false)
	calls := 0
	box := m.Interact(func() { calls++ }, n, on)
	n.SetValue(2)
	on.SetValue(true)
	on.SetValue(true)
	n.Set("description", "n")
	if calls != 3 {
		t.Errorf("got %d calls, want 3", calls)
	}
	if got := box.String(); got != "n: 2 (0 to 9)\non\ncalled" {
		t.Errorf("got %q, want only the output of the last call", got)
	}
}

func TestComm(t *testing.T) {
	x := newWire()
	m := NewManager(x)
	var got []string
	c, err := m.OpenComm("mine", map[string]int{"a": 1}, func(m Message) { got = append(got, m.String()) }, []byte("raw"))
	if err != nil {
		t.Fatal(err)
	}
	x.receive(c.ID(), `{"b":2}`)
	c.OnMessage(nil)
	x.receive(c.ID(), `{"b":3}`)
	err = c.Send(struct{ C int }{3})
	if list := x.take(); err != nil || len(list) != 2 || string(list[0].m.Data) != `{"a":1}` || string(list[0].m.Buffers[0]) != "raw" || string(list[1].m.Data) != `{"C":3}` {
		t.Errorf("got the messages %v, %v", list, err)
	}
	if !slices.Equal(got, []string{`{"b":2}`}) {
		t.Errorf("got %q, want only the message before OnMessage(nil)", got)
	}
	var opened []string
	m.RegisterTarget("theirs", func(c *Comm, first Message) {
		c.OnMessage(func(m Message) { opened = append(opened, m.String()) })
		opened = append(opened, c.String()+first.String())
	})
	h := x.targets["theirs"](wireConn{x, "id", "theirs"}, Message{Data: json.RawMessage(`{}`)})
	h.Message(Message{Data: json.RawMessage(`{"x":1}`)})
	h.Closed(Message{})
	if want := []string{"comm id with theirs{}", `{"x":1}`}; !slices.Equal(opened, want) {
		t.Errorf("comm opened by the front end: got %q, want %q", opened, want)
	}
}

func TestMistakes(t *testing.T) {
	box := NewVBox()
	for _, test := range []struct {
		want string
		f    func()
	}{
		{`widget: IntSlider: min is 5 and max is 1; want min <= max`, func() { NewIntSlider(0, 5, 1) }},
		{`widget: FloatSlider: min is NaN and max is 1; want min <= max`, func() { NewFloatSlider(0, math.NaN(), 1) }},
		{`widget: a Checkbox has no trait "step"; want one of description,`, func() { NewCheckbox(true, Step(1)) }},
		{`widget: trait "step" of a IntSlider is a float64; want int`, func() { NewIntSlider(0, 0, 1, Step(0.5)) }},
		{`widget: a Layout has no trait "wdith"; want one of align_content,`, func() { NewLabel("", Layout("wdith", "1px")) }},
		{`widget: a Label has no look; want a button, a bar or a box`, func() { NewLabel("", Look("info")) }},
		{`widget: Dropdown: "c" is not a choice; want one of ["a" "b"]`, func() { NewDropdown("c", []string{"a", "b"}) }},
		{`widget: VBox: child 0 contains the box itself`, func() { box.SetChildren(NewHBox(box)) }},
		{`widget: Interact: control 0 is a *widget.Button; want a widget with a value`, func() { Interact(func() {}, NewButton("")) }},
		{`widget: Image: a int has no picture; want the bytes of a PNG`, func() { NewImage(3) }},
	} {
		func() {
			defer func() {
				if got, _ := recover().(string); !strings.HasPrefix(got, test.want) {
					t.Errorf("got %q, want %q", got, test.want)
				}
			}()
			test.f()
		}()
	}
	if _, err := OpenComm("x", nil, nil); err == nil || !strings.Contains(err.Error(), "no front end") {
		t.Errorf("comm outside a notebook: got error %v", err)
	}
	if _, err := NewManager(newWire()).OpenComm("x", 7, nil); err == nil || !strings.Contains(err.Error(), "is 7; want a JSON object") {
		t.Errorf("comm with data 7: got error %v", err)
	}
}

// TestFloatSliderSteps checks that the steps of a slider reach its first value, because front ends show values at steps.
func TestFloatSliderSteps(t *testing.T) {
	for _, tt := range []struct {
		value, min, max float64
		options         []Option
		step            float64
		format          string
	}{
		{value: 0.5, min: 0, max: 1, step: 0.1, format: ".2f"},
		{value: 0.1, min: 0.01, max: 1, step: 0.01, format: ".2f"},
		{value: 0.001, min: 0, max: 0.01, step: 0.001, format: ".3f"},
		{value: 1, min: 0.01, max: 1, step: 0.1, format: ".2f"},
		{value: 2, min: 0.01, max: 1, step: 0.1, format: ".2f"},
		{value: math.Pi, min: 0, max: 4, step: 0.1, format: ".2f"},
		{value: 0.1, min: 0.01, max: 1, options: []Option{Step(0.05), Format(".1f")}, step: 0.05, format: ".1f"},
	} {
		s := NewFloatSlider(tt.value, tt.min, tt.max, tt.options...)
		if step, format := s.model.get("step"), s.model.get("readout_format"); step != tt.step || format != tt.format {
			t.Errorf("value %g from %g to %g: got step %v and format %v, want %g and %s", tt.value, tt.min, tt.max, step, format, tt.step, tt.format)
		}
	}
}

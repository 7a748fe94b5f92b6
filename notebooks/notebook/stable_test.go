package notebook

import (
	"bytes"
	"cmp"
	"maps"
	"path/filepath"
	"reflect"
	"slices"
	"strings"
	"testing"
)

// TestKeepTimes runs a notebook again and again with the same output, in which only what a test changes may
// differ.
func TestKeepTimes(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	nb := code("print a", "print 1.5 s")
	nb.Cells[1].Metadata = map[string]any{"tags": []any{"timing"}}
	nb.Cells = append(nb.Cells, &Cell{Type: Markdown, ID: "text", Source: "before"})
	in, out := writeNotebook(t, dir, "in.ipynb", nb), filepath.Join(dir, "out.ipynb")
	run := func(o RunOptions) (outputs, report string) {
		t.Helper()
		var b bytes.Buffer
		o.Output, o.Progress, o.Start = out, &b, startEcho
		if err := RunFiles(t.Context(), []string{in}, o); err != nil {
			t.Fatal(err)
		}
		for _, c := range read(t, out).Cells {
			outputs += summary(c.Outputs)
		}
		return outputs, b.String()
	}
	// edit changes the outputs of an earlier run, as another machine would.
	edit := func() {
		ran := read(t, out)
		ran.Cells[0].Outputs[0].Text, ran.Cells[1].Outputs[0].Text = "old\n", "2.5 s\n"
		writeNotebook(t, dir, "out.ipynb", ran)
	}
	const times = "tagged timing kept"
	if got, report := run(RunOptions{}); got != `stdout "a\n"stdout "1.5 s\n"` || strings.Contains(report, times) {
		t.Errorf("first run: got %s\n%s", got, report)
	}
	edit()
	nb.Cells[2].Source = "text may change"
	writeNotebook(t, dir, "in.ipynb", nb)
	if got, report := run(RunOptions{}); got != `stdout "a\n"stdout "2.5 s\n"` || !strings.Contains(report, "1 cell "+times) {
		t.Errorf("second run: got %s, want the earlier time\n%s", got, report)
	}
	if text := read(t, out).Cells[2].Source; text != nb.Cells[2].Source {
		t.Errorf("got text %q, want %q", text, nb.Cells[2].Source)
	}
	if got, report := run(RunOptions{Fresh: true}); got != `stdout "a\n"stdout "1.5 s\n"` || strings.Contains(report, times) {
		t.Errorf("fresh: got %s\n%s", got, report)
	}
	edit()
	nb.Cells[0].Source = "print b"
	writeNotebook(t, dir, "in.ipynb", nb)
	if got, _ := run(RunOptions{}); got != `stdout "b\n"stdout "1.5 s\n"` {
		t.Errorf("after a change of code: got %s, want new outputs", got)
	}
}

// TestNameModels checks that the names of two runs are the same, and that references still hold.
func TestNameModels(t *testing.T) {
	names := func(slider, layout, link, other string) (string, []*Cell, map[string]any) {
		cells := []*Cell{{ID: "c1", Outputs: []*Output{{Type: Stream}, {Type: DisplayData, Data: map[string]any{widgetView: map[string]any{"model_id": slider}}}}}}
		states := nameModels(cells, map[string]any{
			slider: map[string]any{"state": map[string]any{"layout": "IPY_MODEL_" + layout, "self": []any{"IPY_MODEL_" + slider}, "value": 3.0}},
			layout: map[string]any{"state": map[string]any{"width": "IPY_MODEL_unknown"}},
			link:   map[string]any{"state": map[string]any{"source": []any{"IPY_MODEL_" + slider, "value"}}},
			other:  map[string]any{"state": map[string]any{"source": []any{"IPY_MODEL_" + slider, "value"}}},
		})
		return cells[0].Outputs[1].widget(), cells, states
	}
	shown, cells, states := names("a", "b", "c", "d")
	again, cells2, states2 := names("z", "y", "x", "w")
	if !reflect.DeepEqual(cells, cells2) || !reflect.DeepEqual(states, states2) || shown != again {
		t.Errorf("two runs: got %v and %v", states, states2)
	}
	state := states[shown].(map[string]any)["state"].(map[string]any)
	layout := strings.TrimPrefix(state["layout"].(string), "IPY_MODEL_")
	if inner, ok := states[layout].(map[string]any); !ok || inner["state"].(map[string]any)["width"] != "IPY_MODEL_unknown" {
		t.Errorf("layout %q is not among %v", layout, slices.Collect(maps.Keys(states)))
	}
	if state["self"].([]any)[0] != "IPY_MODEL_"+shown || len(states) != 4 {
		t.Errorf("got %v", states)
	}
}

// TestKeepTimesOfWidgets checks that a kept output keeps the states of its widgets, and that an output with widgets of
// other names is new.
func TestKeepTimesOfWidgets(t *testing.T) {
	run := func(model, text string) *Notebook {
		nb := code("knob")
		c := nb.Cells[0]
		c.Count, c.Metadata = 1, map[string]any{"tags": []any{"timing"}}
		c.Outputs = []*Output{{Type: DisplayData, Data: map[string]any{"text/plain": text, widgetView: map[string]any{"model_id": model}}}}
		nb.Metadata = map[string]any{"widgets": map[string]any{widgetState: map[string]any{"state": map[string]any{
			model:    map[string]any{"label": text, "self": "IPY_MODEL_" + model, "layout": "IPY_MODEL_layout"},
			"layout": map[string]any{"width": text},
			"other":  map[string]any{"label": text},
		}}}}
		return nb
	}
	nb := run("knob", "2 s")
	if kept := nb.keepTimes(run("knob", "1 s")); kept != 1 || nb.Cells[0].Outputs[0].plain() != "1 s" {
		t.Errorf("got %q and %d kept cells, want the earlier output", nb.Cells[0].Outputs[0].plain(), kept)
	}
	for model, want := range map[string]string{"knob": "1 s", "layout": "1 s", "other": "2 s"} {
		state := nb.widgetStates()[model].(map[string]any)
		if got := cmp.Or(state["label"], state["width"]); got != want {
			t.Errorf("state of %s: got %v, want %s", model, got, want)
		}
	}
	nb = run("new", "2 s")
	if kept := nb.keepTimes(run("knob", "1 s")); kept != 0 || nb.Cells[0].Outputs[0].plain() != "2 s" {
		t.Errorf("widgets of other names: got %d kept cells", kept)
	}
}

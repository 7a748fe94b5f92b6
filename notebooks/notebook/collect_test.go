package notebook

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"
)

// summary returns outputs as one line of text.
func summary(outputs []*Output) string {
	var parts []string
	for _, o := range outputs {
		switch o.Type {
		case Stream:
			parts = append(parts, fmt.Sprintf("%s %q", o.Name, o.Text))
		case DisplayData:
			parts = append(parts, fmt.Sprint("display ", o.Data["text/plain"]))
		case ExecuteResult:
			parts = append(parts, fmt.Sprintf("Out[%d] %v", o.Count, o.Data["text/plain"]))
		case Error:
			parts = append(parts, o.ErrorName+": "+o.ErrorValue)
		}
	}
	return strings.Join(parts, " | ")
}

func TestCollector(t *testing.T) {
	type message struct{ request, kind, content string }
	show := func(request, kind, id, text string) message {
		return message{request, kind, fmt.Sprintf(`{"data":{"text/plain":%q},"metadata":{},"transient":{"display_id":%q}}`, text, id)}
	}
	out := func(request, name, text string) message {
		return message{request, "stream", fmt.Sprintf(`{"name":%q,"text":%q}`, name, text)}
	}
	for _, test := range []struct {
		name     string
		messages []message
		a, b     string // outputs of two cells
	}{
		{"nothing", nil, "", ""},
		{"one stream", []message{out("a", "stdout", "x"), out("a", "stdout", "y\n"), out("a", "stdout", "z")}, `stdout "xy\nz"`, ""},
		{"two streams", []message{out("a", "stdout", "x"), out("a", "stderr", "e"), out("a", "stdout", "y")}, `stdout "x" | stderr "e" | stdout "y"`, ""},
		{"display between prints", []message{out("a", "stdout", "x"), show("a", "display_data", "", "d"), out("a", "stdout", "y")}, `stdout "x" | display d | stdout "y"`, ""},
		{"two cells", []message{out("a", "stdout", "x"), out("b", "stdout", "y"), out("a", "stdout", "late")}, `stdout "xlate"`, `stdout "y"`},
		{"unknown cell", []message{out("c", "stdout", "x"), out("", "stdout", "x")}, "", ""},
		{"result", []message{{"a", "execute_result", `{"execution_count":4,"data":{"text/plain":["1","2"]},"metadata":{}}`}}, "Out[4] 12", ""},
		{"error", []message{{"a", "error", `{"ename":"Panic","evalue":"boom","traceback":["x"]}`}}, "Panic: boom", ""},
		{"status and comm", []message{{"a", "status", `{"execution_state":"busy"}`}, {"a", "comm_open", `{"comm_id":"1"}`}}, "", ""},
		{"null transient", []message{{"a", "display_data", `{"data":{"text/plain":"d"},"metadata":{},"transient":null}`}}, "display d", ""},
		{"update", []message{show("a", "display_data", "i", "old"), show("b", "display_data", "i2", "other"), show("b", "update_display_data", "i", "new")}, "display new", "display other"},
		{"update of two", []message{show("a", "display_data", "i", "1"), show("b", "display_data", "i", "2"), show("b", "update_display_data", "i", "3")}, "display 3", "display 3"},
		{"display again updates", []message{show("a", "display_data", "i", "1"), show("b", "display_data", "i", "2")}, "display 2", "display 2"},
		{"update of an unknown id", []message{show("a", "update_display_data", "i", "x")}, "", ""},
		{"clear", []message{out("a", "stdout", "x"), {"a", "clear_output", `{"wait":false}`}}, "", ""},
		{"clear with wait, without output", []message{out("a", "stdout", "x"), {"a", "clear_output", `{"wait":true}`}}, `stdout "x"`, ""},
		{"clear with wait, then output", []message{out("a", "stdout", "x"), {"a", "clear_output", `{"wait":true}`}, out("a", "stdout", "y"), out("a", "stdout", "z")}, `stdout "yz"`, ""},
		{"update after clear", []message{show("a", "display_data", "i", "1"), {"a", "clear_output", `{}`}, show("a", "update_display_data", "i", "2")}, "", ""},
		{"progress bar", []message{out("a", "stdout", "10%\r"), out("a", "stdout", "20%\r"), out("a", "stdout", "done\r\nabc\b\bX\n")}, `stdout "done\r\naX\n"`, ""},
	} {
		t.Run(test.name, func(t *testing.T) {
			a := &Cell{Outputs: []*Output{{Type: Stream, Text: "from an earlier run"}}, Count: 9}
			b := &Cell{}
			c := newCollector()
			c.start("a", a)
			c.start("b", b)
			for _, m := range test.messages {
				c.message(m.request, m.kind, []byte(m.content))
			}
			c.settle()
			if got := summary(a.Outputs); got != test.a {
				t.Errorf("first cell: got %s, want %s", got, test.a)
			}
			if got := summary(b.Outputs); got != test.b {
				t.Errorf("second cell: got %s, want %s", got, test.b)
			}
			for _, request := range []string{"a", "b"} {
				if err := c.err(request); err != nil {
					t.Error(err)
				}
			}
		})
	}
}

func TestCollectorCount(t *testing.T) {
	cell := &Cell{}
	c := newCollector()
	c.start("a", cell)
	c.message("a", "execute_input", []byte(`{"code":"x","execution_count":7}`))
	if cell.Count != 7 {
		t.Errorf("got count %d, want 7", cell.Count)
	}
}

func TestCollectorRefusesMalformedMessages(t *testing.T) {
	for _, test := range []struct{ kind, content, want string }{
		{"stream", `{"name":"stdout","text":7}`, "malformed stream message: text: got the number 7"},
		{"display_data", `[]`, "malformed display_data message"},
		{"execute_input", `{"execution_count":"x"}`, "execution_count: got a string"},
		{"update_display_data", `{"data":"x"}`, "data: got a string"},
	} {
		cell := &Cell{}
		c := newCollector()
		c.start("a", cell)
		c.message("a", test.kind, []byte(test.content))
		if err := c.err("a"); err == nil || !strings.Contains(err.Error(), test.want) {
			t.Errorf("%s: got error %v, want one with %q", test.kind, err, test.want)
		}
		if len(cell.Outputs) != 0 {
			t.Errorf("%s: got an output, want none", test.kind)
		}
	}
}

func TestLiveLine(t *testing.T) {
	c := newCollector()
	c.start("cell", &Cell{})
	for _, tt := range []struct{ kind, id, text, want string }{
		{DisplayData, "", "a", ""},
		{DisplayData, "epochs", "epochs 0/2", "epochs 0/2"},
		{DisplayData, "steps", "steps 0/9", "steps 0/9"},
		{"update_display_data", "epochs", "epochs 1/2", "steps 0/9"},
		{"update_display_data", "steps", "steps 4/9", "steps 4/9"},
		{"update_display_data", "steps", "a chart\nof lines", ""},
	} {
		content, err := json.Marshal(map[string]any{
			"data": map[string]string{"text/plain": tt.text}, "metadata": map[string]any{}, "transient": map[string]string{"display_id": tt.id},
		})
		if err != nil {
			t.Fatal(err)
		}
		c.message("cell", tt.kind, content)
		if got := c.live(); got != tt.want || c.err("cell") != nil {
			t.Errorf("%s %s: got %q, want %q (error %v)", tt.kind, tt.text, got, tt.want, c.err("cell"))
		}
	}
	c.start("next", &Cell{})
	if got := c.live(); got != "" {
		t.Errorf("got %q for the next cell", got)
	}
}

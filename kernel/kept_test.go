package kernel

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"
	"time"

	"halfnote/display"
)

// keeper returns a kernel that only keeps outputs.
func keeper() *kernel { return newKernel(Config{History: &Keeper{}}, nil, nil) }

func shownAs(text, id string) object {
	return displayed(display.Bundle{Data: map[string]any{"text/plain": text}, ID: id})
}

// summary returns kept outputs on one line.
func summary(t *testing.T, outputs KeptOutputs, count int) string {
	t.Helper()
	list, err := outputs.Outputs(0, count)
	if err != nil {
		t.Fatal(err)
	}
	var parts []string
	for _, o := range list {
		switch {
		case o.Stream != "":
			parts = append(parts, o.Stream+":"+o.Text)
		case o.Err != nil:
			parts = append(parts, "error:"+o.Err.Name)
		default:
			parts = append(parts, fmt.Sprint(o.Bundle.ID, ":", o.Bundle.Data["text/plain"]))
		}
	}
	return strings.Join(parts, "|")
}

// TestKept checks what is kept of messages of a cell: streams in parts, clear_output and updates.
func TestKept(t *testing.T) {
	k := keeper()
	for i, tt := range []struct {
		name string
		do   func(c *keptCell)
		want string
	}{
		{"streams", func(c *keptCell) {
			c.print("stdout", "a")
			c.print("stdout", "b")
			c.print("stderr", "c")
			c.print("stdout", "d")
		}, "stdout:ab|stderr:c|stdout:d"},
		{"update", func(c *keptCell) {
			c.say("display_data", shownAs("1", "x"))
			c.print("stdout", "a")
			c.say("update_display_data", shownAs("2", "x"))
			c.say("update_display_data", shownAs("3", "unknown"))
		}, "x:2|stdout:a"},
		{"clear", func(c *keptCell) {
			c.print("stdout", "a")
			c.say("clear_output", object{"wait": false})
			c.print("stdout", "b")
		}, "stdout:b"},
		{"clear with wait", func(c *keptCell) { c.print("stdout", "a"); c.say("clear_output", object{"wait": true}) }, "stdout:a"},
		{"clear at the next", func(c *keptCell) {
			c.print("stdout", "a")
			c.say("clear_output", object{"wait": true})
			c.say("display_data", shownAs("1", ""))
		}, ":1"},
		{"error", func(c *keptCell) {
			c.say("error", object{"ename": "Panic", "evalue": "v", "traceback": []string{"t"}})
		}, "error:Panic"},
		{"result", func(c *keptCell) { c.say("execute_result", shownAs("4", "")) }, ":4"},
		{"nothing", func(c *keptCell) { c.say("execute_input", object{}) }, ""},
		{"cleared", func(c *keptCell) { c.print("stdout", "a"); c.save(); c.say("clear_output", object{"wait": false}) }, ""},
	} {
		k.history.Put(Entry{Count: i + 1})
		c := k.kept.start(i+1, "", &request{})
		tt.do(c)
		c.end()
		if got := summary(t, k.kept, i+1); got != tt.want {
			t.Errorf("%s: got %q, want %q", tt.name, got, tt.want)
		}
	}
	if cells, err := k.kept.Cells(0); err != nil || len(cells) != 7 || cells[0].Took <= 0 || cells[1].Lines != 0 || cells[1].Displays != 1 {
		t.Errorf("cells: got %+v (%v)", cells, err)
	}
}

// TestKeptIsBounded checks that a cell with much output keeps the newest, that many cells keep the
// newest, and that memory is bounded.
func TestKeptIsBounded(t *testing.T) {
	k := keeper()
	k.history.Put(Entry{Count: 1})
	c := k.kept.start(1, "", &request{})
	c.say("display_data", shownAs("first", ""))
	total := len(`"first"`)
	for i := range 200_000 {
		line := fmt.Sprintf("line %d of a cell that prints much: %s\n", i, strings.Repeat("x", 60))
		total += len(line)
		c.print("stdout", line)
	}
	c.end()
	list, err := k.kept.Outputs(0, 1)
	if err != nil || len(list) != 2 {
		t.Fatalf("got %d outputs (%v), want the notice and the end of the text", len(list), err)
	}
	dropped := 0
	fmt.Sscanf(list[0].Text, "%d bytes of earlier output were not kept", &dropped)
	text := list[1].Text
	if dropped+len(text) != total || len(text) > maxKeptCell || !strings.HasPrefix(text, "line ") || !strings.Contains(text[len(text)-120:], "line 199999 ") {
		t.Errorf("got %d bytes and %d dropped of %d, from %.20q", len(text), dropped, total, text)
	}
	k.kept.mu.Lock()
	size := 0
	for _, c := range k.kept.cells {
		size += c.size
	}
	if size != k.kept.size {
		t.Errorf("cells hold %d bytes, and %d are counted", size, k.kept.size)
	}
	k.kept.mu.Unlock()

	big := strings.Repeat("y", 1<<20)
	for i := 2; i < 102; i++ {
		k.history.Put(Entry{Count: i})
		c := k.kept.start(i, "", &request{})
		c.print("stdout", big)
		c.end()
	}
	if n := len(k.kept.cells); k.kept.size > maxKeptMemory || n < 10 {
		t.Errorf("got %d cells with %d bytes in memory, want at most %d bytes", n, k.kept.size, maxKeptMemory)
	}
	if cells, err := k.kept.Cells(0); err != nil || len(cells) > 64 || len(cells) < 60 || cells[len(cells)-1].Count != 101 {
		t.Errorf("got %d cells in the history (%v), want the newest 64", len(cells), err)
	}
	late := c // no longer in memory
	late.print("stdout", "late")
	if late.all.size != k.kept.size {
		t.Error("late output of a forgotten cell was counted")
	}
}

// TestKeptIsWrittenWhileACellRuns checks that the history has the output of a cell that has not
// ended, as after a crash.
func TestKeptIsWrittenWhileACellRuns(t *testing.T) {
	k := keeper()
	k.history.Put(Entry{Count: 1})
	c := k.kept.start(1, "", &request{Message: Message{Metadata: json.RawMessage(`{"cellId":"abc"}`)}})
	c.print("stdout", "epoch 1\n")
	for end := time.Now().Add(time.Minute); summary(t, k.kept.stored, 1) != "stdout:epoch 1\n"; time.Sleep(50 * time.Millisecond) {
		if time.Now().After(end) {
			t.Fatal("the output was not written")
		}
	}
	if cells, _ := k.kept.stored.Cells(0); len(cells) != 1 || cells[0].Took != 0 || cells[0].Lines != 1 {
		t.Errorf("got %+v, want one unfinished cell", cells)
	}
}

// TestFronts checks who is told of a cell of another front end.
func TestFronts(t *testing.T) {
	var f clients
	missed := func(session string, want int) {
		t.Helper()
		if got := f.missed(session); got != want {
			t.Errorf("%s: got %d, want %d", session, got, want)
		}
	}
	missed("a", 0)
	f.ran("a", 1, time.Second)
	missed("b", 0)
	f.ran("a", 2, missedAfter)
	f.ran("a", 3, time.Second)
	missed("a", 0)
	missed("b", 2)
	f.ran("b", 4, time.Second)
	missed("b", 0)
	missed("a", 0)
	missed("c", 0)
}

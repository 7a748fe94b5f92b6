package e2e

import (
	"context"
	"encoding/json"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"halfnote/kernel/client"
)

// cellOutput runs a cell. It returns its streams with times replaced by T, and the data of its displays.
func cellOutput(t *testing.T, k *client.Kernel, code string) (text string, displays []map[string]any) {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	defer cancel()
	var b strings.Builder
	if _, err := k.Execute(ctx, code, client.ExecuteOptions{}, func(m client.Message) {
		var content struct {
			Text string
			Data map[string]any
		}
		if err := json.Unmarshal(m.Content, &content); err != nil {
			t.Error(err)
		}
		switch m.Header.Type {
		case "stream":
			b.WriteString(content.Text)
		case "display_data", "execute_result":
			displays = append(displays, content.Data)
		}
	}); err != nil {
		t.Fatalf("%s: %v", code, err)
	}
	return regexp.MustCompile(`\d+(\.\d+)? (ns|µs|ms|s) +`).ReplaceAllString(b.String(), "T  "), displays
}

// TestOutputMagic checks that %output shows the outputs of cells again, complete, also after the
// kernel was killed and started again, and only those of its notebook.
func TestOutputMagic(t *testing.T) {
	history := filepath.Join(t.TempDir(), "h.sqlite")
	start := func(notebook string) *client.Kernel {
		k, err := startKernel(client.Options{Env: []string{"HALFNOTE_HISTORY=" + history, "JPY_SESSION_NAME=" + notebook}})
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { k.Close() })
		return k
	}
	const train = `h := display.Live(chart.Loss(nil))
for i := range 3 {
	fmt.Println("epoch", i)
	h.Update(chart.Loss([]chart.Series{{Name: "run", Values: []float64{3, 2, float64(i)}}}))
}
display.Show(chart.Loss([]chart.Series{{Name: "run", Values: []float64{3, 1}}}).Interactive())
chart.Hist([]float64{1, 2})`
	k := start("a.ipynb")
	_, want := cellOutput(t, k, train)
	cellOutput(t, k, "x := []int{1}\nx[1+len(x)]")
	cellOutput(t, k, "y := 3")

	same := func(k *client.Kernel, code string) {
		t.Helper()
		text, got := cellOutput(t, k, code)
		if text != "epoch 0\nepoch 1\nepoch 2\n" {
			t.Errorf("%s: got the text %q", code, text)
		}
		if len(got) != 3 || len(want) != 3 {
			t.Fatalf("%s: got %d displays, and the cell had %d; want 3", code, len(got), len(want))
		}
		for i := range got[1:] {
			a, _ := json.Marshal(want[i+1])
			b, _ := json.Marshal(got[i+1])
			if string(a) != string(b) {
				t.Errorf("%s: display %d differs from the cell's", code, i+1)
			}
		}
		if live := got[0]["text/plain"]; live == want[0]["text/plain"] {
			t.Errorf("%s: the live chart is in its first state: %q", code, live)
		}
	}
	same(k, "%output 1")
	const list = "1 T 3 lines, 3 displays h := display.Live(chart.Loss(nil)) %output 2 T Panic x := []int{1} "
	listed := func(k *client.Kernel, code, want string) {
		t.Helper()
		text, _ := cellOutput(t, k, code)
		if text = strings.Join(strings.Fields(text), " "); !strings.HasPrefix(text, want) {
			t.Errorf("%s: got %s, want %s", code, text, want)
		}
	}
	listed(k, "%output", "%output "+list)
	if text, _ := cellOutput(t, k, "%output 2"); !strings.Contains(text, "index out of range [2] with length 1") {
		t.Errorf("%%output 2: got %q, want the panic", text)
	}
	if text, displays := cellOutput(t, k, "%%capture kept\n%output 1"); text != "" || len(displays) > 0 {
		t.Errorf("under %%%%capture: got %q and %d displays, want nothing", text, len(displays))
	}
	var names []string
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	defer cancel()
	for _, code := range []string{"%output 3", "%output x", "%output ~x", "%output 99"} {
		r, err := k.Execute(ctx, code, client.ExecuteOptions{}, nil)
		if err != nil {
			t.Fatal(err)
		}
		names = append(names, r.ErrorName)
	}
	if slices.ContainsFunc(names, func(n string) bool { return n != "MagicError" }) {
		t.Errorf("errors: got %v, want MagicError for each", names)
	}
	if p, err := os.FindProcess(k.Pid()); err != nil || p.Kill() != nil {
		t.Fatal("the kernel cannot be killed")
	}

	other := start("b.ipynb")
	if text, _ := cellOutput(t, other, "%output ~1"); text != "Nothing to show of a kernel ~1; %output ~2 lists the outputs of the one before it.\n" {
		t.Errorf("another notebook: got %q", text)
	}
	again := start("a.ipynb")
	if text, _ := cellOutput(t, again, "1"); !strings.Contains(text, "ended suddenly while no cell ran, as by kill -9") {
		t.Errorf("the first cell after a killed kernel: got %q, want a note", text)
	}
	same(again, "%output ~1/1")
	listed(again, "%output ~1", "%output ~1/"+strings.Replace(list, "%output ", "%output ~1/", 1))
	if text, _ := cellOutput(t, start("a.ipynb"), "%output ~2/1-2"); !strings.HasPrefix(text, "epoch 0") || !strings.Contains(text, "out of range") {
		t.Errorf("%%output ~2/1-2: got\n%s", text)
	}
}

// TestOutputsInMemory checks that a kernel without a file for the history has the outputs of its own cells, and those of no other one.
func TestOutputsInMemory(t *testing.T) {
	start := func() *client.Kernel {
		k, err := startKernel(client.Options{})
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { k.Close() })
		return k
	}
	k := start()
	cellOutput(t, k, `fmt.Println("to be", 1+1)`)
	if text, _ := cellOutput(t, k, "%output 1"); text != "to be 2\n" {
		t.Errorf("%%output 1: got %q", text)
	}
	if text, _ := cellOutput(t, start(), "%output ~1"); strings.Contains(text, "to be") || !strings.Contains(text, "Nothing to show") {
		t.Errorf("%%output ~1 in another kernel: got %q", text)
	}
}

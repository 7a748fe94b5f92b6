package interp

import (
	"context"
	"strings"
	"testing"

	"halfnote/internal/testenv"
	"halfnote/kernel/eval"
)

// TestColoursOnlyInTraceback checks that an error has colours in its traceback, which front
// ends show, and not in its name and value.
func TestColoursOnlyInTraceback(t *testing.T) {
	s := newSession(t)
	for n, code := range []string{"undefined1 + 1", "x := )", "panic(\"p\")", "var m map[string]int\nm[\"a\"] = 1", "%nothing", "import \"no/such\"", "tensor.Ones(2).Add(tensor.Ones(3))"} {
		r := s.Eval(context.Background(), eval.Cell{Code: code, Count: n + 1}, &recorder{})
		if r.Err == nil {
			t.Errorf("%s: got no error", code)
			continue
		}
		if strings.Contains(r.Err.Name+r.Err.Value, "\x1b") || r.Err.Name == "" || r.Err.Value == "" {
			t.Errorf("%s: got name %q and value %q, want text without colours", code, r.Err.Name, r.Err.Value)
		}
		if text := strings.Join(r.Err.Traceback, "\n"); !strings.Contains(text, "\x1b[") || strings.Count(text, "\x1b[0m") < strings.Count(text, "\x1b[1") {
			t.Errorf("%s: got traceback %q, want colours that end", code, text)
		} else if low := testenv.LowContrast(text); len(low) > 0 {
			t.Errorf("%s: low contrast: %q", code, low)
		}
	}
}

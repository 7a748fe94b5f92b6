package magic

import (
	"slices"
	"strings"
	"testing"
)

// TestTable checks that the table of magics is sorted and complete.
func TestTable(t *testing.T) {
	if !slices.IsSortedFunc(table, func(a, b Magic) int { return strings.Compare(a.Name, b.Name) }) {
		t.Error("the magics are not sorted by name")
	}
	for _, m := range table {
		if m.Help == "" || m.Run == nil || m.Name != "!" && strings.TrimLeft(m.Name, "%") == m.Name {
			t.Errorf("%s lacks a percent sign, a help text or a function", m.Name)
		}
		if m.Runs && m.Takes != Go {
			t.Errorf("%s runs Go code that it does not take", m.Name)
		}
	}
}

// TestCompiledCalls checks what is left of the stack of a sample.
func TestCompiledCalls(t *testing.T) {
	runs := func(f string) bool { return f == "run" }
	names := []string{
		"runtime.mallocgc", "halfnote/tensor/internal/cpu.gemm.func2", "halfnote/tensor/internal/cpu.gemm", "halfnote/tensor.(*Tensor).MatMul",
		"halfnote/tensor.apply[...]", "halfnote/tensor.(*List[...]).Map[...].func1", "reflect.Value.Call", "run", "halfnote/tensor.(*Tensor).Backward",
	}
	got := strings.Join(compiledCalls(names, runs), " < ")
	if want := "tensor.List.Map < tensor.apply < tensor.Tensor.MatMul < cpu.gemm"; got != want {
		t.Errorf("got %s, want %s", got, want)
	}
}

// TestShowable checks what %env hides.
func TestShowable(t *testing.T) {
	for _, c := range []struct{ name, value, want string }{
		{"AWS_SECRET_ACCESS_KEY", "x", hidden},
		{"github_token", "x", hidden},
		{"PGPASSWORD", "x", hidden},
		{"GOOGLE_APPLICATION_CREDENTIALS", "x", hidden},
		{"API_KEY", "", ""},
		{"HTTPS_PROXY", "http://me:x@proxy:80/", "http://me:" + hidden + "@proxy:80/"},
		{"PIP_INDEX_URL", "https://host/simple", "https://host/simple"},
		{"PATH", "/bin", "/bin"},
	} {
		if got := showable(c.name, c.value); got != c.want {
			t.Errorf("%s=%s: got %q, want %q", c.name, c.value, got, c.want)
		}
	}
}

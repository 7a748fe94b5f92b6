package tensor

import (
	"errors"
	"testing"
)

type textModule string

func (m textModule) String() string {
	if m == "" {
		panic("no text")
	}
	return string(m)
}

// TestErrorsNameModules checks that the error of an operation names the modules around it, and that
// other panics are unchanged.
func TestErrorsNameModules(t *testing.T) {
	fails := func() { Ones(2, 3).Add(Ones(4)) }
	const why = "tensor: add: shapes (2, 3) and (4,): cannot broadcast; want sizes that are equal or 1, aligned at the end"
	tests := []struct {
		name string
		run  func()
		want string
	}{
		{"no module", fails, why},
		{"module", func() { InModule("fc1", fails) }, why + "; in module fc1"},
		{"modules", func() { InModule("encoder", func() { inModule("0", textModule("Linear(2, 3)"), fails) }) }, why + "; in module encoder.0, Linear(2, 3)"},
		{"text of the innermost", func() { inModule("encoder", textModule("Encoder"), func() { InModule("0", fails) }) }, why + "; in module encoder.0"},
		{"text of several lines", func() { inModule("0", textModule("Sequential(\n)"), fails) }, why + "; in module 0, textModule"},
		{"panic in String", func() { inModule("0", textModule(""), fails) }, why + "; in module 0, textModule"},
		{"nil pointer", func() { inModule("0", (*textModule)(nil), fails) }, why + "; in module 0, textModule"},
	}
	for _, tt := range tests {
		var got string
		if err := Try(tt.run); err != nil {
			got = err.Error()
		}
		if got != tt.want {
			t.Errorf("%s: got %q, want %q", tt.name, got, tt.want)
		}
		stop := Observe(func(Event) {})
		if err := Try(tt.run); err == nil || err.Error() != tt.want {
			t.Errorf("%s, observed: got %v, want %q", tt.name, err, tt.want)
		}
		stop()
	}
	other := errors.New("other")
	defer func() {
		if v := recover(); v != other {
			t.Errorf("got panic %v, want %v", v, other)
		}
	}()
	InModule("fc1", func() { panic(other) })
}

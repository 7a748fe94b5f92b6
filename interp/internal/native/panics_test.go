package native

import "testing"

// TestUnitName lists names that the runtime shows and those that the session gives them.
func TestUnitName(t *testing.T) {
	for _, tt := range []struct{ function, want string }{
		{"main.f", "f"},
		{"main.f.func1.2", "f.func.func"},
		{"main.f-range1", "f"},
		{"main.Map[...]", "Map"},
		{"main.Map[...].func1", "Map.func"},
		{"main.(*T).M", "T_M"},
		{"main.(*T[...]).M", "T_M"},
		{"main.(*T[...]).M[...]", "T_M"}, // from Go 1.27 on
		{"main.(*T[...]).M[...].func1", "T_M.func"},
	} {
		if got := unitName(tt.function); got != tt.want {
			t.Errorf("%s: got %s, want %s", tt.function, got, tt.want)
		}
	}
}

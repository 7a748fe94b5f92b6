package dist

import (
	"path/filepath"
	"strings"
	"testing"
)

func TestBackend(t *testing.T) {
	t.Setenv("HALFNOTE_NCCL", filepath.Join(t.TempDir(), "absent.so"))
	for _, c := range []struct{ name, want string }{
		{"mpi", ""},
		{"gloo", `the backend is "gloo"; want mpi or nccl`},
		{"nccl", "backend nccl: cannot load NCCL"},
	} {
		var s settings
		Backend(c.name)(&s)
		err := s.connect()
		if (err == nil) != (c.want == "") || err != nil && !strings.Contains(err.Error(), c.want) {
			t.Errorf("Backend(%q) gives %v, want %q", c.name, err, c.want)
		}
		if s.join != nil {
			t.Errorf("Backend(%q) has a library", c.name)
		}
	}
}

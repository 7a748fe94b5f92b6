package install

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

func TestPeerPython(t *testing.T) {
	f := newFakeLab(t)
	for _, c := range []struct {
		pytorch        bool
		folder, wanted string
	}{
		{false, "bench-", "import numpy, ipykernel, ipywidgets"},
		{true, "bench-torch-", "import numpy, torch"},
	} {
		for again := range 2 {
			python, err := PeerPython(t.Context(), c.pytorch, f.options.CacheDir, f.out)
			if err != nil {
				t.Fatal(err)
			}
			if rel, _ := filepath.Rel(f.options.CacheDir, python); !strings.HasPrefix(rel, c.folder) || !strings.HasSuffix(rel, filepath.Join("bin", "python")) {
				t.Errorf("got the Python %s, want one in %s…", rel, c.folder)
			}
			calls, _ := os.ReadFile(f.calls)
			os.Remove(f.calls)
			if made := strings.Contains(string(calls), "pip install"); made != (again == 0) || !strings.Contains(string(calls), "-c "+c.wanted) {
				t.Errorf("call %d: got calls of Python\n%s\nwant %q, and an installation only in the first call", again+1, calls, c.wanted)
			}
		}
	}
	if got := f.out.String(); strings.Count(got, "Making a private Python environment") != 2 || !strings.Contains(got, "6 GB") {
		t.Errorf("got output %q, want two environments and a size of 6 GB", got)
	}
}

// TestPeerPythonWithoutNetwork checks that the error names the missing part, and that no files
// are left behind.
func TestPeerPythonWithoutNetwork(t *testing.T) {
	f := newFakeLab(t)
	if err := os.WriteFile(os.Getenv("FAIL"), nil, 0o644); err != nil {
		t.Fatal(err)
	}
	_, err := PeerPython(t.Context(), true, f.options.CacheDir, f.out)
	for _, want := range []string{"PyTorch", "network", "Could not find a version"} {
		if err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("got error %v, want it to contain %q", err, want)
		}
	}
	if left, _ := filepath.Glob(filepath.Join(f.options.CacheDir, "bench*")); slices.ContainsFunc(left, func(s string) bool { return !strings.HasSuffix(s, ".lock") }) {
		t.Errorf("files left behind: got %v, want none", left)
	}
	t.Setenv("PATH", t.TempDir())
	if _, err := PeerPython(t.Context(), false, f.options.CacheDir, f.out); err == nil || !strings.Contains(err.Error(), "--peer none") {
		t.Errorf("without Python: got error %v, want it to contain --peer none", err)
	}
}

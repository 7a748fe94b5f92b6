package testenv

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
)

// Python returns the Python that PYTHON names, or python3. A test without one is skipped, or fails if HALFNOTE_REQUIRE lists jupyter.
func Python(t testing.TB) string {
	t.Helper()
	name := os.Getenv("PYTHON")
	if name == "" {
		name = "python3"
	}
	path, err := exec.LookPath(name)
	if err != nil {
		Missing(t, "jupyter", "needs Python: ", err)
	}
	return path
}

// Trap makes a folder the working folder that has a file for every module of Python's library and for every installed package.
// sprung returns the names of those that have run since the last call. A program that starts Python there must import none.
func Trap(t *testing.T, python string) (sprung func() []string) {
	t.Helper()
	out, err := exec.Command(python, "-I", "-c", `import importlib.metadata, sys
print(*{n for n in sys.stdlib_module_names | set(importlib.metadata.packages_distributions()) | {"sitecustomize", "usercustomize"} if n.isidentifier() and n != "__main__"})`).Output()
	if err != nil {
		t.Skipf("needs Python 3.10: %v", err)
	}
	dir, mark := t.TempDir(), filepath.Join(t.TempDir(), "mark")
	for _, name := range strings.Fields(string(out)) {
		text := "open(r'" + mark + "', 'a').write(__name__ + '\\n')\nraise ImportError('a file of the working folder')\n"
		if err := os.WriteFile(filepath.Join(dir, name+".py"), []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	t.Chdir(dir)
	sprung = func() []string {
		text, _ := os.ReadFile(mark)
		os.Remove(mark)
		return strings.Fields(string(text))
	}
	if exec.Command(python, "-c", "import json").Run(); len(sprung()) == 0 {
		t.Fatal("the folder traps nothing: json.py did not run")
	}
	return sprung
}

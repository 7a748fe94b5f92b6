package e2e

import (
	"archive/zip"
	"cmp"
	"encoding/json"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"testing"

	"halfnote/install"
	"halfnote/internal/release"
)

// makeWheel writes a wheel of a program for this machine.
func makeWheel(t *testing.T, python string, program []byte) (path string) {
	t.Helper()
	tag, err := exec.Command(python, "-c", `import re, sysconfig; print(re.sub(r"\W", "_", sysconfig.get_platform()), end="")`).Output()
	if err != nil {
		t.Fatal(err)
	}
	w, err := install.Distribution(program, runtime.GOOS, release.Version, []string{"py3-none-" + string(tag)})
	if err != nil {
		t.Fatal(err)
	}
	path = filepath.Join(t.TempDir(), w.FileName())
	f, err := os.Create(path)
	if err == nil {
		err = w.Write(f)
	}
	if err := cmp.Or(err, f.Close()); err != nil {
		t.Fatal(err)
	}
	return path
}

// TestWheel installs a wheel, with a script in the place of the program, in every way that pip and uv have. The command must start
// the program, Jupyter must find the kernel, and nothing may be left after the wheel is removed.
func TestWheel(t *testing.T) {
	python := need(t, "jupyter", "python3")
	uv := need(t, "jupyter", "uv")
	wheel := makeWheel(t, python, []byte("#!/bin/sh\necho halfnote \"$@\"\n"))
	base, err := exec.Command(python, "-c", "import sys; print(sys._base_executable, end='')").Output() // --user is not for environments
	if err != nil {
		t.Fatal(err)
	}
	dir := t.TempDir()
	env := append(slices.DeleteFunc(os.Environ(), func(v string) bool { return strings.HasPrefix(v, "PYTHON") }),
		"PYTHONUSERBASE="+filepath.Join(dir, "user"), "PIP_NO_INDEX=1", "PIP_BREAK_SYSTEM_PACKAGES=1", "PYTHONDONTWRITEBYTECODE=1", "PIP_DISABLE_PIP_VERSION_CHECK=1",
		"UV_OFFLINE=1", "UV_CACHE_DIR="+filepath.Join(dir, "cache"), "UV_TOOL_DIR="+filepath.Join(dir, "tools"), "UV_TOOL_BIN_DIR="+filepath.Join(dir, "bin"),
		"UV_PYTHON="+python, "PYTHONPATH="+filepath.Join(dir, "target"))
	run := func(command ...string) string {
		t.Helper()
		cmd := exec.CommandContext(t.Context(), command[0], command[1:]...)
		cmd.Env = env
		out, err := cmd.CombinedOutput()
		if err != nil {
			t.Fatalf("%q: %v\n%s", command, err, out)
		}
		return string(out)
	}
	venv := filepath.Join(dir, "venv", "bin")
	run(python, "-m", "venv", filepath.Join(dir, "venv"))
	before := filesBelow(t, dir)
	for _, tt := range []struct {
		name            string
		install, remove []string
		start           []string
		data            string // folder that Jupyter searches
	}{
		{"pip", []string{venv + "/pip", "install", wheel}, []string{venv + "/pip", "uninstall", "-y", "halfnote"}, []string{venv + "/halfnote"}, "venv/share/jupyter"},
		{"pip --user", []string{string(base), "-m", "pip", "install", "--user", wheel}, []string{string(base), "-m", "pip", "uninstall", "-y", "halfnote"}, []string{dir + "/user/bin/halfnote"}, "user/share/jupyter"},
		{"pip --target", []string{venv + "/pip", "install", "--target", dir + "/target", wheel}, []string{"rm", "-r", dir + "/target"}, []string{venv + "/python", "-m", "halfnote"}, "target/share/jupyter"},
		{"uv pip", []string{uv, "pip", "install", "--python", venv + "/python", wheel}, []string{uv, "pip", "uninstall", "--python", venv + "/python", "halfnote"}, []string{venv + "/halfnote"}, "venv/share/jupyter"},
		{"uv tool", []string{uv, "tool", "install", wheel}, []string{uv, "tool", "uninstall", "halfnote"}, []string{dir + "/bin/halfnote"}, "tools/halfnote/share/jupyter"},
		{"uvx", []string{"true"}, []string{"true"}, []string{uv, "tool", "run", "--from", wheel, "halfnote"}, ""},
	} {
		run(tt.install...)
		if got := run(append(tt.start, "version", "a b")...); !strings.HasSuffix(got, "halfnote version a b\n") {
			t.Errorf("%s: got %q from the program", tt.name, got)
		}
		if tt.data != "" {
			cmd := exec.CommandContext(t.Context(), python, "-m", "jupyter", "kernelspec", "list", "--json")
			cmd.Env = append(os.Environ(), "JUPYTER_PATH="+filepath.Join(dir, tt.data))
			var list struct {
				Kernelspecs map[string]struct {
					Dir string `json:"resource_dir"`
				}
			}
			out, err := cmd.Output()
			if err == nil {
				err = json.Unmarshal(out, &list)
			}
			if got, want := list.Kernelspecs["halfnote"].Dir, filepath.Join(dir, tt.data, "kernels/halfnote"); err != nil || got != want {
				t.Errorf("%s: Jupyter finds the kernel in %q, want %q; %v\n%s", tt.name, got, want, err, out)
			}
		}
		run(tt.remove...)
		for _, path := range filesBelow(t, dir) {
			if strings.Contains(path, "halfnote") && !strings.Contains(path, "/cache/") && !slices.Contains(before, path) {
				t.Errorf("%s: %s is left after the wheel was removed", tt.name, path)
			}
		}
	}
}

// filesBelow lists the files below a folder.
func filesBelow(t *testing.T, dir string) (list []string) {
	t.Helper()
	err := filepath.WalkDir(dir, func(path string, d fs.DirEntry, err error) error {
		if err == nil && !d.IsDir() {
			list = append(list, path)
		}
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return list
}

// goMagic installs the wheel for a Python that has the modules. It returns a function that makes commands for this Python.
func goMagic(t *testing.T, modules ...string) func(args ...string) *exec.Cmd {
	t.Helper()
	python := jupyter(t, modules...)
	exe := need(t, "jupyter", "python3")
	path, err := program()
	if err != nil {
		t.Fatal(err)
	}
	binary, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	target := t.TempDir()
	if out, err := exec.Command(exe, "-m", "pip", "install", "-q", "--no-index", "--disable-pip-version-check", "--target", target, makeWheel(t, exe, binary)).CombinedOutput(); err != nil {
		t.Fatalf("pip: %v\n%s", err, out)
	}
	return func(args ...string) *exec.Cmd {
		cmd := python(args...)
		cmd.Env = append(cmd.Env, "PYTHONPATH="+target)
		return cmd
	}
}

// TestGoMagic runs a Python notebook with %%go cells, and checks their outputs, errors, an interrupt and the variables that
// they exchange.
func TestGoMagic(t *testing.T) {
	python := goMagic(t, "ipykernel", "nbclient", "numpy")
	if out, err := python("internal/e2e/testdata/wheel/magic.py").CombinedOutput(); err != nil {
		t.Errorf("%v\n%s", err, out)
	}
}

// TestGoMagicPage runs the example of docs/python.md, which trains in Go and plots with matplotlib, with each way to install %%go.
func TestGoMagicPage(t *testing.T) {
	modules := []string{"ipykernel", "matplotlib", "nbclient", "numpy"}
	for name, python := range map[string]func(args ...string) *exec.Cmd{
		"pip install halfnote":          goMagic(t, modules...),
		"the wheel of a kernelspec":     wheel(t, jupyter(t, modules...)),
		"halfnote install --sys-prefix": sysPrefix(t, modules...),
	} {
		out, err := python("internal/e2e/testdata/wheel/page.py").Output()
		if want := "5 cells, 1 picture: True [[1.0, -2.0, 0.5]]\n"; err != nil || string(out) != want {
			t.Errorf("%s: got %v\n%s\nwant\n%s", name, err, out, want)
		}
	}
}

// sysPrefix installs the kernel in a new virtual environment that has the modules. It returns a function that makes commands for the environment's Python.
func sysPrefix(t *testing.T, modules ...string) func(args ...string) *exec.Cmd {
	t.Helper()
	jupyter(t, modules...) // or else the test is skipped
	python, env := need(t, "jupyter", "python3"), filepath.Join(t.TempDir(), "env")
	if out, err := exec.Command(python, "-m", "venv", "--without-pip", env).CombinedOutput(); err != nil {
		t.Fatalf("venv: %v\n%s", err, out)
	}
	packages, err := exec.Command(python, "-c", "import site; print(site.getsitepackages()[0], end='')").Output()
	if err != nil {
		t.Fatal(err)
	}
	sites, err := filepath.Glob(filepath.Join(env, "lib", "python3*", "site-packages"))
	if err != nil || len(sites) != 1 {
		t.Fatalf("got %q, %v; want one folder", sites, err)
	}
	if err := os.WriteFile(filepath.Join(sites[0], "modules.pth"), packages, 0o644); err != nil {
		t.Fatal(err)
	}
	t.Setenv("VIRTUAL_ENV", env)
	if text, code := halfnote(t, "install", "--sys-prefix"); code != 0 {
		t.Fatalf("got exit code %d\n%s", code, text)
	}
	return func(args ...string) *exec.Cmd {
		return exec.CommandContext(t.Context(), filepath.Join(env, "bin", "python"), args...)
	}
}

// releasedFor builds the wheel of a platform, as a release does, and returns the path of its program.
func releasedFor(t *testing.T, platform string) (program string) {
	t.Helper()
	dir := t.TempDir()
	if out, err := exec.CommandContext(t.Context(), "go", "run", "./internal/wheel", "-o", dir, platform).CombinedOutput(); err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	wheels, err := filepath.Glob(filepath.Join(dir, "*.whl"))
	if err != nil || len(wheels) != 1 {
		t.Fatalf("got wheels %q, %v; want one", wheels, err)
	}
	z, err := zip.OpenReader(wheels[0])
	if err != nil {
		t.Fatal(err)
	}
	defer z.Close()
	if err := os.CopyFS(filepath.Join(dir, "files"), z); err != nil {
		t.Fatal(err)
	}
	found, err := filepath.Glob(filepath.Join(dir, "files", "*", "data", "share", "jupyter", "kernels", "halfnote", "halfnote*"))
	if err != nil || len(found) != 1 {
		t.Fatalf("got programs %q, %v; want one", found, err)
	}
	return found[0]
}

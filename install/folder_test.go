package install

import (
	"bytes"
	"context"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"slices"
	"testing"

	"halfnote/internal/testenv"
)

// TestFolderRunsNothing runs what starts Python in a folder with a file for every module that could be imported. None may run.
func TestFolderRunsNothing(t *testing.T) {
	if runtime.GOOS == "windows" {
		t.Skip("needs the folders of a Unix environment")
	}
	python := testenv.Python(t)
	cache := t.TempDir()
	env := environment{recipe{name: "lab", what: "pip", packages: []string{"pip"}}, filepath.Join(cache, "lab-1")}
	if out, err := isolated(t.Context(), []string{python}, "-m", "venv", env.dir).CombinedOutput(); err != nil {
		testenv.Missing(t, "jupyter", "needs a Python that makes environments: ", err, string(out))
	}
	if err := os.WriteFile(env.stamp(), nil, 0o644); err != nil {
		t.Fatal(err)
	}
	for _, name := range []string{"UV", "VIRTUAL_ENV", "CONDA_PREFIX", "PYTHONPATH"} {
		t.Setenv(name, "")
	}
	t.Setenv("PYTHON", python)
	t.Setenv("PATH", filepath.Dir(env.python())+string(os.PathListSeparator)+os.Getenv("PATH"))
	jupyter := filepath.Join(filepath.Dir(env.python()), "jupyter")
	if err := os.WriteFile(jupyter, []byte("#!/bin/sh\n"), 0o755); err != nil {
		t.Fatal(err)
	}
	sprung := testenv.Trap(t, python)
	for _, c := range []struct {
		name string
		run  func(context.Context) error
	}{
		{"looking for Python", func(ctx context.Context) error { _, err := findPython(ctx, "the test"); return err }},
		{"the environment of jupyter", func(ctx context.Context) error {
			if siteOf(ctx, jupyter).Packages["pip"] == "" {
				return os.ErrNotExist
			}
			return nil
		}},
		{"install --sys-prefix", func(ctx context.Context) error {
			s, err := here()
			if err == nil {
				_, err = s.sysPrefix(ctx)
			}
			return err
		}},
		{"doctor", func(ctx context.Context) error {
			return Doctor(ctx, &bytes.Buffer{}, DoctorOptions{CacheDir: cache})
		}},
		{"an environment that exists", func(ctx context.Context) error {
			if !env.ready(ctx) {
				return os.ErrNotExist
			}
			return nil
		}},
		{"pip", func(ctx context.Context) error { return runQuietly(env.command(ctx, "-m", "pip", "--version")) }},
		{"a new environment", func(ctx context.Context) error {
			t.Setenv("PIP_NO_INDEX", "1") // it ends with pip's error
			fresh := environment{recipe{name: "lab", what: "nothing", packages: []string{"halfnote_nothing"}, requirements: "halfnote_nothing==1"}, filepath.Join(cache, "lab-2")}
			if err := fresh.make(ctx, &bytes.Buffer{}); err == nil {
				return os.ErrExist
			}
			return nil
		}},
	} {
		if err := c.run(t.Context()); err != nil {
			t.Errorf("%s: %v", c.name, err)
		}
		if names := sprung(); len(names) > 0 {
			t.Errorf("%s: got modules of the working folder %q, want none", c.name, names)
		}
	}
}

// TestPackageRunsNothing runs a real JupyterLab in such a folder, and the parts of the wheel that Python programs import, with the folder
// first in the path of Python, where IPython puts it.
func TestPackageRunsNothing(t *testing.T) {
	python := testenv.Python(t)
	if err := exec.Command(python, "-I", "-c", "import jupyterlab, IPython").Run(); err != nil {
		testenv.Missing(t, "jupyter", "needs JupyterLab: ", err)
	}
	own, err := filepath.Abs("jupyter")
	if err != nil {
		t.Fatal(err)
	}
	sprung := testenv.Trap(t, python)
	const path = "import sys; sys.path[:0] = ['', sys.argv[1]]; import halfnote; "
	for _, args := range [][]string{
		{"-m", "jupyterlab", "--version"},
		{"-c", path + "halfnote.program = lambda: '/usr/bin/true'; halfnote.main()", own},
		{"-c", path + "shell = type('Shell', (), {'register_magics': print}); halfnote.load_ipython_extension(shell)", own},
		{"-c", "import IPython.core.magic, jupyter_client; " + path + "halfnote.load_ipython_extension(type('Shell', (), {'register_magics': print})); import halfnote.magic; halfnote.magic.imported('x', {'application/json': 1}, 'none')", own},
	} {
		cmd := isolated(t.Context(), []string{python, "-B"}, args...) // the folder of the sources stays as it is
		out, err := cmd.CombinedOutput()
		if names := sprung(); err != nil || len(names) > 0 {
			t.Errorf("%q: got modules of the working folder %q, %v, want none\n%s", args, names, err, out)
		}
	}
}

func TestFromHere(t *testing.T) {
	dir := t.TempDir()
	t.Chdir(dir)
	if err := os.WriteFile("key.pem", nil, 0o644); err != nil {
		t.Fatal(err)
	}
	here, err := os.Getwd()
	if err != nil {
		t.Fatal(err)
	}
	own := filepath.Join(here, "key.pem")
	got := fromHere([]string{"--keyfile=key.pem", "--keyfile", "key.pem", "none.ipynb", "--ip=::1", "-y", ""})
	want := []string{"--keyfile=" + own, "--keyfile", own, "none.ipynb", "--ip=::1", "-y", ""}
	if !slices.Equal(got, want) {
		t.Errorf("got %q, want %q", got, want)
	}
}

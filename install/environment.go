package install

import (
	"bytes"
	"cmp"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"
	"time"

	"github.com/gofrs/flock"
)

// recipe describes a virtual environment.
type recipe struct {
	name         string   // name of the command that needs it; the folder's name begins with it
	what         string   // its contents, for messages
	packages     []string // modules that it must have
	requirements string   // pip's list of all packages, with versions and checksums
	cost         string   // time and disk space, for messages
	instead      string   // an alternative, for messages
}

// imports returns a Python program that fails if a package is missing.
func (r recipe) imports() string { return "import " + strings.Join(r.packages, ", ") }

// environment is a virtual environment made by a recipe.
type environment struct {
	recipe
	dir string
}

// in returns the environment that the recipe describes, which may not exist yet.
func (r recipe) in(cacheDir string) (environment, error) {
	cacheDir = cmp.Or(cacheDir, os.Getenv("HALFNOTE_LAB_CACHE"))
	if cacheDir == "" {
		user, err := os.UserCacheDir()
		if err != nil {
			return environment{}, fmt.Errorf("install: the cache folder: %w", err)
		}
		cacheDir = filepath.Join(user, "halfnote")
	}
	cacheDir, err := filepath.Abs(cacheDir)
	sum := sha256.Sum256([]byte(r.requirements))
	return environment{r, filepath.Join(cacheDir, r.name+"-"+hex.EncodeToString(sum[:5]))}, err
}

// prepare makes the environment if it does not exist. Other processes that prepare the same
// environment wait until it is complete.
func (e environment) prepare(ctx context.Context, progress io.Writer) error {
	if err := os.MkdirAll(filepath.Dir(e.dir), 0o755); err != nil {
		return fmt.Errorf("install: %s: %w", e.name, err)
	}
	lock := flock.New(e.dir + ".lock")
	waited := remind(progress, patience, func() string { return "Waiting for another process that makes the environment " + e.dir + " …" })
	_, err := lock.TryLockContext(ctx, 200*time.Millisecond)
	if waited(); err != nil {
		return e.failed(ctx, fmt.Errorf("install: %s: lock %s: %w", e.name, lock.Path(), err))
	}
	defer lock.Unlock()
	if e.ready(ctx) {
		return nil
	}
	return e.make(ctx, progress)
}

// stamp returns the path of the file that is written last. An environment without it is
// incomplete.
func (e environment) stamp() string { return filepath.Join(e.dir, "complete") }

func (e environment) python() string {
	if runtime.GOOS == "windows" {
		return filepath.Join(e.dir, "Scripts", "python.exe")
	}
	return filepath.Join(e.dir, "bin", "python")
}

// ready reports whether the environment is complete and still works: its base Python may
// have been removed.
func (e environment) ready(ctx context.Context) bool {
	if _, err := os.Stat(e.stamp()); err != nil {
		return false
	}
	return e.command(ctx, "-c", e.imports()).Run() == nil
}

// command returns a command of the environment's Python that ignores the user's Python
// variables, for what it starts too, and runs in the cache folder.
func (e environment) command(ctx context.Context, args ...string) *exec.Cmd {
	cmd := isolated(ctx, []string{e.python()}, args...)
	cmd.Dir = filepath.Dir(e.dir)
	for _, v := range os.Environ() {
		switch name, _, _ := strings.Cut(v, "="); name {
		case "PYTHONPATH", "PYTHONHOME", "PYTHONSTARTUP", "VIRTUAL_ENV", "JUPYTER_TOKEN":
		default:
			cmd.Env = append(cmd.Env, v)
		}
	}
	cmd.Env = append(cmd.Env, "PYTHONNOUSERSITE=1", "VIRTUAL_ENV="+e.dir)
	return cmd
}

// make builds the environment, after removing an incomplete one.
func (e environment) make(ctx context.Context, progress io.Writer) (err error) {
	py, err := findPython(ctx, e.what)
	if err != nil {
		return fmt.Errorf("%w; %s", err, e.instead)
	}
	fmt.Fprintf(progress, "Making a private Python environment with %s in %s (once; %s).\n", e.what, e.dir, e.cost)
	if err := os.RemoveAll(e.dir); err != nil {
		return fmt.Errorf("install: %s: %w", e.name, err)
	}
	defer func() {
		if err != nil {
			os.RemoveAll(e.dir)
		}
	}()
	packages := newInstaller(e.requirements)
	installed := remind(progress, patience, func() string { return packages.stage(e.what, e.dir) })
	defer installed()
	if err := e.install(ctx, py, packages); err != nil {
		return err
	}
	if err := e.command(ctx, "-c", e.imports()).Run(); err != nil {
		return e.failed(ctx, fmt.Errorf("install: %s: the new environment cannot import %s: %w", e.name, strings.Join(e.packages, " and "), err))
	}
	if err := os.WriteFile(e.stamp(), []byte("Python "+py.Version+"\n"), 0o644); err != nil {
		return fmt.Errorf("install: %s: %w", e.name, err)
	}
	return nil
}

// install makes the environment's folder and installs the packages: with uv if it can be found, which takes half the time,
// or else with Python's own modules. Both refuse a file whose checksum is not in the list.
func (e environment) install(ctx context.Context, py python, progress io.Writer) error {
	list := e.dir + ".txt"
	if err := os.WriteFile(list, []byte(e.requirements), 0o644); err != nil {
		return fmt.Errorf("install: %s: %w", e.name, err)
	}
	defer os.Remove(list)
	if uv := findUV(); uv != "" {
		// uv would follow a uv.toml or a pyproject.toml of the working folder to another index.
		venv, install := exec.CommandContext(ctx, uv, "venv", "--quiet", "--python", py.Path, e.dir),
			exec.CommandContext(ctx, uv, "pip", "install", "--python", e.python(), "--require-hashes", "--requirement", list)
		venv.Dir, install.Dir = filepath.Dir(e.dir), filepath.Dir(e.dir)
		if runQuietly(venv) == nil && runLogged(install, progress) == nil {
			return nil
		}
		if err := os.RemoveAll(e.dir); err != nil { // pip may know another index, and reports what is wrong
			return fmt.Errorf("install: %s: %w", e.name, err)
		}
	}
	venv := isolated(ctx, []string{py.Path}, "-m", "venv", e.dir)
	venv.Dir = filepath.Dir(e.dir)
	if err := runQuietly(venv); err != nil {
		return e.failed(ctx, fmt.Errorf("install: %s: python -m venv: %w; %s", e.name, err, packageManager().venv))
	}
	pip := e.command(ctx, "-m", "pip", "install", "--disable-pip-version-check", "--no-input", "--require-hashes", "--requirement", list)
	if err := runLogged(pip, progress); err != nil {
		return e.failed(ctx, fmt.Errorf("install: %s: pip could not install %s: %w\nThis needs a network: pip asks PyPI, or the index in PIP_INDEX_URL, through the proxy in HTTPS_PROXY. Nothing was kept", e.name, e.what, err))
	}
	return nil
}

// findUV returns the path of uv, which names itself to the programs that it runs in the variable UV, or "".
func findUV() string {
	if uv := os.Getenv("UV"); filepath.IsAbs(uv) {
		return uv
	}
	uv, err := exec.LookPath("uv")
	if err != nil {
		return ""
	}
	return uv
}

// failed returns the reason why ctx ended, or err if it has not.
func (e environment) failed(ctx context.Context, err error) error {
	if ctx.Err() != nil {
		return errors.New("install: " + e.name + ": interrupted; nothing was kept")
	}
	return err
}

// runQuietly runs a command. Its error contains the last lines that the command printed.
func runQuietly(cmd *exec.Cmd) error { return runLogged(cmd, io.Discard) }

// runLogged is [runQuietly] for a command whose output also goes to a log.
func runLogged(cmd *exec.Cmd, log io.Writer) error {
	endWithParent(cmd)
	var all bytes.Buffer
	cmd.Stdout = io.MultiWriter(&all, log)
	cmd.Stderr = cmd.Stdout
	err := cmd.Run()
	out := all.Bytes()
	if err == nil {
		return nil
	}
	lines := strings.Split(strings.TrimSpace(string(out)), "\n")
	if len(lines) > 12 {
		lines = append([]string{"…"}, lines[len(lines)-12:]...)
	}
	return fmt.Errorf("%w\n%s", err, strings.Join(lines, "\n"))
}

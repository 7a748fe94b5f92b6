package install

import (
	"context"
	"crypto/sha256"
	_ "embed"
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

// constraints pin JupyterLab and all that it needs, so that every user gets the
// environment that was tested: the file says how it is made.
//
//go:embed lab-constraints.txt
var constraints string

// LabOptions say how [Lab] runs.
type LabOptions struct {
	Port      int      // of the server; taken ports make it try the next ones; 0 for Jupyter's 8888
	NoBrowser bool     // only print the address
	Engine    string   // what executes cells; default the program's own
	Dir       string   // the folder to open; default the current one
	Args      []string // more arguments for jupyter lab
	Binary    string   // the kernel's program; default this very one
	Version   string   // of the program, kept in the kernelspec's metadata
	CacheDir  string   // where the environment is kept; default the user's cache folder
	Stdout    io.Writer
	Stderr    io.Writer
}

// Lab runs JupyterLab with the kernel in it until ctx ends, which is a clean
// end. The first time it makes a private Python environment in the user's cache
// folder, which takes a network; nothing is left there when that fails. It has the
// extension that draws widgets, prebuilt, and Python's own is not needed for it. It needs
// Python 3.10 or newer, and its error says how to get it.
func Lab(ctx context.Context, o LabOptions) error {
	if o.Stdout == nil {
		o.Stdout = io.Discard
	}
	if o.Stderr == nil {
		o.Stderr = io.Discard
	}
	if o.Dir == "" {
		o.Dir = "."
	}
	dir, err := filepath.Abs(o.Dir)
	if err != nil {
		return fmt.Errorf("install: %w", err)
	}
	if info, err := os.Stat(dir); err != nil || !info.IsDir() {
		return fmt.Errorf("install: lab: %s is no folder, want the folder of the notebooks", dir)
	}
	env, err := labEnv(o.CacheDir)
	if err != nil {
		return err
	}
	if err := env.prepare(ctx, o); err != nil {
		return err
	}
	data, remove, err := env.ownKernel(o)
	if err != nil {
		return err
	}
	defer remove()
	return env.serve(ctx, dir, data, o)
}

// prepare makes the environment if it is not there. Others who want the same wait until
// it is done.
func (e environment) prepare(ctx context.Context, o LabOptions) error {
	if err := os.MkdirAll(filepath.Dir(e.dir), 0o755); err != nil {
		return fmt.Errorf("install: lab: %w", err)
	}
	lock := flock.New(e.dir + ".lock")
	if _, err := lock.TryLockContext(ctx, 200*time.Millisecond); err != nil {
		return e.failed(ctx, fmt.Errorf("install: lab: lock %s: %w", lock.Path(), err))
	}
	defer lock.Unlock()
	if !e.ready(ctx) {
		if err := e.make(ctx, o.Stdout); err != nil {
			return err
		}
	}
	return e.quiet()
}

// ownKernel puts the kernel into a folder of its own, so that programs of several versions
// can use the environment at a time, and returns that folder, for JUPYTER_PATH. What runs
// that were killed have left is removed.
func (e environment) ownKernel(o LabOptions) (data string, remove func(), err error) {
	old, _ := filepath.Glob(filepath.Join(e.dir, "run-*.lock"))
	for _, path := range old {
		lock := flock.New(path)
		if ok, err := lock.TryLock(); err == nil && ok {
			os.RemoveAll(strings.TrimSuffix(path, ".lock"))
			lock.Unlock()
			os.Remove(path)
		}
	}
	prefix, err := os.MkdirTemp(e.dir, "run-")
	if err != nil {
		return "", nil, fmt.Errorf("install: lab: %w", err)
	}
	lock := flock.New(prefix + ".lock")
	remove = func() {
		os.RemoveAll(prefix)
		lock.Unlock()
		os.Remove(lock.Path())
	}
	if _, err = lock.TryLock(); err == nil {
		_, err = Install(Options{Prefix: prefix, Name: "halfnote", Engine: o.Engine, Binary: o.Binary, Version: o.Version})
	}
	if err != nil {
		remove()
		return "", nil, err
	}
	return shareJupyter(prefix), remove, nil
}

// overrides are the settings in which the private JupyterLab differs: it asks
// nobody on the network for news or updates.
const overrides = `{"@jupyterlab/apputils-extension:notification": {"fetchNews": "false", "checkForUpdates": false}}
`

// quiet writes the overrides.
func (e environment) quiet() error {
	dir := filepath.Join(e.dir, "share", "jupyter", "lab", "settings")
	if err := os.MkdirAll(dir, 0o755); err != nil {
		return fmt.Errorf("install: lab: %w", err)
	}
	if err := os.WriteFile(filepath.Join(dir, "overrides.json"), []byte(overrides), 0o644); err != nil {
		return fmt.Errorf("install: lab: %w", err)
	}
	return nil
}

// environment is a virtual environment with JupyterLab in it.
type environment struct{ dir string }

// labEnv is the environment of these constraints, made or not.
func labEnv(cacheDir string) (environment, error) {
	if cacheDir == "" {
		user, err := os.UserCacheDir()
		if err != nil {
			return environment{}, fmt.Errorf("install: the cache folder: %w", err)
		}
		cacheDir = filepath.Join(user, "halfnote")
	}
	cacheDir, err := filepath.Abs(cacheDir)
	sum := sha256.Sum256([]byte(constraints))
	return environment{filepath.Join(cacheDir, "lab-"+hex.EncodeToString(sum[:5]))}, err
}

// stamp is written last; without it an environment is broken.
func (e environment) stamp() string { return filepath.Join(e.dir, "complete") }

func (e environment) python() string {
	if runtime.GOOS == "windows" {
		return filepath.Join(e.dir, "Scripts", "python.exe")
	}
	return filepath.Join(e.dir, "bin", "python")
}

// ready reports whether the environment is complete and still runs: its base
// Python may be gone.
func (e environment) ready(ctx context.Context) bool {
	if _, err := os.Stat(e.stamp()); err != nil {
		return false
	}
	return e.command(ctx, "-c", "import jupyterlab, jupyterlab_widgets").Run() == nil
}

// command runs the environment's Python, free of what the user's surroundings
// would add to it.
func (e environment) command(ctx context.Context, args ...string) *exec.Cmd {
	cmd := exec.CommandContext(ctx, e.python(), args...)
	for _, v := range os.Environ() {
		switch name, _, _ := strings.Cut(v, "="); name {
		case "PYTHONPATH", "PYTHONHOME", "PYTHONSTARTUP", "VIRTUAL_ENV":
		default:
			cmd.Env = append(cmd.Env, v)
		}
	}
	cmd.Env = append(cmd.Env, "PYTHONNOUSERSITE=1", "VIRTUAL_ENV="+e.dir)
	return cmd
}

// make builds the environment anew.
func (e environment) make(ctx context.Context, progress io.Writer) (err error) {
	py, err := findPython(ctx)
	if err != nil {
		return fmt.Errorf("%w; `halfnote run NOTEBOOK` needs no Python", err)
	}
	fmt.Fprintf(progress, "Making a private Python environment with JupyterLab in %s (once; about a minute and 250 MB).\n", e.dir)
	if err := os.RemoveAll(e.dir); err != nil {
		return fmt.Errorf("install: lab: %w", err)
	}
	defer func() {
		if err != nil {
			os.RemoveAll(e.dir)
		}
	}()
	if err := runQuietly(exec.CommandContext(ctx, py.Path, "-m", "venv", e.dir)); err != nil {
		return e.failed(ctx, fmt.Errorf("install: lab: python -m venv: %w; %s", err, packageManager().venv))
	}
	list := filepath.Join(e.dir, "constraints.txt")
	if err := os.WriteFile(list, []byte(constraints), 0o644); err != nil {
		return fmt.Errorf("install: lab: %w", err)
	}
	pip := e.command(ctx, "-m", "pip", "install", "--quiet", "--disable-pip-version-check", "--no-input", "--constraint", list, "jupyterlab", "jupyterlab_widgets")
	if err := runQuietly(pip); err != nil {
		return e.failed(ctx, fmt.Errorf("install: lab: pip could not install JupyterLab: %w\nThis needs a network: pip asks PyPI, or the index in PIP_INDEX_URL, through the proxy in HTTPS_PROXY. Nothing was kept", err))
	}
	if err := e.command(ctx, "-c", "import jupyterlab, jupyterlab_widgets").Run(); err != nil {
		return e.failed(ctx, fmt.Errorf("install: lab: the new environment cannot import jupyterlab and jupyterlab_widgets: %w", err))
	}
	if err := os.WriteFile(e.stamp(), []byte("Python "+py.Version+"\n"), 0o644); err != nil {
		return fmt.Errorf("install: lab: %w", err)
	}
	return nil
}

// failed prefers the reason why ctx ended to what that broke.
func (e environment) failed(ctx context.Context, err error) error {
	if ctx.Err() != nil {
		return errors.New("install: lab: interrupted; nothing was kept")
	}
	return err
}

// runQuietly runs a command; its error holds the last lines that it printed.
func runQuietly(cmd *exec.Cmd) error {
	endWithParent(cmd)
	out, err := cmd.CombinedOutput()
	if err == nil {
		return nil
	}
	lines := strings.Split(strings.TrimSpace(string(out)), "\n")
	if len(lines) > 12 {
		lines = append([]string{"…"}, lines[len(lines)-12:]...)
	}
	return fmt.Errorf("%w\n%s", err, strings.Join(lines, "\n"))
}

package install

import (
	"cmp"
	"context"
	_ "embed"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"
	"time"

	"github.com/gofrs/flock"
)

// The requirements pin JupyterLab and its dependencies with their checksums, so that every user gets the
// environment that was tested. A comment in lab-constraints.txt says where the versions come from.
//
//go:generate go run ./pin
//go:embed zlab.txt
var labRequirements string

var labRecipe = recipe{
	name: "lab", what: "JupyterLab", packages: []string{"jupyterlab", "jupyterlab_widgets"}, requirements: labRequirements,
	cost: "about a minute and 250 MB", instead: "`halfnote run NOTEBOOK` needs no Python",
}

// LabOptions are the settings of [Lab].
type LabOptions struct {
	Port      int    // port of the server, or the next free one; 0 is Jupyter's 8888
	NoBrowser bool   // whether to print the address without opening a browser
	Engine    string // interpreter of cells; default that of the program
	Second    string // engine of a second kernel; "" for none
	Ranks     int    // number of processes that run each cell; 0 means 1
	Launcher  string // command that starts several ranks; "" means mpiexec
	Dir       string // folder to open; default the current one
	// Idle is how long a kernel stays that runs no cell and that no page shows. The history keeps its cells and their outputs. 0 is for ever.
	Idle     time.Duration
	Args     []string // more arguments for jupyter lab
	Binary   string   // program of the kernel; default the running one
	Version  string   // version of the program, kept in the kernelspec's metadata
	CacheDir string   // folder of the environment; default $HALFNOTE_LAB_CACHE or else the user's cache folder
	Stdout   io.Writer
	Stderr   io.Writer
}

// Lab runs JupyterLab with the kernel until ctx ends, which is not an error. The first
// time it makes a private Python environment in the cache folder, which needs a network;
// a failure leaves no files behind. The environment includes the prebuilt extension that
// draws widgets. Lab needs Python 3.10 or newer; its error says how to install it.
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
		return fmt.Errorf("install: lab: %s is not a folder, want the folder of the notebooks", dir)
	}
	env, err := labRecipe.in(o.CacheDir)
	if err != nil {
		return err
	}
	if err := env.prepare(ctx, o.Stdout); err != nil {
		return err
	}
	started := remind(o.Stdout, patience, func() string { return "Starting JupyterLab …" })
	defer started()
	fmt.Fprintf(o.Stdout, "Starting JupyterLab in %s with the environment %s.\n", dir, env.dir)
	if err := env.writeSettings(); err != nil {
		return err
	}
	if err := unpackWheel(env.dir, cmp.Or(o.Version, "0")); err != nil {
		return err
	}
	// The environment's own Python kernel is not for notebooks: it lacks the packages that they would import.
	if err := os.RemoveAll(filepath.Join(env.dir, "share", "jupyter", "kernels", "python3")); err != nil {
		return fmt.Errorf("install: lab: %w", err)
	}
	data, remove, err := env.ownKernel(o)
	if err != nil {
		return err
	}
	defer remove()
	return env.serve(ctx, dir, data, o, started)
}

// ownKernel installs the kernel in a new folder, so that several versions of the program
// can share the environment. It returns the folder, for JUPYTER_PATH, and removes folders
// that killed processes have left behind.
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
		_, err = Install(Options{Prefix: prefix, Name: "halfnote", Engine: o.Engine, Second: o.Second, Ranks: o.Ranks, Launcher: o.Launcher, Binary: o.Binary, Version: o.Version})
	}
	if err != nil {
		remove()
		return "", nil, err
	}
	return shareJupyter(prefix), remove, nil
}

// overrides are the settings of the private JupyterLab. They prevent it from fetching news
// or checking for updates, show the signature and the comment of a completion next to the list,
// and save the states of widgets, so that they are drawn without a kernel.
const overrides = `{
	"@jupyterlab/apputils-extension:notification": {"fetchNews": "false", "checkForUpdates": false},
	"@jupyterlab/completer-extension:manager": {"showDocumentationPanel": true},
	"@jupyter-widgets/jupyterlab-manager:plugin": {"saveState": true}
}
`

//go:embed lab_server_config.py
var serverConfig string

// style is a style sheet for the private JupyterLab, whose own breaks lines of text inside words and shows comments in the dark
// theme with a contrast of 4.2:1.
const style = `body .jp-OutputArea-output pre { word-break: normal; overflow-wrap: anywhere; }
body[data-jp-theme-light="false"] { --jp-mirror-editor-comment-color: #5fa8a8; }
`

// writeSettings writes the settings of the private JupyterLab and of its server.
func (e environment) writeSettings() error {
	for name, text := range map[string]string{
		"share/jupyter/lab/settings/overrides.json": overrides,
		"etc/jupyter/jupyter_server_config.py":      serverConfig,
		configDir + "/custom/custom.css":            style,
	} {
		path := filepath.Join(e.dir, filepath.FromSlash(name))
		if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
			return fmt.Errorf("install: lab: %w", err)
		}
		if err := os.WriteFile(path, []byte(text), 0o644); err != nil {
			return fmt.Errorf("install: lab: %w", err)
		}
	}
	return nil
}

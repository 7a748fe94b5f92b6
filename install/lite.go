package install

import (
	"context"
	"embed"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"os"
	"path/filepath"
	"strconv"
	"time"
)

// liteExtension is the extension of JupyterLite that starts the kernel in a worker of the page.
//
//go:embed lite/package.json lite/static
var liteExtension embed.FS

//go:embed lite/service-worker.js
var liteServiceWorker []byte

//go:embed zlite.txt
var liteRequirements string

var liteRecipe = recipe{
	name: "lite", what: "JupyterLite", packages: []string{"jupyterlite_core", "jupyter_server", "jupyterlab_widgets", "zstandard"}, requirements: liteRequirements,
	cost: "half a minute and 60 MB", instead: "`halfnote site` writes pages to read without Python",
}

// LiteOptions are the settings of [Lite].
type LiteOptions struct {
	Output   string // folder of the site
	Contents string // folder of the notebooks that it shows
	CacheDir string // folder of the environment; default $HALFNOTE_LAB_CACHE or else the user's cache folder
	Progress io.Writer
}

// Lite writes a site of static files in which JupyterLite runs the notebooks, with the kernel compiled to WebAssembly in a worker of the page: its readers
// install nothing, and a server has nothing to run. It needs Go, the sources that this program was built from, and Python 3.10 or newer. An
// output folder that has files must be one that Lite has written.
func Lite(ctx context.Context, o LiteOptions) error {
	if files, err := os.ReadDir(o.Output); err == nil && len(files) > 0 {
		if _, err := os.Stat(filepath.Join(o.Output, "jupyter-lite.json")); err != nil {
			return fmt.Errorf("install: lite: %s has files, but is not a site of JupyterLite; want a new folder", o.Output)
		}
	}
	root, err := sources()
	if err != nil {
		return fmt.Errorf("install: lite: the program for the browser is built from this one's sources: %w", err)
	}
	output, err := filepath.Abs(o.Output)
	if err != nil {
		return fmt.Errorf("install: lite: %w", err)
	}
	contents, err := filepath.Abs(o.Contents)
	if err != nil {
		return fmt.Errorf("install: lite: %w", err)
	}
	env, err := liteRecipe.in(o.CacheDir)
	if err != nil {
		return err
	}
	if err := env.prepare(ctx, o.Progress); err != nil {
		return err
	}
	dir, err := os.MkdirTemp("", "halfnote-lite-")
	if err != nil {
		return fmt.Errorf("install: lite: %w", err)
	}
	defer os.RemoveAll(dir)
	extensions, site := filepath.Join(dir, "extensions"), filepath.Join(dir, "site")
	fmt.Fprintln(o.Progress, "Building the kernel for the browser (a minute the first time).")
	if err := env.writeLiteExtension(ctx, root, filepath.Join(extensions, "halfnote-lite")); err != nil {
		return fmt.Errorf("install: lite: %w", err)
	}
	if err := writeLiteSettings(site); err != nil {
		return fmt.Errorf("install: lite: %w", err)
	}
	build := env.command(ctx, "-m", "jupyterlite_core", "build", "--lite-dir", site, "--contents", contents, "--output-dir", output,
		"--FederatedExtensionAddon.extra_labextensions_path="+extensions)
	if err := runQuietly(build); err != nil {
		return env.failed(ctx, fmt.Errorf("install: lite: jupyter lite build: %w", err))
	}
	worker := filepath.Join(output, "service-worker.js")
	if err := errors.Join(os.Rename(worker, filepath.Join(output, "jupyterlite-service-worker.js")), os.WriteFile(worker, liteServiceWorker, 0o644)); err != nil {
		return fmt.Errorf("install: lite: %w", err)
	}
	return nil
}

// writeLiteSettings writes what a site says of itself.
func writeLiteSettings(dir string) error {
	config, err := json.MarshalIndent(map[string]any{
		"jupyter-lite-schema-version": 0,
		"jupyter-config-data":         map[string]any{"appName": "halfnote", "defaultKernelName": "halfnote"},
	}, "", "  ")
	if err != nil {
		return err
	}
	if err := os.MkdirAll(dir, 0o755); err != nil {
		return err
	}
	if err := os.WriteFile(filepath.Join(dir, "jupyter-lite.json"), append(config, '\n'), 0o644); err != nil {
		return err
	}
	return os.WriteFile(filepath.Join(dir, "overrides.json"), []byte(overrides), 0o644)
}

// ServeSite serves the files of a folder on the loopback interface until ctx ends, which is not an error. ready gets the address. Port 0 is chosen by the system.
func ServeSite(ctx context.Context, dir string, port int, ready func(url string)) error {
	l, err := net.Listen("tcp", net.JoinHostPort("127.0.0.1", strconv.Itoa(port)))
	if err != nil {
		return fmt.Errorf("install: %w", err)
	}
	s := &http.Server{Handler: http.FileServer(http.Dir(dir)), ReadHeaderTimeout: 10 * time.Second}
	stop := context.AfterFunc(ctx, func() { s.Close() })
	defer stop()
	ready("http://" + l.Addr().String() + "/")
	if err := s.Serve(l); err != nil && !errors.Is(err, http.ErrServerClosed) {
		return fmt.Errorf("install: %w", err)
	}
	return nil
}

package install

import (
	"compress/gzip"
	"context"
	"embed"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"net"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"time"
)

// liteExtension is the extension of JupyterLite that starts the kernel in a worker of the page.
//
//go:embed lite
var liteExtension embed.FS

//go:embed zlite.txt
var liteRequirements string

var liteRecipe = recipe{
	name: "lite", what: "JupyterLite", packages: []string{"jupyterlite_core", "jupyter_server", "jupyterlab_widgets"}, requirements: liteRequirements,
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
	if err := writeLiteExtension(ctx, root, filepath.Join(extensions, "halfnote-lite")); err != nil {
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
	return nil
}

// writeLiteExtension writes the extension with the program of the kernel.
func writeLiteExtension(ctx context.Context, root, dir string) error {
	files, err := fs.Sub(liteExtension, "lite")
	if err != nil {
		return err
	}
	if err := os.CopyFS(dir, files); err != nil {
		return err
	}
	static := filepath.Join(dir, "static")
	goroot, err := exec.CommandContext(ctx, "go", "env", "GOROOT").Output()
	if err != nil {
		return fmt.Errorf("the go command, which builds the kernel: %w", err)
	}
	glue, err := os.ReadFile(filepath.Join(strings.TrimSpace(string(goroot)), "lib", "wasm", "wasm_exec.js"))
	if err != nil {
		return err
	}
	if err := os.WriteFile(filepath.Join(static, "wasm_exec.js"), glue, 0o644); err != nil {
		return err
	}
	program := filepath.Join(dir, "halfnote.wasm")
	if err := BuildLite(ctx, root, program); err != nil {
		return err
	}
	defer os.Remove(program)
	return compress(program, filepath.Join(static, "halfnote.wasm.gz"))
}

// liberation are the packages of fonts that gonum/plot embeds, 4 MB. Charts take the font of package chart, so the program of a page has that one in their place.
var liberation = []string{
	"monobold", "monobolditalic", "monoitalic", "monoregular", "sansbold", "sansbolditalic", "sansitalic", "sansregular",
	"serifbold", "serifbolditalic", "serifitalic", "serifregular",
}

// BuildLite writes the program of a page, from the sources in root. With the tag minimal, gonum/plot has no writers of PDF and EPS.
func BuildLite(ctx context.Context, root, program string) error {
	dir, err := os.MkdirTemp("", "halfnote-lite-")
	if err != nil {
		return err
	}
	defer os.RemoveAll(dir)
	mod, err := os.ReadFile(filepath.Join(root, "go.mod"))
	if err != nil {
		return err
	}
	sum, err := os.ReadFile(filepath.Join(root, "go.sum"))
	if err != nil {
		return err
	}
	const module = "codeberg.org/go-fonts/liberation"
	fonts := filepath.Join(dir, "liberation")
	files := map[string]string{
		filepath.Join(dir, "lite.mod"): fmt.Sprintf("%s\nreplace %s => %q\n", mod, module, fonts),
		filepath.Join(dir, "lite.sum"): string(sum),
		filepath.Join(fonts, "go.mod"): "module " + module + "\n\ngo 1.26\n",
	}
	for _, name := range liberation {
		name = "liberation" + name
		files[filepath.Join(fonts, name, "font.go")] = fmt.Sprintf("package %s\n\nimport \"codeberg.org/go-fonts/dejavu/dejavusans\"\n\nvar TTF = dejavusans.TTF\n", name)
	}
	for file, text := range files {
		if err := errors.Join(os.MkdirAll(filepath.Dir(file), 0o755), os.WriteFile(file, []byte(text), 0o644)); err != nil {
			return err
		}
	}
	build := exec.CommandContext(ctx, "go", "build", "-trimpath", "-tags=minimal", "-ldflags=-s -w", "-modfile="+filepath.Join(dir, "lite.mod"), "-o", program, "./internal/lite")
	build.Dir = root
	build.Env = append(os.Environ(), "GOOS=js", "GOARCH=wasm", "CGO_ENABLED=0", "GOFLAGS=", "GOWORK=off")
	if err := runQuietly(build); err != nil {
		return fmt.Errorf("go build: %w", err)
	}
	return nil
}

// compress writes a file in gzip's format, which browsers can unpack.
func compress(from, to string) error {
	in, err := os.Open(from)
	if err != nil {
		return err
	}
	defer in.Close()
	out, err := os.Create(to)
	if err != nil {
		return err
	}
	defer out.Close()
	z, err := gzip.NewWriterLevel(out, gzip.BestCompression)
	if err != nil {
		return err
	}
	if _, err := io.Copy(z, in); err != nil {
		return err
	}
	return errors.Join(z.Close(), out.Close())
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

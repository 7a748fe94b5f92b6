package install

import (
	"archive/tar"
	"bytes"
	"compress/gzip"
	"context"
	"crypto/sha256"
	"embed"
	"encoding/hex"
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
	if err := os.Rename(worker, filepath.Join(output, "jupyterlite-service-worker.js")); err != nil {
		return fmt.Errorf("install: lite: %w", err)
	}
	if err := os.WriteFile(worker, liteServiceWorker, 0o644); err != nil {
		return fmt.Errorf("install: lite: %w", err)
	}
	return nil
}

// writeLiteExtension writes the extension with the program of the kernel.
func (e environment) writeLiteExtension(ctx context.Context, root, dir string) error {
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
	if err := runQuietly(e.command(ctx, "-c", compressor, program, filepath.Join(static, "halfnote.wasm.zst"))); err != nil {
		return fmt.Errorf("zstandard: %w", err)
	}
	unpack, err := e.unpacker(ctx)
	if err != nil {
		return err
	}
	if err := os.WriteFile(filepath.Join(static, "fzstd.js"), unpack, 0o644); err != nil {
		return err
	}
	return copyDocs(filepath.Join(root, "interp", "internal", "exports"), filepath.Join(static, "data"))
}

// compressor is a script that compresses a file. Zstandard leaves a fifth less of the program than gzip. Level 19 has a window that the unpacker can keep.
const compressor = `import shutil, sys, zstandard
with open(sys.argv[1], "rb") as plain, open(sys.argv[2], "wb") as packed:
    zstandard.ZstdCompressor(level=19, threads=-1).copy_stream(plain, packed)`

// unpackerPackage is the npm package that unpacks Zstandard in a browser, and unpackerSum the checksum of its archive.
const (
	unpackerPackage = "https://registry.npmjs.org/fzstd/-/fzstd-0.1.1.tgz"
	unpackerSum     = "5ed2ee2d3439067be211d0093292c708a831045372342c897437e5a4997c45c5"
)

// unpacker returns the script of unpackerPackage, behind its licence. The environment keeps it.
func (e environment) unpacker(ctx context.Context) ([]byte, error) {
	kept := filepath.Join(e.dir, "fzstd.js")
	if script, err := os.ReadFile(kept); err == nil {
		return script, nil
	}
	request, err := http.NewRequestWithContext(ctx, http.MethodGet, unpackerPackage, nil)
	if err != nil {
		return nil, err
	}
	response, err := http.DefaultClient.Do(request)
	if err != nil {
		return nil, err
	}
	defer response.Body.Close()
	archive, err := io.ReadAll(io.LimitReader(response.Body, 1<<20))
	if err != nil {
		return nil, fmt.Errorf("%s: %w", unpackerPackage, err)
	}
	if sum := sha256.Sum256(archive); response.StatusCode != http.StatusOK || hex.EncodeToString(sum[:]) != unpackerSum {
		return nil, fmt.Errorf("%s: status %s and checksum %x, want %s", unpackerPackage, response.Status, sum, unpackerSum)
	}
	packed, err := gzip.NewReader(bytes.NewReader(archive))
	if err != nil {
		return nil, err
	}
	parts := map[string][]byte{}
	files := tar.NewReader(packed)
	for h, err := files.Next(); !errors.Is(err, io.EOF); h, err = files.Next() {
		if err != nil {
			return nil, err
		}
		if parts[h.Name], err = io.ReadAll(files); err != nil {
			return nil, err
		}
	}
	script := fmt.Appendf(nil, "/*! %s\n\n%s*/\n%s", unpackerPackage, parts["package/LICENSE"], parts["package/umd/index.js"])
	return script, os.WriteFile(kept, script, 0o644)
}

// copyDocs copies the texts of declarations, which the program of a page reads from its site. Their names there do not end with .gz, because a server would unpack them.
func copyDocs(from, to string) error {
	return filepath.WalkDir(filepath.Join(from, "z"), func(file string, e fs.DirEntry, err error) error {
		if err != nil || e.IsDir() || !strings.Contains(e.Name(), ".docs.") {
			return err
		}
		name, err := filepath.Rel(from, file)
		if err != nil {
			return err
		}
		text, err := os.ReadFile(file)
		if err != nil {
			return err
		}
		name = filepath.Join(to, strings.TrimSuffix(name, ".gz"))
		return errors.Join(os.MkdirAll(filepath.Dir(name), 0o755), os.WriteFile(name, text, 0o644))
	})
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

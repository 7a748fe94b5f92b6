package install

import (
	"archive/tar"
	"bytes"
	"compress/gzip"
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
)

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

// compressor is a script that compresses a file. Of the 61 MB of the program, gzip leaves 14.2, Zstandard 11.6 in 2 seconds of a processor at
// level 9, 11.4 in 3 at level 12, and 10.6 in 28 at level 16. Level 19 takes twice as long for 0.3 less.
const compressor = `import sys, zstandard
with open(sys.argv[1], "rb") as plain, open(sys.argv[2], "wb") as packed:
    zstandard.ZstdCompressor(level=16, threads=-1).copy_stream(plain, packed)`

// unpackerArchive is the npm package that unpacks Zstandard in a browser, and unpackerSum its checksum.
const (
	unpackerArchive = "https://registry.npmjs.org/fzstd/-/fzstd-0.1.1.tgz"
	unpackerSum     = "5ed2ee2d3439067be211d0093292c708a831045372342c897437e5a4997c45c5"
)

// unpacker returns the script of unpackerArchive, behind its licence. The environment keeps the archive.
func (e environment) unpacker(ctx context.Context) ([]byte, error) {
	kept := filepath.Join(e.dir, "fzstd.tgz")
	archive, err := os.ReadFile(kept)
	if err != nil || checksum(archive) != unpackerSum {
		if archive, err = download(ctx, unpackerArchive); err != nil {
			return nil, err
		}
		if sum := checksum(archive); sum != unpackerSum {
			return nil, fmt.Errorf("%s: checksum %s, want %s", unpackerArchive, sum, unpackerSum)
		}
		if err := os.WriteFile(kept, archive, 0o644); err != nil {
			return nil, err
		}
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
	return fmt.Appendf(nil, "/*! %s\n\n%s*/\n%s", unpackerArchive, parts["package/LICENSE"], parts["package/umd/index.js"]), nil
}

// download returns the file at an address, of at most 1 MiB.
func download(ctx context.Context, address string) ([]byte, error) {
	request, err := http.NewRequestWithContext(ctx, http.MethodGet, address, nil)
	if err != nil {
		return nil, err
	}
	response, err := http.DefaultClient.Do(request)
	if err != nil {
		return nil, err
	}
	defer response.Body.Close()
	if response.StatusCode != http.StatusOK {
		return nil, fmt.Errorf("%s: %s", address, response.Status)
	}
	return io.ReadAll(io.LimitReader(response.Body, 1<<20))
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

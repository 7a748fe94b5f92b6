package install

import (
	"archive/zip"
	"bytes"
	"cmp"
	"crypto/sha256"
	"embed"
	"encoding/base64"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
)

// wheelPackage is a Python package for programs around Jupyter: it writes papermill's
// parameters as Go, and exports notebooks as Go programs for nbconvert.
//
//go:embed jupyter/halfnote_jupyter
var wheelPackage embed.FS

// labExtension shows the outputs of cells that ran while the browser was closed. JupyterLab loads it
// from its data folder.
//
//go:embed jupyter/labextension
var labExtension embed.FS

// entryPoints name the parts of the package that programs load. papermill imports its part
// because it is one of its engines.
const entryPoints = `[papermill.engine]
halfnote = halfnote_jupyter.papermill:Engine

[nbconvert.exporters.script]
go = halfnote_jupyter.script:GoExporter
`

// wheelFile is a file of a Python wheel.
type wheelFile struct{ name, content string }

// wheelName returns the file name of the wheel.
func wheelName(version string) string {
	return "halfnote_jupyter-" + version + "-py3-none-any.whl"
}

// Wheel returns the path of the wheel that [Install] wrote into the folder of a
// kernelspec. pip installs it without a network. papermill -p then sets parameters of Go
// cells, and JupyterLab's export "Executable Script" writes a Go program.
func Wheel(dir, version string) string {
	return filepath.Join(dir, wheelName(cmp.Or(version, "0")))
}

// wheelFiles lists the files of the wheel, as the specification of Python's binary distribution
// format wants them.
func wheelFiles(version string) (files []wheelFile, err error) {
	names, err := fs.Glob(wheelPackage, "jupyter/halfnote_jupyter/*.py")
	if err != nil {
		return nil, fmt.Errorf("install: the wheel: %w", err)
	}
	for _, name := range names {
		text, err := wheelPackage.ReadFile(name)
		if err != nil {
			return nil, fmt.Errorf("install: the wheel: %w", err)
		}
		files = append(files, wheelFile{strings.TrimPrefix(name, "jupyter/"), string(text)})
	}
	for _, name := range []string{"package.json", "remoteEntry.js"} {
		text, err := labExtension.ReadFile("jupyter/labextension/" + name)
		if err != nil {
			return nil, fmt.Errorf("install: the wheel: %w", err)
		}
		files = append(files, wheelFile{wheelData(version) + "share/jupyter/labextensions/halfnote/" + name, strings.ReplaceAll(string(text), "VERSION", version)})
	}
	info := "halfnote_jupyter-" + version + ".dist-info/"
	files = append(files,
		wheelFile{info + "METADATA", "Metadata-Version: 2.1\nName: halfnote-jupyter\nVersion: " + version +
			"\nSummary: Go cells for papermill, nbconvert and JupyterLab\n"},
		wheelFile{info + "WHEEL", "Wheel-Version: 1.0\nGenerator: halfnote\nRoot-Is-Purelib: true\nTag: py3-none-any\n"},
		wheelFile{info + "entry_points.txt", entryPoints},
	)
	var record strings.Builder
	for _, f := range files {
		sum := sha256.Sum256([]byte(f.content))
		fmt.Fprintf(&record, "%s,sha256=%s,%d\n", f.name, base64.RawURLEncoding.EncodeToString(sum[:]), len(f.content))
	}
	return append(files, wheelFile{info + "RECORD", record.String() + info + "RECORD,,\n"}), nil
}

// wheelData is the folder of the wheel whose files belong into the environment's prefix.
func wheelData(version string) string { return "halfnote_jupyter-" + version + ".data/data/" }

// makeWheel returns the wheel, which is a zip archive.
func makeWheel(version string) ([]byte, error) {
	files, err := wheelFiles(version)
	if err != nil {
		return nil, err
	}
	var b bytes.Buffer
	w := zip.NewWriter(&b)
	for _, f := range files {
		part, err := w.Create(f.name)
		if err == nil {
			_, err = part.Write([]byte(f.content))
		}
		if err != nil {
			return nil, fmt.Errorf("install: the wheel: %w", err)
		}
	}
	if err := w.Close(); err != nil {
		return nil, fmt.Errorf("install: the wheel: %w", err)
	}
	return b.Bytes(), nil
}

// writeWheel replaces the wheels of earlier versions in a folder.
func writeWheel(dir, version string) error {
	wheel, err := makeWheel(version)
	if err != nil {
		return err
	}
	old, _ := filepath.Glob(filepath.Join(dir, wheelName("*")))
	for _, path := range old {
		if filepath.Base(path) != wheelName(version) {
			os.Remove(path)
		}
	}
	return replace(Wheel(dir, version), 0o644, bytes.NewReader(wheel))
}

// unpackWheel installs the wheel in the Python environment at prefix, as pip does. A prefix
// without an environment stays as it is.
func unpackWheel(prefix, version string) error {
	files, err := wheelFiles(version)
	if err != nil {
		return err
	}
	for _, pattern := range []string{"lib/python3*/site-packages", "Lib/site-packages"} {
		sites, _ := filepath.Glob(filepath.Join(prefix, filepath.FromSlash(pattern)))
		for _, site := range sites {
			old, _ := filepath.Glob(filepath.Join(site, "halfnote_jupyter-*.dist-info"))
			for _, dir := range old {
				os.RemoveAll(dir)
			}
			for _, f := range files {
				path, content := filepath.Join(site, filepath.FromSlash(f.name)), f.content
				if name, ok := strings.CutPrefix(f.name, wheelData(version)); ok {
					path = filepath.Join(prefix, filepath.FromSlash(name))
				}
				if strings.HasSuffix(f.name, "/RECORD") { // its paths are relative to site
					up, err := filepath.Rel(site, prefix)
					if err != nil {
						return fmt.Errorf("install: %w", err)
					}
					content = strings.ReplaceAll(content, wheelData(version), filepath.ToSlash(up)+"/")
				}
				if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
					return fmt.Errorf("install: %w", err)
				}
				if err := replace(path, 0o644, strings.NewReader(content)); err != nil {
					return err
				}
			}
		}
	}
	return nil
}

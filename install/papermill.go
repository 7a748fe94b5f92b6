package install

import (
	"archive/zip"
	"bytes"
	"cmp"
	"crypto/sha256"
	_ "embed"
	"encoding/base64"
	"fmt"
	"os"
	"path/filepath"
	"strings"
)

// papermillModule is the Python module that writes papermill's parameters as Go.
//
//go:embed papermill/halfnote_papermill.py
var papermillModule string

// wheelFile is a file of a Python wheel.
type wheelFile struct{ name, content string }

// wheelName returns the file name of the wheel of papermill's translator.
func wheelName(version string) string {
	return "halfnote_papermill-" + version + "-py3-none-any.whl"
}

// PapermillWheel returns the path of the wheel that [Install] wrote into the folder of a
// kernelspec. pip installs it without a network; papermill -p then sets parameters of Go
// cells.
func PapermillWheel(dir, version string) string {
	return filepath.Join(dir, wheelName(cmp.Or(version, "0")))
}

// papermillFiles lists the files of the wheel, as the specification of Python's binary distribution
// format wants them. papermill imports the module because it is named as one of its engines.
func papermillFiles(version string) []wheelFile {
	info := "halfnote_papermill-" + version + ".dist-info/"
	files := []wheelFile{
		{"halfnote_papermill.py", papermillModule},
		{info + "METADATA", "Metadata-Version: 2.1\nName: halfnote-papermill\nVersion: " + version +
			"\nSummary: Parameters of papermill for notebooks of Go cells\n"},
		{info + "WHEEL", "Wheel-Version: 1.0\nGenerator: halfnote\nRoot-Is-Purelib: true\nTag: py3-none-any\n"},
		{info + "entry_points.txt", "[papermill.engine]\nhalfnote = halfnote_papermill:Engine\n"},
	}
	var record strings.Builder
	for _, f := range files {
		sum := sha256.Sum256([]byte(f.content))
		fmt.Fprintf(&record, "%s,sha256=%s,%d\n", f.name, base64.RawURLEncoding.EncodeToString(sum[:]), len(f.content))
	}
	return append(files, wheelFile{info + "RECORD", record.String() + info + "RECORD,,\n"})
}

// papermillWheel returns the wheel of papermill's translator, which pip installs without a network.
func papermillWheel(version string) ([]byte, error) {
	var b bytes.Buffer
	w := zip.NewWriter(&b)
	for _, f := range papermillFiles(version) {
		part, err := w.Create(f.name)
		if err == nil {
			_, err = part.Write([]byte(f.content))
		}
		if err != nil {
			return nil, fmt.Errorf("install: the wheel for papermill: %w", err)
		}
	}
	if err := w.Close(); err != nil {
		return nil, fmt.Errorf("install: the wheel for papermill: %w", err)
	}
	return b.Bytes(), nil
}

// writeWheel replaces the wheels of earlier versions in a folder.
func writeWheel(dir, version string) error {
	wheel, err := papermillWheel(version)
	if err != nil {
		return err
	}
	old, _ := filepath.Glob(filepath.Join(dir, wheelName("*")))
	for _, path := range old {
		if filepath.Base(path) != wheelName(version) {
			os.Remove(path)
		}
	}
	return replace(PapermillWheel(dir, version), 0o644, bytes.NewReader(wheel))
}

// addPapermill installs papermill's translator in the Python environment at prefix, as pip does. A
// prefix without one stays as it is.
func addPapermill(prefix, version string) error {
	for _, pattern := range []string{"lib/python3*/site-packages", "Lib/site-packages"} {
		sites, _ := filepath.Glob(filepath.Join(prefix, filepath.FromSlash(pattern)))
		for _, site := range sites {
			old, _ := filepath.Glob(filepath.Join(site, "halfnote_papermill-*.dist-info"))
			for _, dir := range old {
				os.RemoveAll(dir)
			}
			for _, f := range papermillFiles(version) {
				path := filepath.Join(site, filepath.FromSlash(f.name))
				if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
					return fmt.Errorf("install: %w", err)
				}
				if err := replace(path, 0o644, strings.NewReader(f.content)); err != nil {
					return err
				}
			}
		}
	}
	return nil
}

// Package wheel writes wheels: the archives that pip and uv install
// (https://packaging.python.org/en/latest/specifications/binary-distribution-format/). Equal
// wheels have equal bytes.
package wheel

import (
	"archive/zip"
	"crypto/sha256"
	"encoding/base64"
	"fmt"
	"io"
	"io/fs"
	"slices"
	"strings"
	"time"
)

// Wheel is a Python package for some platforms.
type Wheel struct {
	Name    string // as it is imported, with '_' instead of '-'
	Version string
	Summary string
	// Headers are further lines of the metadata, such as "Requires-Dist: nbformat".
	Headers []string
	// Description is Markdown, for the page of the package.
	Description string
	// Tags are the compatibility tags, such as "py3-none-any".
	Tags []string
	// EntryPoints is the text of entry_points.txt.
	EntryPoints string
	// Licenses are licences and notices, by their paths below the folder of licences.
	Licenses []File
	// Bills maps paths below the folder sboms to bills of materials (PEP 770).
	Bills []File
	// Files lie in the folder of Python's packages, except those below [Wheel.Prefix].
	Files []File
}

// File is a file of a wheel.
type File struct {
	Name    string // path with slashes
	Mode    fs.FileMode
	Content []byte
}

// Pure reports whether the wheel runs on every platform.
func (w Wheel) Pure() bool { return slices.Equal(w.Tags, []string{"py3-none-any"}) }

// FileName returns the name that installers expect. The tags must differ only in their platforms.
func (w Wheel) FileName() string {
	var platforms []string
	for _, tag := range w.Tags {
		platforms = append(platforms, tag[strings.LastIndexByte(tag, '-')+1:])
	}
	python := strings.TrimSuffix(w.Tags[0], platforms[0])
	return fmt.Sprintf("%s-%s-%s%s.whl", w.Name, w.Version, python, strings.Join(platforms, "."))
}

// Prefix is the folder of the files that belong into the prefix of the environment.
func (w Wheel) Prefix() string { return w.Name + "-" + w.Version + ".data/data/" }

// Info is the folder of the files that describe the wheel.
func (w Wheel) Info() string { return w.Name + "-" + w.Version + ".dist-info/" }

// All returns the wheel's files and those that describe it. The last one is RECORD, which lists the others.
func (w Wheel) All() []File {
	head := []string{"Metadata-Version: 2.4", "Name: " + strings.ReplaceAll(w.Name, "_", "-"), "Version: " + w.Version, "Summary: " + w.Summary}
	info := []string{"Wheel-Version: 1.0", "Generator: halfnote", fmt.Sprintf("Root-Is-Purelib: %t", w.Pure())}
	for _, tag := range w.Tags {
		info = append(info, "Tag: "+tag)
	}
	metadata := append(head, w.Headers...)
	for _, f := range w.Licenses {
		metadata = append(metadata, "License-File: "+f.Name)
	}
	if w.Description != "" {
		metadata = append(metadata, "Description-Content-Type: text/markdown", "", w.Description)
	}
	files := slices.Clone(w.Files)
	for _, f := range w.Licenses {
		files = append(files, File{w.Info() + "licenses/" + f.Name, f.Mode, f.Content})
	}
	for _, f := range w.Bills {
		files = append(files, File{w.Info() + "sboms/" + f.Name, f.Mode, f.Content})
	}
	for _, f := range []struct{ name, text string }{
		{"METADATA", lines(metadata)}, {"WHEEL", lines(info)}, {"entry_points.txt", w.EntryPoints},
	} {
		files = append(files, File{w.Info() + f.name, 0o644, []byte(f.text)})
	}
	var record strings.Builder
	for _, f := range files {
		sum := sha256.Sum256(f.Content)
		fmt.Fprintf(&record, "%s,sha256=%s,%d\n", f.Name, base64.RawURLEncoding.EncodeToString(sum[:]), len(f.Content))
	}
	fmt.Fprintf(&record, "%sRECORD,,\n", w.Info())
	return append(files, File{w.Info() + "RECORD", 0o644, []byte(record.String())})
}

func lines(list []string) string { return strings.Join(list, "\n") + "\n" }

// epoch is the time of all files: the first that a zip archive can hold.
var epoch = time.Date(1980, 1, 1, 0, 0, 0, 0, time.UTC)

// Write writes the archive.
func (w Wheel) Write(to io.Writer) error {
	z := zip.NewWriter(to)
	for _, f := range w.All() {
		h := &zip.FileHeader{Name: f.Name, Method: zip.Deflate, Modified: epoch}
		h.SetMode(f.Mode)
		part, err := z.CreateHeader(h)
		if err == nil {
			_, err = part.Write(f.Content)
		}
		if err != nil {
			return fmt.Errorf("wheel: %s: %w", f.Name, err)
		}
	}
	if err := z.Close(); err != nil {
		return fmt.Errorf("wheel: %w", err)
	}
	return nil
}

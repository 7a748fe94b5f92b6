package main

import (
	"archive/zip"
	"bytes"
	"io"
	"os"
	"slices"
	"strings"
	"testing"

	"halfnote/install"
	"halfnote/internal/release"
)

// TestLicenses compares the licences of each platform's wheel with modules and fonts that its program has, and reads them back
// from a wheel.
func TestLicenses(t *testing.T) {
	t.Chdir("../..")
	all, err := choose(nil, true)
	if err != nil {
		t.Fatal(err)
	}
	for _, p := range all {
		w, err := install.Distribution([]byte("program"), p.goos, release.Version, p.tags)
		if err != nil {
			t.Fatal(err)
		}
		if w.Licenses, err = p.licenses(); err != nil {
			t.Fatal(err)
		}
		var archive bytes.Buffer
		if err := w.Write(&archive); err != nil {
			t.Fatal(err)
		}
		z, err := zip.NewReader(bytes.NewReader(archive.Bytes()), int64(archive.Len()))
		if err != nil {
			t.Fatal(err)
		}
		read := func(name string) string {
			f, err := z.Open(w.Info() + name)
			if err != nil {
				t.Fatalf("%s: %v", p.name, err)
			}
			text, err := io.ReadAll(f)
			if err != nil {
				t.Fatal(err)
			}
			return string(text)
		}
		want := map[string]string{
			"go/LICENSE":                                   "The Go Authors",
			"halfnote/LICENSE":                             "BSD 3-Clause",
			"github.com/traefik/yaegi/LICENSE":             "Apache License",
			"codeberg.org/go-fonts/dejavu/LICENSE-DejaVu":  "Bitstream",
			"codeberg.org/go-fonts/liberation/LICENSE-SIL": "SIL",
		}
		if p.gpu {
			want["gorgonia.org/cu/LICENSE"] = "Apache License"
		}
		metadata := strings.Split(read("METADATA"), "\n")
		for name, words := range want {
			if !slices.Contains(metadata, "License-File: "+name) {
				t.Errorf("%s: the metadata does not name %s", p.name, name)
			}
			if text := read("licenses/" + name); !strings.Contains(text, words) {
				t.Errorf("%s: %s does not contain %q", p.name, name, words)
			}
		}
		if own, err := os.ReadFile("LICENSE"); err != nil || read("licenses/halfnote/LICENSE") != string(own) {
			t.Errorf("%s: halfnote's licence differs (%v)", p.name, err)
		}
	}
}

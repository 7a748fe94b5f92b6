package main

import (
	"archive/zip"
	"bytes"
	"crypto/sha256"
	"debug/buildinfo"
	"encoding/json"
	"fmt"
	"io"
	"io/fs"
	"maps"
	"os"
	"os/exec"
	"path"
	"path/filepath"
	"reflect"
	"runtime/debug"
	"slices"
	"strings"
	"testing"

	"halfnote/install"
	"halfnote/install/wheel"
	"halfnote/internal/release"
)

// TestPack packs this test's own program, and reads back the bill and the statement.
func TestPack(t *testing.T) {
	t.Chdir("../..")
	own, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	program, err := os.ReadFile(own)
	if err != nil {
		t.Fatal(err)
	}
	w, err := install.Distribution(program, "linux", release.Version, []string{"py3-none-any"})
	if err != nil {
		t.Fatal(err)
	}
	if w.Licenses, err = platforms[0].licenses(); err != nil {
		t.Fatal(err)
	}
	w.Licenses = append(w.Licenses, testLicenses(t, program)...)
	file := filepath.Join(t.TempDir(), w.FileName())
	var first []byte
	for range 2 {
		size, err := pack(w, program, true, file)
		if err != nil {
			t.Fatal(err)
		}
		archive, err := os.ReadFile(file)
		if err != nil || int64(len(archive)) != size {
			t.Fatalf("got %d bytes, %v; want %d", len(archive), err, size)
		}
		if first == nil {
			first = archive
		}
		if !bytes.Equal(archive, first) {
			t.Error("the same program gives two wheels")
		}
	}
	z, err := zip.NewReader(bytes.NewReader(first), int64(len(first)))
	if err != nil {
		t.Fatal(err)
	}
	text, err := fs.ReadFile(z, w.Info()+"sboms/halfnote.cdx.json")
	if err != nil {
		t.Fatal(err)
	}
	if record, err := fs.ReadFile(z, w.Info()+"RECORD"); err != nil || !strings.Contains(string(record), "/sboms/halfnote.cdx.json,sha256=") {
		t.Errorf("RECORD lacks the bill: %v", err)
	}
	checkBill(t, program, text, func(license string) bool { _, err := fs.Stat(z, w.Info()+license); return err == nil })
	checkStatement(t, file, first, text)
}

// testLicenses returns the licences of the modules that only the tests of this package use. Go 1.27 lists them in the program of the tests.
func testLicenses(t *testing.T, program []byte) []wheel.File {
	t.Helper()
	info, err := buildinfo.Read(bytes.NewReader(program))
	if err != nil {
		t.Fatal(err)
	}
	found := map[string][]byte{}
	for _, m := range info.Deps {
		if m.Path != "go.yaml.in/yaml/v3" {
			continue
		}
		dir, err := exec.Command("go", "list", "-m", "-f", "{{.Dir}}", m.Path).Output()
		if err != nil {
			t.Fatal(err)
		}
		root := strings.TrimSpace(string(dir))
		if err := collect(found, m.Path, root, root); err != nil {
			t.Fatal(err)
		}
	}
	list, err := sorted(found, nil)
	if err != nil {
		t.Fatal(err)
	}
	return list
}

// checkBill checks that a bill lists what a program's build information has, and that the licences that it names exist.
func checkBill(t *testing.T, program, text []byte, exists func(license string) bool) {
	t.Helper()
	var b bom
	d := json.NewDecoder(bytes.NewReader(text))
	d.DisallowUnknownFields()
	if err := d.Decode(&b); err != nil {
		t.Fatalf("the bill of materials: %v", err)
	}
	if !bytes.HasPrefix(text, []byte("{\n  \"bomFormat\": \"CycloneDX\",\n  \"specVersion\": \"1.6\",\n  \"version\": 1,\n")) {
		t.Errorf("the bill begins with %.80q", text)
	}
	info, err := buildinfo.Read(bytes.NewReader(program))
	if err != nil {
		t.Fatal(err)
	}
	own := b.Metadata.Component
	if want := fmt.Sprintf("%x", sha256.Sum256(program)); own.Name != "halfnote" || own.Version != release.Version || len(own.Hashes) != 1 || own.Hashes[0].Content != want {
		t.Errorf("the program is %+v, want version %s and the checksum %s", own, release.Version, want)
	}
	sums, err := os.ReadFile("go.sum")
	if err != nil {
		t.Fatal(err)
	}
	got := map[string]string{}
	for _, c := range append(b.Components, own) {
		if len(c.References) == 0 {
			t.Errorf("%s has no licence", c.Name)
		}
		for _, r := range c.References {
			if r.Type != "license" || !exists(path.Join("sboms", r.URL)) {
				t.Errorf("%s: no file %s", c.Name, r.URL)
			}
		}
		if c.Ref == "halfnote" || c.Ref == "std" || c.Ref == "cmd/compile" {
			continue
		}
		if got[c.Name] != "" || c.PURL != "pkg:golang/"+c.Name+"@"+c.Version {
			t.Errorf("%s is listed twice, or with the address %s", c.Name, c.PURL)
		}
		got[c.Name] = c.Version
		if len(c.Properties) != 1 || !strings.Contains(string(sums), c.Name+" "+c.Version+" "+c.Properties[0].Value+"\n") {
			t.Errorf("%s: the checksum %v is not that of go.sum", c.Name, c.Properties)
		}
	}
	want := map[string]string{}
	for _, m := range info.Deps {
		want[m.Path] = m.Version
	}
	if !maps.Equal(got, want) || len(want) == 0 {
		t.Errorf("the bill lists %v, the program has %v", got, want)
	}
}

// checkStatement checks that the statement next to a wheel has its checksum and its bill.
func checkStatement(t *testing.T, path string, archive, bill []byte) {
	t.Helper()
	f, err := os.Open(path + ".intoto.json")
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	text, err := io.ReadAll(f)
	if err != nil {
		t.Fatal(err)
	}
	var got, want map[string]any
	if err := json.Unmarshal(text, &got); err != nil {
		t.Fatal(err)
	}
	predicate := map[string]any{}
	if err := json.Unmarshal(bill, &predicate); err != nil {
		t.Fatal(err)
	}
	want = map[string]any{
		"_type":         "https://in-toto.io/Statement/v1",
		"subject":       []any{map[string]any{"name": filepath.Base(path), "digest": map[string]any{"sha256": fmt.Sprintf("%x", sha256.Sum256(archive))}}},
		"predicateType": "https://cyclonedx.org/bom",
		"predicate":     predicate,
	}
	if !reflect.DeepEqual(got, want) {
		t.Errorf("got the statement %v, want %v", got, want)
	}
}

// TestBillRefuses checks that a program without build information has no bill.
func TestBillRefuses(t *testing.T) {
	if _, err := bill([]byte("#!/bin/sh\n"), nil, false); err == nil {
		t.Error("a script: got no error")
	}
}

// TestTerms checks to which module a licence belongs: the one with the longest path.
func TestTerms(t *testing.T) {
	info := &debug.BuildInfo{Deps: []*debug.Module{{Path: "m.org/a"}, {Path: "m.org/a/v2"}, {Path: "m.org/ab"}}}
	files := []wheel.File{{Name: "m.org/a/LICENSE"}, {Name: "m.org/a/third/COPYING"}, {Name: "m.org/a/v2/LICENSE"}, {Name: "m.org/ab/LICENSE"}}
	for module, want := range map[string][]string{
		"m.org/a":    {"../licenses/m.org/a/LICENSE", "../licenses/m.org/a/third/COPYING"},
		"m.org/a/v2": {"../licenses/m.org/a/v2/LICENSE"},
		"m.org/ab":   {"../licenses/m.org/ab/LICENSE"},
		"m.org/c":    nil,
	} {
		var got []string
		for _, r := range terms(files, info, module) {
			got = append(got, r.URL)
		}
		if !slices.Equal(got, want) {
			t.Errorf("%s: got %q, want %q", module, got, want)
		}
	}
}

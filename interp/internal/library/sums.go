package library

import (
	"bytes"
	"encoding/base64"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"golang.org/x/mod/module"
	"golang.org/x/mod/sumdb/dirhash"
)

// readSums reads the checksums in the go.sum files of the main modules, and in that of the workspace.
func (f *Finder) readSums() map[module.Version][]string {
	sums := map[module.Version][]string{}
	files := []string{filepath.Join(f.root, "go.work.sum")}
	for _, m := range f.main {
		files = append(files, filepath.Join(m.dir, "go.sum"))
	}
	for _, file := range files {
		text, _ := os.ReadFile(file) // a file that is missing has no checksums
		for line := range strings.Lines(string(text)) {
			if w := strings.Fields(line); len(w) == 3 {
				m := module.Version{Path: w[0], Version: w[1]}
				sums[m] = append(sums[m], w[2])
			}
		}
	}
	return sums
}

// verify compares a module in the cache with go.sum, as go build does: by the checksum that the go command recorded when it fetched the module, or
// else by that of the archive. path and version are those of the cache's names.
func (f *Finder) verify(m module.Version, path, version string) error {
	if f.sums == nil {
		f.sums = f.readSums()
	}
	want := f.sums[m]
	switch {
	case len(want) > 0:
	case modFlag() == "mod": // go build would add the checksum
		return nil
	default:
		return fmt.Errorf("module %s has no checksum in go.sum: %%go get %s adds it", m, m)
	}
	at := filepath.Join(f.cache, "cache", "download", path, "@v", version)
	text, err := os.ReadFile(at + ".ziphash")
	got := string(bytes.TrimSpace(text))
	if err != nil || !isSum(got) {
		if got, err = dirhash.HashZip(at+".zip", dirhash.DefaultHash); err != nil {
			return fmt.Errorf("module %s: the module cache has neither a checksum nor the archive: %%go get %s fetches it again: %w", m, m, err)
		}
	}
	return mismatch(m, got, want)
}

// verifyMod compares the go.mod of a module in the cache with go.sum.
func (f *Finder) verifyMod(m module.Version, text []byte) error {
	if f.sums == nil {
		f.sums = f.readSums()
	}
	want := f.sums[module.Version{Path: m.Path, Version: m.Version + "/go.mod"}]
	if len(want) == 0 {
		return nil // its requirements have separate checksums
	}
	got, err := dirhash.Hash1([]string{"go.mod"}, func(string) (io.ReadCloser, error) { return io.NopCloser(bytes.NewReader(text)), nil })
	if err != nil {
		return err
	}
	return mismatch(module.Version{Path: m.Path, Version: m.Version + "/go.mod"}, got, want)
}

// mismatch returns an error, in the go command's words, unless a checksum is among those of go.sum.
func mismatch(m module.Version, got string, want []string) error {
	if slices.Contains(want, got) {
		return nil
	}
	return &sumError{fmt.Sprintf("verifying %s: checksum mismatch: the module cache has %s, go.sum has %s: the module is not the one that go.sum was made with; go clean -modcache removes a damaged cache", m, got, strings.Join(want, ", "))}
}

// sumError is the error that a file is not the one that go.sum describes.
type sumError struct{ text string }

func (e *sumError) Error() string { return e.text }

// isSum reports whether a text has the form of a checksum.
func isSum(text string) bool {
	b, err := base64.StdEncoding.DecodeString(strings.TrimPrefix(text, "h1:"))
	return err == nil && len(b) == 32 && strings.HasPrefix(text, "h1:")
}

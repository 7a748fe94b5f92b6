package object

import (
	"bytes"
	"testing"

	"halfnote/internal/testenv"
)

// A trimmed archive has the export data and the names that numbers of symbols refer to.
func TestTrim(t *testing.T) {
	testenv.GOROOT(t)
	archive := compiled(t, "amd64")
	whole, err := Read(archive)
	if err != nil {
		t.Fatal(err)
	}
	trimmed, err := Trim(archive)
	if err != nil {
		t.Fatal(err)
	}
	names, err := Read(trimmed)
	if err != nil {
		t.Fatal(err)
	}
	want := whole.Defs[:whole.starts[1]]
	if len(names.Defs) != len(want) || len(want) == 0 {
		t.Fatalf("got %d symbols, want %d, and more than 0", len(names.Defs), len(want))
	}
	for i, s := range names.Defs {
		if s.Name != want[i].Name || len(s.Data) > 0 || len(s.Relocs) > 0 || len(s.Aux) > 0 {
			t.Errorf("symbol %d: got %+v, want only the name %s", i, s, want[i].Name)
		}
	}
	for _, archive := range [][]byte{archive, trimmed} {
		names, err := ReadNames(archive)
		if err != nil {
			t.Fatal(err)
		}
		for i := range want {
			if got := names.Name(uint32(i)); got != want[i].Name {
				t.Errorf("symbol %d: got the name %s, want %s", i, got, want[i].Name)
			}
		}
		if got := names.Name(uint32(len(want))); got != "" {
			t.Errorf("got the name %s for a number that is too large", got)
		}
	}
	if got := (Names{}).Name(0); got != "" {
		t.Errorf("got the name %s without an object", got)
	}
	a, err1 := member(archive, "__.PKGDEF")
	b, err2 := member(trimmed, "__.PKGDEF")
	if err1 != nil || err2 != nil || !bytes.Equal(a, b) {
		t.Errorf("the export data differs: %d and %d bytes, %v, %v", len(a), len(b), err1, err2)
	}
	if len(trimmed) >= len(archive) {
		t.Errorf("got %d bytes of %d", len(trimmed), len(archive))
	}
	if _, err := Trim(archive[:20]); err == nil {
		t.Error("half an archive: got no error")
	}
}

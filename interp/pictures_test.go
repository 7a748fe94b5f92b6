package interp_test

import (
	"bytes"
	"context"
	"encoding/base64"
	"flag"
	"image"
	"image/png"
	"os"
	"path/filepath"
	"regexp"
	"testing"

	"halfnote/display"
	"halfnote/interp"
	"halfnote/kernel/eval"
)

// pictured matches a Go block, and the picture that follows it in the page before the next heading.
var pictured = regexp.MustCompile("(?ms)^```go\n(.*?)^```$(?:[^#`]*?!\\[[^]]*\\]\\((pictures/[a-z]+\\.png)\\))?")

// shown is a sink that keeps the last picture.
type shown struct {
	silent
	picture []byte
}

func (s *shown) Display(b display.Bundle) {
	if text, ok := b.Data["image/png"].(string); ok {
		s.picture, _ = base64.StdEncoding.DecodeString(text)
	}
}

// TestPicturesOfPages compares the pictures in docs/matplotlib.md with those that its cells show. With -update it writes them.
func TestPicturesOfPages(t *testing.T) {
	docs, err := filepath.Abs("../docs")
	if err != nil {
		t.Fatal(err)
	}
	text, err := os.ReadFile(filepath.Join(docs, "matplotlib.md"))
	if err != nil {
		t.Fatal(err)
	}
	t.Chdir(t.TempDir())
	s, err := interp.NewSession(interp.Options{})
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	n := 0
	for i, b := range pictured.FindAllSubmatch(text, -1) {
		sink := &shown{}
		r := s.Eval(context.Background(), eval.Cell{Code: string(b[1]), Count: i + 1}, sink)
		if r.Err != nil {
			t.Fatalf("%s:\n%s", r.Err, b[1])
		}
		if r.Value != nil {
			sink.Display(*r.Value)
		}
		if len(b[2]) == 0 {
			continue
		}
		if n++; sink.picture == nil {
			t.Errorf("%s: the cell shows no picture:\n%s", b[2], b[1])
			continue
		}
		file := filepath.Join(docs, string(b[2]))
		if flag.Lookup("update").Value.String() == "true" {
			if err := os.WriteFile(file, sink.picture, 0o644); err != nil {
				t.Fatal(err)
			}
			continue
		}
		want, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		if far := differing(t, sink.picture, want); far > .001 {
			t.Errorf("%s: %.2g of the pixels differ (go test ./interp -run TestPicturesOfPages -update writes the pictures; look at them)", b[2], far)
		}
	}
	if n != 14 {
		t.Errorf("got %d pictures, want 14", n)
	}
}

// differing returns the share of pixels that differ by more than a quarter of the range. Processors may round an edge pixel
// differently.
func differing(t *testing.T, a, b []byte) float64 {
	t.Helper()
	var pictures [2]image.Image
	for i, file := range [][]byte{a, b} {
		picture, err := png.Decode(bytes.NewReader(file))
		if err != nil {
			t.Fatal(err)
		}
		pictures[i] = picture
	}
	size := pictures[0].Bounds()
	if size != pictures[1].Bounds() {
		return 1
	}
	far := 0
	for y := range size.Dy() {
		for x := range size.Dx() {
			r, g, b, _ := pictures[0].At(x, y).RGBA()
			r2, g2, b2, _ := pictures[1].At(x, y).RGBA()
			for _, d := range [3][2]uint32{{r, r2}, {g, g2}, {b, b2}} {
				if max(d[0], d[1])-min(d[0], d[1]) > 0x4000 {
					far++
					break
				}
			}
		}
	}
	return float64(far) / float64(size.Dx()*size.Dy())
}

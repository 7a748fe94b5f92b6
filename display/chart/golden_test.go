package chart

import (
	"bytes"
	"flag"
	"fmt"
	"image"
	"image/png"
	"os"
	"path/filepath"
	"slices"
	"testing"
)

var update = flag.Bool("update", false, "write the golden images that differ")

var themes = map[string]Theme{"light": Light, "dark": Dark}

// golden is the folder of the reviewed pictures.
var golden string

// TestMain runs the tests in an empty folder, because examples write pictures.
func TestMain(m *testing.M) {
	flag.Parse()
	golden, _ = filepath.Abs("testdata")
	dir, err := os.MkdirTemp("", "chart")
	if err == nil {
		err = os.Chdir(dir)
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
	code := m.Run()
	os.RemoveAll(dir)
	os.Exit(code)
}

// TestGolden compares pictures that the examples do not make with reviewed pictures.
func TestGolden(t *testing.T) {
	for _, s := range samples() {
		if slices.Contains([]string{"dtypes", "spectrum", "sweep"}, s.name) {
			CheckGolden(t, s.name, s.fig.PNG())
		}
	}
}

// CheckGolden compares a picture with the reviewed picture of that name. Processors may round an edge
// pixel differently. With -update it writes the pictures that differ.
func CheckGolden(t *testing.T, name string, got []byte) {
	t.Helper()
	file := filepath.Join(golden, name+".png")
	want, err := os.ReadFile(file)
	if err == nil {
		err = same(decode(t, got), decode(t, want))
	}
	if err != nil && *update {
		err = os.WriteFile(file, got, 0o666)
	}
	if err != nil {
		t.Errorf("%s: %v (go test ./display/chart -update writes the pictures that differ; look at them)", name, err)
	}
}

func decode(t *testing.T, file []byte) image.Image {
	t.Helper()
	m, err := png.Decode(bytes.NewReader(file))
	if err != nil {
		t.Fatal(err)
	}
	return m
}

// same returns an error if more than one pixel in a thousand differs by more than a quarter of
// the range.
func same(a, b image.Image) error {
	if a.Bounds() != b.Bounds() {
		return fmt.Errorf("got size %v, want %v", a.Bounds(), b.Bounds())
	}
	far, all := 0, a.Bounds().Dx()*a.Bounds().Dy()
	for y := range a.Bounds().Dy() {
		for x := range a.Bounds().Dx() {
			r, g, b1, _ := a.At(x, y).RGBA()
			s, h, b2, _ := b.At(x, y).RGBA()
			if max(distance(r, s), distance(g, h), distance(b1, b2)) > 0x4000 {
				far++
			}
		}
	}
	if far*1000 > all {
		return fmt.Errorf("%d of %d pixels differ", far, all)
	}
	return nil
}

func distance(a, b uint32) uint32 { return max(a, b) - min(a, b) }

func TestSameSeesDifferences(t *testing.T) {
	f := samples()[0].fig
	a := decode(t, f.PNG())
	if err := same(a, a); err != nil {
		t.Error(err)
	}
	for name, other := range map[string]*Figure{"a theme": f.With(Dark), "another step": DTypes(mlp(1)[1:]), "one dtype": DTypes(mlp(1)[:3])} {
		if same(a, decode(t, other.PNG())) == nil {
			t.Errorf("%s: got no difference, want one", name)
		}
	}
}

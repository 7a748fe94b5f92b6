package asm

import (
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"testing"
	"unsafe"

	"halfnote/tensor/internal/half"
)

// TestGenerated checks that the generated files are up to date.
func TestGenerated(t *testing.T) {
	goTool, err := exec.LookPath("go")
	if err != nil {
		t.Skip("needs the go command")
	}
	dir := t.TempDir()
	own, err := filepath.Abs("gen")
	if err != nil {
		t.Fatal(err)
	}
	// The go command caches a test's result by the files that the test itself opens.
	if err := filepath.WalkDir(own, func(path string, d fs.DirEntry, err error) error {
		if err == nil && !d.IsDir() {
			_, err = os.ReadFile(path)
		}
		return err
	}); err != nil {
		t.Fatal(err)
	}
	build := exec.Command(goTool, "build", "-o", filepath.Join(dir, "gen"), own)
	if out, err := build.CombinedOutput(); err != nil {
		t.Fatalf("%v: %s", err, out)
	}
	gen := exec.Command(filepath.Join(dir, "gen"))
	gen.Dir = dir
	if out, err := gen.CombinedOutput(); err != nil {
		t.Fatalf("%v: %s", err, out)
	}
	for _, name := range []string{"zasm_amd64.s", "zasm_amd64.go", "zfunctions.go"} {
		got, err := os.ReadFile(name)
		if err != nil {
			t.Fatal(err)
		}
		want, err := os.ReadFile(filepath.Join(dir, name))
		if err != nil {
			t.Fatal(err)
		}
		if string(got) != string(want) {
			t.Errorf("%s is stale; run: go generate ./tensor/internal/asm", name)
		}
	}
}

// TestVariable checks that the environment variable selects the tier.
func TestVariable(t *testing.T) {
	for _, tier := range Tiers() {
		t.Setenv(Variable, tier.Name)
		if got := Best(); got != tier {
			t.Errorf("%s=%s: got another tier: %v", Variable, tier.Name, got)
		}
	}
	t.Setenv(Variable, Portable)
	if got := Best(); got != nil {
		t.Errorf("%s=%s: got %s, want nil", Variable, Portable, got.Name)
	}
	t.Setenv(Variable, "best")
	defer func() {
		if recover() == nil {
			t.Errorf("%s=best: got no panic", Variable)
		}
	}()
	Best()
}

// TestAbout checks that each tier has a description, and that TileState is empty only with AMX.
func TestAbout(t *testing.T) {
	names := []string{"amx", Portable}
	for _, tier := range Tiers() {
		names = append(names, tier.Name)
	}
	for _, name := range names {
		if rates[name] == "" {
			t.Errorf("tier %s is missing in rates", name)
		}
	}
	t.Setenv(Variable, Portable)
	if got, want := About(), Portable+": "+rates[Portable]; got != want && got != want+" (no AMX: "+TileState()+")" {
		t.Errorf("got %q, want %q", got, want)
	}
	if has := len(Tiers()) > 0 && Tiers()[0].Name == "amx"; has != (TileState() == "") {
		t.Errorf("got tier amx: %v, and reason for its absence: %q", has, TileState())
	}
}

// TestConversions compares conversions with package half: of all halves, and of float32 near them
// and halfway between them, for lengths from the minimum to several iterations. Elements behind the
// result must not change.
func TestConversions(t *testing.T) {
	for _, tier := range Tiers() {
		c := tier.Loops
		if c.WidenF16 == nil {
			continue
		}
		for _, d := range []struct {
			name        string
			widen       func(dst, src unsafe.Pointer, n int)
			narrow      func(dst, src unsafe.Pointer, n int)
			from        func([]float32, []uint16)
			to          func([]uint16, []float32)
			nan, middle uint32
		}{
			{"float16", c.WidenF16, c.NarrowF16, half.FromFloat16, half.ToFloat16, 0x7c00, 1 << 12},
			{"bfloat16", c.WidenBF16, c.NarrowBF16, half.FromBFloat16, half.ToBFloat16, 0x7f80, 1 << 15},
		} {
			all := make([]uint16, 1<<16)
			for i := range all {
				all[i] = uint16(i)
			}
			got, want := make([]float32, len(all)), make([]float32, len(all))
			d.widen(unsafe.Pointer(&got[0]), unsafe.Pointer(&all[0]), len(all))
			d.from(want, all)
			wide := make([]float32, 0, 5*len(all))
			for i := range want {
				if uint32(i)&0x7fff > d.nan {
					if got[i] == got[i] {
						t.Errorf("%s %s: %04x: got %v, want NaN", tier.Name, d.name, i, got[i])
					}
				} else if got[i] != want[i] {
					t.Errorf("%s %s: %04x: got %v, want %v", tier.Name, d.name, i, got[i], want[i])
				}
				for _, b := range []uint32{0, 1, d.middle - 1, d.middle, d.middle + 1} {
					wide = append(wide, frombits(bits(want[i])+b))
				}
			}
			for _, n := range []int{16, 17, 18, 31, 48, 63, 64, 65, 100, 128, 1000, len(wide)} {
				got, want := make([]uint16, n+64), make([]uint16, n+64)
				for i := range got {
					got[i], want[i] = 0x1234, 0x1234
				}
				d.narrow(unsafe.Pointer(&got[0]), unsafe.Pointer(&wide[min(len(wide)-n, len(wide)-1)]), n)
				d.to(want, wide[len(wide)-n:])
				for i := range want {
					if got[i] != want[i] {
						t.Fatalf("%s: %s: %d elements: element %d: got %04x, want %04x", tier.Name, d.name, n, i, got[i], want[i])
					}
				}
			}
		}
	}
}

func bits(x float32) uint32     { return *(*uint32)(unsafe.Pointer(&x)) }
func frombits(b uint32) float32 { return *(*float32)(unsafe.Pointer(&b)) }

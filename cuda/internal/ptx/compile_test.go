package ptx

import (
	"bytes"
	"flag"
	"os"
	"os/exec"
	"path/filepath"
	"testing"

	"halfnote/internal/testenv"
)

var update = flag.Bool("update", false, "compile testdata/*.cu again")

// compiled lists the source and target of each text in testdata.
var compiled = []struct{ ptx, source, target string }{
	{"general_sm70.ptx", "general.cu", "sm_70"},
	{"general_sm80.ptx", "general.cu", "sm_80"},
	{"tensor_sm80.ptx", "tensor.cu", "sm_80"},
}

func TestTextsAreCurrent(t *testing.T) {
	clang, err := exec.LookPath("clang-16")
	if err != nil {
		testenv.Missing(t, "clang", "needs clang-16 to compile the kernels again: ", err)
	}
	for _, c := range compiled {
		got, err := exec.Command(clang, "-x", "cuda", "--cuda-device-only", "--cuda-gpu-arch="+c.target, "-Xclang", "-target-feature", "-Xclang", "+ptx70",
			"-nocudainc", "-nocudalib", "-O3", "-ffp-contract=off", "-S", "-o", "-", filepath.Join("testdata", c.source)).Output()
		if err != nil {
			t.Fatalf("%s: %v", c.source, err)
		}
		name := filepath.Join("testdata", c.ptx)
		if *update {
			if err := os.WriteFile(name, got, 0o666); err != nil {
				t.Fatal(err)
			}
		}
		if want, _ := os.ReadFile(name); !bytes.Equal(got, want) {
			t.Errorf("%s differs from clang-16's output for %s; run: go test -run TestTextsAreCurrent -update", name, c.source)
		}
	}
}

// read returns a module of testdata.
func read(t testing.TB, name string) *Module {
	t.Helper()
	text, err := os.ReadFile(filepath.Join("testdata", name))
	if err != nil {
		t.Fatal(err)
	}
	m, err := Parse(string(text))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(m.Release)
	return m
}

// both runs a test on the modules for both targets.
func both(t *testing.T, f func(t *testing.T, m *Module)) {
	for _, name := range []string{"general_sm70.ptx", "general_sm80.ptx"} {
		t.Run(name, func(t *testing.T) { f(t, read(t, name)) })
	}
}

// kernel returns a kernel of a module.
func kernel(t testing.TB, m *Module, name string) *Kernel {
	t.Helper()
	k, err := m.Kernel(name)
	if err != nil {
		t.Fatal(err)
	}
	return k
}

// launch runs a kernel with all checks.
func (d *device) launch(k *Kernel, grid, block [3]uint32, dynamic int, args ...any) error {
	_, err := k.Launch(Launch{Grid: grid, Block: block, Shared: dynamic, Params: pack(k, args...), Global: d.ranges, Check: true, Limit: 1 << 26})
	return err
}

func (d *device) must(k *Kernel, grid, block [3]uint32, dynamic int, args ...any) {
	d.t.Helper()
	if err := d.launch(k, grid, block, dynamic, args...); err != nil {
		d.t.Fatal(err)
	}
}

func line(n uint32) [3]uint32 { return [3]uint32{n, 1, 1} }

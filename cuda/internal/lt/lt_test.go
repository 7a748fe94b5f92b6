//go:build cuda && linux && cgo

package lt

import (
	"errors"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"halfnote/cuda/internal/drv"
	"halfnote/cuda/internal/fake"
)

func TestMain(m *testing.M) { os.Exit(fake.Main(m, fake.Options{CublasLt: true})) }

func TestCandidates(t *testing.T) {
	t.Setenv("HALFNOTE_CUBLASLT", "/some/library.so")
	if got := candidates(); !slices.Equal(got, []string{"/some/library.so"}) {
		t.Errorf("got %q, want only the file that the environment variable names", got)
	}
	t.Setenv("HALFNOTE_CUBLASLT", "")
	home := t.TempDir()
	t.Setenv("VIRTUAL_ENV", home)
	t.Setenv("CUDA_HOME", filepath.Join(home, "toolkit"))
	var want []string
	for _, file := range []string{"toolkit/lib64/libcublasLt.so.12", "lib/python3.13/site-packages/nvidia/cu13/lib/libcublasLt.so.13", "lib/python3.13/site-packages/nvidia/cublas/lib/libcublasLt.so.12"} {
		path := filepath.Join(home, file)
		if err := os.MkdirAll(filepath.Dir(path), 0o777); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, nil, 0o666); err != nil {
			t.Fatal(err)
		}
		want = append(want, path)
	}
	got := candidates()
	if !slices.Equal(got[:3], names) {
		t.Errorf("got first %q, want the names without folders, %q", got[:3], names)
	}
	got = slices.DeleteFunc(got, func(file string) bool { return !strings.HasPrefix(file, home) })
	if !slices.Equal(got, want) {
		t.Errorf("got %q, want %q", got, want)
	}
}

// TestOpenFails checks the errors for a missing file, and for a library that is not cublasLt.
func TestOpenFails(t *testing.T) {
	context := device(t).Context()
	for file, want := range map[string]string{
		"/nowhere/libcublasLt.so.13": "cannot open shared object file",
		"libdl.so.2":                 "libdl.so.2 lacks cublasLtCreate",
	} {
		t.Setenv("HALFNOTE_CUBLASLT", file)
		if _, err := Open(context); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: got error %v, want one with %q", file, err, want)
		}
	}
}

// TestPlan checks that a shape's plan is cached, and that the error for an unsupported shape is too.
func TestPlan(t *testing.T) {
	h, err := Open(device(t).Context())
	if err != nil {
		t.Skip(err)
	}
	s := Shape{M: 8, N: 16, K: 24, Batches: 1, LDA: 8, LDB: 24, LDC: 8, LDD: 8, Factors: Float16, Results: Float16, Align: [4]int{16, 16, 16, 16}}
	first, err := h.Plan(s, 0)
	if err != nil {
		t.Fatal(err)
	}
	if again, err := h.Plan(s, 0); again != first || err != nil {
		t.Errorf("second Plan: got %p and error %v, want %p", again, err, first)
	}
	s.Results = Float64
	for range 2 {
		if _, err := h.Plan(s, 0); !errors.Is(err, NotSupported) && !errors.Is(err, invalidValue) {
			t.Errorf("float64 results of float16 factors: got error %v, want NotSupported", err)
		}
	}
	if n := len(h.plans); n != 2 {
		t.Errorf("got %d cached plans, want 2", n)
	}
}

func device(t *testing.T) *drv.Device {
	t.Helper()
	d, err := drv.Open(0)
	if err != nil {
		t.Fatal(err)
	}
	return d
}

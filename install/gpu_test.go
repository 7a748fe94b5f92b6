package install

import (
	"bytes"
	"context"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// TestBuildGPU runs BuildGPU with a fake go command that records its arguments.
func TestBuildGPU(t *testing.T) {
	if builtForGPU() {
		t.Skip("this program has the backend already")
	}
	bin, cache := t.TempDir(), t.TempDir()
	asked := filepath.Join(bin, "asked")
	script := "#!/bin/sh\necho \"$PWD $CGO_CFLAGS $CGO_LDFLAGS $*\" >" + asked + "\nexit ${GO_FAILS:-0}\n"
	if err := os.WriteFile(filepath.Join(bin, "go"), []byte(script), 0o755); err != nil {
		t.Fatal(err)
	}
	t.Setenv("PATH", bin+":"+os.Getenv("PATH"))
	t.Setenv("XDG_CACHE_HOME", cache)
	own, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	root, err := sources()
	if err != nil {
		t.Fatal(err)
	}

	var log bytes.Buffer
	t.Setenv("HALFNOTE_GPU", "off")
	t.Setenv("HALFNOTE_CUDA_DRIVER", "libcuda.so.1")
	if got, err := BuildGPU(context.Background(), &log); got != own || err != nil || log.Len() > 0 {
		t.Errorf("HALFNOTE_GPU=off: got %s, %v, %q, want this program", got, err, &log)
	}
	t.Setenv("HALFNOTE_GPU", "")
	want := filepath.Join(cache, "halfnote", "gpu", "halfnote")
	if got, err := BuildGPU(context.Background(), &log); got != want || err != nil {
		t.Errorf("with a driver: got %s, %v, want %s", got, err, want)
	}
	line, err := os.ReadFile(asked)
	for _, part := range []string{root + " ", "-I" + root + "/cuda/include", "-L" + root + "/cuda/internal/link/ld", "build -tags cuda -o " + want + " ."} {
		if err != nil || !strings.Contains(string(line), part) {
			t.Errorf("call of go: got %q, %v, want it to contain %q", line, err, part)
		}
	}
	t.Setenv("GO_FAILS", "1")
	if got, err := BuildGPU(context.Background(), &log); got != own || err == nil || !strings.Contains(err.Error(), "C compiler") {
		t.Errorf("failing build: got %s, %v, want this program and an error that names the C compiler", got, err)
	}
}

package install

import (
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"
)

func TestRemind(t *testing.T) {
	r, w := io.Pipe()
	stop := remind(w, time.Millisecond, func() string { return "Packing" })
	line := make([]byte, 100)
	for range 2 {
		n, err := r.Read(line)
		if got := string(line[:n]); err != nil || !strings.HasPrefix(got, "Packing (0 s)") {
			t.Fatalf("got %q, %v", got, err)
		}
	}
	r.Close() // later lines fail at once
	stop()
	stop()
}

// TestStage checks what a first start says while packages are on their way, while they are unpacked, and when they are there.
func TestStage(t *testing.T) {
	env := environment{recipe: recipe{what: "JupyterLab"}, dir: t.TempDir()}
	for _, step := range []struct{ file, text, want string }{
		{"", "", "Downloading JupyterLab …"},
		{"one", strings.Repeat("x", 3<<20), "Installing JupyterLab: 3 MB so far …"},
		{"complete", "", "Starting JupyterLab …"},
	} {
		if step.file != "" {
			if err := os.WriteFile(filepath.Join(env.dir, step.file), []byte(step.text), 0o644); err != nil {
				t.Fatal(err)
			}
		}
		if got := env.stage(); got != step.want {
			t.Errorf("got %q, want %q", got, step.want)
		}
	}
}

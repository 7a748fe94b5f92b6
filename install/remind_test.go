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

// TestStage checks what a first start says while packages are on their way and while they are unpacked. The lines are those of pip 25 and uv 0.13.
func TestStage(t *testing.T) {
	const requirements = "# A comment\nappnope==1.0.0 ; sys_platform == 'darwin' \\\n    --hash=sha256:68\nbabel==2.18.0 \\\n    --hash=sha256:b8\njupyterlab==4.6.6 \\\n    --hash=sha256:c6\n"
	type step struct{ line, want string }
	for name, steps := range map[string][]step{
		"pip": {
			{"", "Downloading JupyterLab …"},
			{"Ignoring appnope: markers 'sys_platform == \"darwin\"' don't match your environment", "Downloading JupyterLab …"},
			{"Collecting babel==2.18.0 (from -r /tmp/zlab.txt (line 95))", "Downloading JupyterLab: package 1 of 2, 0 MB so far …"},
			{"  Using cached babel-2.18.0-py3-none-any.whl (10.2 MB)", "Downloading JupyterLab: package 1 of 2, 0 MB so far …"},
			{"Collecting jupyterlab==4.6.6 (from -r /tmp/zlab.txt (line 500))", "Downloading JupyterLab: package 2 of 2, 10 MB so far …"},
			{"  Downloading jupyterlab-4.6.6-py3-none-any.whl (17.3 MB)", "Downloading JupyterLab: package 2 of 2, 10 MB so far …"},
			{"     ━━━━━━━━━━━━━━━━━━━━━━━━━━━━━━━━━━━━━━━ 17.3/17.3 MB 394.9 MB/s eta 0:00:00", "Downloading JupyterLab: package 2 of 2, 10 MB so far …"},
			{"Installing collected packages: babel, jupyterlab", "Installing JupyterLab: 3 MB so far …"},
		},
		"uv": {
			{"Using Python 3.11.7 environment at: v2", "Downloading JupyterLab …"},
			{"Resolved 92 packages in 1.42s", "Downloading JupyterLab …"},
			{"Downloading jupyterlab (16.5MiB)", "Downloading JupyterLab: 92 packages, 0 of 16 MB …"},
			{"Downloading babel (9.7MiB)", "Downloading JupyterLab: 92 packages, 0 of 26 MB …"},
			{" Downloaded jupyterlab", "Downloading JupyterLab: 92 packages, 16 of 26 MB …"},
			{"Prepared 92 packages in 2.10s", "Installing JupyterLab: 3 MB so far …"},
		},
	} {
		dir := t.TempDir()
		if err := os.WriteFile(filepath.Join(dir, "unpacked"), make([]byte, 3<<20), 0o644); err != nil {
			t.Fatal(err)
		}
		packages := newInstaller(requirements)
		for _, step := range steps {
			for _, part := range []string{step.line[:len(step.line)/2], step.line[len(step.line)/2:], "\n"} { // as pipes may cut it
				if n, err := packages.Write([]byte(part)); n != len(part) || err != nil {
					t.Fatalf("%s: got %d, %v", name, n, err)
				}
			}
			if got := packages.stage("JupyterLab", dir); got != step.want {
				t.Errorf("%s: after %q: got %q, want %q", name, step.line, got, step.want)
			}
		}
	}
}

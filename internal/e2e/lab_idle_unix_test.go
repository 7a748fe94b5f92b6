//go:build unix

package e2e

import (
	"bytes"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"
)

// TestIdleKernel leaves a kernel idle in a real JupyterLab, which ends it. What it showed is in the history, where the next kernel of the
// notebook finds it. Meanwhile another user of the machine reads none of the files with keys and tokens.
func TestIdleKernel(t *testing.T) {
	temp, err := os.MkdirTemp("", "idle-") // other users may enter it, as they may /tmp
	if err != nil {
		t.Fatal(err)
	}
	defer os.RemoveAll(temp)
	if err := os.Chmod(temp, 0o755); err != nil {
		t.Fatal(err)
	}
	history := filepath.Join(temp, "history", "history.sqlite")
	t.Setenv("TMPDIR", temp)
	t.Setenv("HALFNOTE_HISTORY", history)
	python, base := labServer(t, nil, 3*time.Second)
	runs, err := filepath.Glob(filepath.Join(temp, "halfnote-lab-*"))
	if err != nil || len(runs) != 1 {
		t.Fatalf("runtime folders %q, %v, want one", runs, err)
	}
	got := runPython(t, python, filepath.Join("internal", "e2e", "testdata", "idle.py"), base, "secret", runs[0])
	const want = "first: the answer is 42\nits connection file is gone\nanother kernel: True\nsecond: the answer is 42\n"
	if got != want {
		t.Errorf("got\n%s\nwant\n%s", got, want)
	}
	t.Run("another user", func(t *testing.T) { readsNothing(t, temp, history) })
}

// readsNothing checks that another user can read no file with a key or a token: those of the second kernel of TestIdleKernel, and the history.
func readsNothing(t *testing.T, temp, history string) {
	if os.Getuid() != 0 {
		t.Skip("only root can be another user")
	}
	var secrets []string
	for _, pattern := range []string{"kernel-*.json", "jpserver-*.json", "token"} {
		files, err := filepath.Glob(filepath.Join(temp, "halfnote-lab-*", pattern))
		if err != nil || len(files) == 0 {
			t.Errorf("%s: got %q, %v, want a file", pattern, files, err)
		}
		secrets = append(secrets, files...)
	}
	secrets = append(secrets, history)
	other := func(name string, args ...string) *exec.Cmd {
		cmd := exec.Command(name, args...)
		cmd.SysProcAttr = &syscall.SysProcAttr{Credential: &syscall.Credential{Uid: 65534, Gid: 65534}}
		return cmd
	}
	public := filepath.Join(temp, "public")
	if err := os.WriteFile(public, []byte("text"), 0o644); err != nil {
		t.Fatal(err)
	}
	if out, err := other("cat", public).CombinedOutput(); err != nil || string(out) != "text" {
		t.Fatalf("the other user cannot read a public file in the same folder: %s, %v", out, err)
	}
	for _, file := range secrets {
		if out, err := other("cat", file).Output(); err == nil || len(out) > 0 {
			t.Errorf("another user reads %d bytes of %s, %v", len(out), file, err)
		}
	}
	// Command lines are public.
	lines, err := other("sh", "-c", "cat /proc/[0-9]*/cmdline").Output()
	if err != nil && len(lines) == 0 {
		t.Skip("needs /proc: ", err)
	}
	for _, file := range secrets[:len(secrets)-1] {
		text, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		for _, word := range strings.FieldsFunc(string(text), func(r rune) bool { return strings.ContainsRune(" \n\",{}", r) }) {
			if len(word) >= 32 && !strings.Contains(word, "/") && bytes.Contains(lines, []byte(word)) {
				t.Errorf("a word of %d letters of %s is in a command line, which every user can read", len(word), file)
			}
		}
	}
}

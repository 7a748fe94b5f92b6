package e2e

import (
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"golang.org/x/mod/module"
	"golang.org/x/mod/zip"

	"halfnote/internal/testenv"
)

// TestModulePath gives a copy of the module another path, with the commands in CONTRIBUTING.md, and installs it from a folder as
// "go install PATH@latest" does. The program runs a notebook.
func TestModulePath(t *testing.T) {
	testenv.Long(t)
	need(t, "long", "git")
	text, err := os.ReadFile("CONTRIBUTING.md")
	if err != nil {
		t.Fatal(err)
	}
	_, section, _ := strings.Cut(string(text), "## The module path")
	section, _, _ = strings.Cut(section, "\n## ")
	var commands []string
	for line := range strings.Lines(section) {
		if command, ok := strings.CutPrefix(line, "    "); ok {
			commands = append(commands, strings.TrimSpace(command))
		}
	}
	dir := t.TempDir()
	checkout, proxy := filepath.Join(dir, "copy"), filepath.Join(dir, "proxy", "example.com", "owner", "halfnote", "@v")
	sh := func(command string, env ...string) string {
		t.Helper()
		cmd := exec.CommandContext(t.Context(), "sh", "-ec", command)
		cmd.Dir, cmd.Env = checkout, append(os.Environ(), env...)
		out, err := cmd.CombinedOutput()
		if err != nil {
			t.Fatalf("%s: %v\n%s", command, err, out)
		}
		return string(out)
	}
	root, err := os.Getwd()
	if err := errors.Join(err, os.MkdirAll(checkout, 0o755), os.MkdirAll(proxy, 0o755)); err != nil {
		t.Fatal(err)
	}
	sh("git -C '" + root + "' ls-files -z --cached --others --exclude-standard | (cd '" + root + "' && xargs -0 cp --parents -t '" + checkout + "'); git init -q; git add -A")
	for _, command := range commands {
		sh(command)
	}
	sh("go test -vet=off -run 'Imports' . ./interp/internal/symbols/gen ./interp/internal/exports/gen")
	version := module.Version{Path: "example.com/owner/halfnote", Version: "v0.2.0"}
	z, err := os.Create(filepath.Join(proxy, version.Version+".zip"))
	if err != nil {
		t.Fatal(err)
	}
	mod, err := os.ReadFile(filepath.Join(checkout, "go.mod"))
	err = errors.Join(err, zip.CreateFromDir(z, version, checkout), z.Close(),
		os.WriteFile(filepath.Join(proxy, version.Version+".mod"), mod, 0o644),
		os.WriteFile(filepath.Join(proxy, version.Version+".info"), []byte(`{"Version":"v0.2.0"}`), 0o644),
		os.WriteFile(filepath.Join(proxy, "list"), []byte("v0.2.0\n"), 0o644))
	if err != nil {
		t.Fatal(err)
	}
	sh("cd ..; go install example.com/owner/halfnote@latest", "GOBIN="+dir, "GOFLAGS=-modcacherw", "GOSUMDB=off",
		"GOPROXY=file://"+filepath.ToSlash(filepath.Join(dir, "proxy"))+","+goEnv(t, "GOPROXY"))
	t.Cleanup(func() { os.RemoveAll(filepath.Join(goEnv(t, "GOMODCACHE"), "example.com", "owner")) })
	if out := sh("../halfnote version; ../halfnote run --output ../out.ipynb notebooks/00-hello.ipynb", "HALFNOTE_HISTORY="); !strings.HasPrefix(out, "halfnote ") {
		t.Errorf("got %s", out)
	}
}

// goEnv returns a variable of Go's command.
func goEnv(t *testing.T, name string) string {
	t.Helper()
	out, err := exec.Command("go", "env", name).Output()
	if err != nil {
		t.Fatal(err)
	}
	return strings.TrimSpace(string(out))
}

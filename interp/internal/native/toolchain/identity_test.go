package toolchain

import (
	"archive/zip"
	"bytes"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"
	"testing"

	"halfnote/internal/testenv"
)

// asking is a module with this package. Its program, and its test, say whether their cells could be compiled, and read one
// of their variables by its address.
type asking struct {
	dir   string
	files map[string]string // of the module
	env   []string
}

const askingMain = `package main

import (
	"io"
	"os"

	"example.com/asking/ask"
	"example.com/asking/other"
)

var (
	label = "a label" // -X sets it
	probe = other.Number() + len(label)
)

func main() {
	io.Copy(io.Discard, os.Stdin)
	ask.Ask(label, probe)
}
`

const askingAsk = `package ask

import (
	"context"
	"fmt"
	"unsafe"

	"example.com/asking/other"
	"example.com/asking/toolchain"
)

func Ask(label string, probe int) {
	t, err := toolchain.Find(context.Background())
	if err != nil {
		fmt.Println("refused:", err)
		return
	}
	address := t.Addresses["example.com/asking/other.Probe"]
	fmt.Println("found", label, *(**int)(unsafe.Pointer(&address)) == &other.Probe, probe, t.Packages["fmt"] != "")
}
`

const askingOther = `package other

const Factor = 2

var Probe = 42

//go:noinline
func Number() int { return Factor * (Probe + 1) }
`

// newAsking writes the module.
func newAsking(t *testing.T) *asking {
	t.Helper()
	if !testenv.Requires("native") {
		t.Skip("HALFNOTE_REQUIRE does not list native")
	}
	out, err := exec.CommandContext(t.Context(), "go", "env", "GOHOSTARCH", "GOCACHE").Output()
	if err != nil {
		t.Fatal(err)
	}
	arch, cache, _ := strings.Cut(strings.TrimSpace(string(out)), "\n")
	if arch != runtime.GOARCH {
		t.Skip("the emulator of this test runs no other program")
	}
	a := &asking{dir: t.TempDir()}
	a.env = append(os.Environ(), "GOFLAGS=", "GOWORK=off", "GOTOOLCHAIN="+runtime.Version(), "GOCACHE="+cache, "XDG_CACHE_HOME="+t.TempDir(), "GOBIN="+filepath.Join(a.dir, "bin"))
	a.files = map[string]string{
		"go.mod":            "module example.com/asking\n\ngo 1.26\n",
		"main.go":           askingMain,
		"main_test.go":      "package main\n\nimport (\n\t\"testing\"\n\n\t\"example.com/asking/ask\"\n)\n\nfunc TestAsk(*testing.T) { ask.Ask(label, probe) }\n",
		"c.go":              "//go:build c\n\npackage main\n\n// static int one(void) { return 1; }\nimport \"C\"\n\nfunc init() { probe += int(C.one()) - 1 }\n",
		"ask/ask.go":        askingAsk,
		"ask/ask_test.go":   "package ask\n\nimport \"testing\"\n\nfunc TestAsk(*testing.T) { Ask(\"a label\", 93) }\n",
		"other/other.go":    askingOther,
		"toolchain/link.sh": string(linkScript),
	}
	own, err := filepath.Glob("*.go")
	if err != nil {
		t.Fatal(err)
	}
	for _, name := range own {
		b, err := os.ReadFile(name)
		if err != nil {
			t.Fatal(err)
		}
		if !strings.HasSuffix(name, "_test.go") {
			a.files["toolchain/"+name] = string(b)
		}
	}
	for name, text := range a.files {
		a.write(t, name, text)
	}
	return a
}

// write writes a file of the module.
func (a *asking) write(t *testing.T, name, text string) {
	t.Helper()
	file := filepath.Join(a.dir, filepath.FromSlash(name))
	if err := os.MkdirAll(filepath.Dir(file), 0o777); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(file, []byte(text), 0o666); err != nil {
		t.Fatal(err)
	}
}

// command is a command in the folder of the module.
func (a *asking) command(t *testing.T, command ...string) *exec.Cmd {
	cmd := exec.CommandContext(t.Context(), command[0], command[1:]...)
	cmd.Dir, cmd.Env = a.dir, a.env
	return cmd
}

// run runs a command and returns what it prints.
func (a *asking) run(t *testing.T, command ...string) string {
	t.Helper()
	out, err := a.command(t, command...).CombinedOutput()
	if err != nil {
		t.Errorf("%q: %v\n%s", command, err, out)
	}
	return string(out)
}

// TestIdentity builds a program in each way, and lets it find its toolchain.
func TestIdentity(t *testing.T) {
	a := newAsking(t)
	if git, err := exec.LookPath("git"); err == nil {
		for _, args := range []string{"init -q", "add .", "-c user.name=a -c user.email=a@example.com commit -qm first"} {
			a.run(t, append([]string{git}, strings.Fields(args)...)...)
		}
	}
	const found, labelled = "found a label true 93 true", "found another true 93 true"
	for _, tt := range []struct{ name, command, want string }{
		{"go build", "go build -o asking", found},
		{"go build, without version control", "go build -buildvcs=false -o asking", found},
		{"go install", "go install", found},
		{"without debug information", "go build -ldflags=-w -o asking", found},
		{"stripped", "go build -ldflags=-s -o asking", found},
		{"stripped, without a build ID", "go build -ldflags=-s|-w|-buildid= -o asking", found},
		{"with a build ID of its own", "go build -ldflags=-buildid=one -o asking", found},
		{"trimmed", "go build -trimpath -o asking", found},
		{"trimmed and stripped", "go build -trimpath -ldflags=-s|-w -o asking", found},
		{"trimmed and stripped, without a build ID", "go build -trimpath -ldflags=-s|-w|-buildid= -o asking", found},
		{"with a value", "go build -ldflags=-X|main.label=another -o asking", labelled},
		{"stripped, with a value", "go build -ldflags=-s|-w|-X|main.label=another -o asking", labelled},
		{"trimmed, with a value", "go build -trimpath -ldflags=-X|main.label=another -o asking", "or it has -trimpath and flags of the linker, such as -X, which it does not record then"},
		{"without optimization", "go build -gcflags=-N|-l -o asking", found},
		{"go run", "go run .", found},
		{"go run, trimmed", "go run -trimpath .", found},
		{"go run, with a value", "go run -ldflags=-X|main.label=another .", labelled},
		{"go run, without optimization", "go run -gcflags=-N|-l .", found},
		{"go run, with flags for a package", "go run -gcflags=example.com/asking=-N|-l .", found},
		{"linked by gcc", "go build -tags=c -o asking", found},
		{"linked by gcc, trimmed and stripped, without a build ID", "go build -tags=c -trimpath -ldflags=-s|-w|-buildid= -o asking", found},
		{"linked by gcc, trimmed, with a build ID of its own", "go build -tags=c -trimpath -ldflags=-buildid=one -o asking", found},
		{"linked by gcc, go run", "go run -tags=c .", found},
		{"go run of files", "go run main.go", "go run . instead of go run main.go"},
		{"go test", "go test -v ./ask", found},
		{"go test of a package main", "go test -v .", found},
		{"go test -c", "go test -c -o asking.test ./ask", found},
		{"measuring coverage", "go build -cover -o asking", "without -cover=true"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			var command []string
			for _, arg := range strings.Fields(tt.command) {
				command = append(command, strings.ReplaceAll(arg, "|", " "))
			}
			if _, err := exec.LookPath("gcc"); err != nil && strings.Contains(tt.command, "-tags=c") {
				testenv.Missing(t, "gcc", err)
			}
			out := a.run(t, command...)
			switch {
			case command[1] == "install":
				out = a.run(t, "bin/asking")
			case strings.Contains(tt.command, "test -c"):
				out = a.run(t, "./asking.test", "-test.v")
			case strings.Contains(tt.command, "-o asking"):
				out = a.run(t, "./asking")
			}
			if !strings.Contains(out, tt.want) {
				t.Errorf("%s: got %s\nwant %s", tt.command, out, tt.want)
			}
		})
	}
}

// TestIdentityChanged checks that a program is refused whose sources have changed since it was built, also where
// neither package main nor the interface of a package shows it.
func TestIdentityChanged(t *testing.T) {
	a := newAsking(t)
	for _, flags := range []string{"", "-s -w", "-s -w -buildid="} {
		a.run(t, "go", "build", "-ldflags="+flags, "-o", "asking")
		for _, tt := range []struct{ name, file, from, to string }{
			{"package main", "main.go", "probe = ", "probe = 1 + "},
			{"a constant", "other/other.go", "Factor = 2", "Factor = 3"},
			{"the value of a variable", "other/other.go", "Probe = 42", "Probe = 43"},
			{"the body of a function", "other/other.go", "Probe + 1", "Probe + 2"},
		} {
			text, err := os.ReadFile(filepath.Join(a.dir, tt.file))
			if err != nil {
				t.Fatal(err)
			}
			a.write(t, tt.file, strings.Replace(string(text), tt.from, tt.to, 1))
			if out, want := a.run(t, "./asking"), "they, or Go, have changed since: build it again"; !strings.Contains(out, want) {
				t.Errorf("%s, linked with %q: got %s\nwant %s", tt.name, flags, out, want)
			}
			a.write(t, tt.file, string(text))
		}
		if out := a.run(t, "./asking"); !strings.HasPrefix(out, "found") {
			t.Errorf("the former sources, linked with %q: got %s\nwant found", flags, out)
		}
	}
}

// TestIdentityReplaced checks that a program whose file is replaced while it runs is not taken for the new one.
func TestIdentityReplaced(t *testing.T) {
	a := newAsking(t)
	a.run(t, "go", "build", "-o", "asking")
	cmd := a.command(t, "./asking")
	var out bytes.Buffer
	cmd.Stdout = &out
	in, err := cmd.StdinPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	a.run(t, "go", "build", "-ldflags=-s -X main.label=another", "-o", "new")
	if err := os.Rename(filepath.Join(a.dir, "new"), filepath.Join(a.dir, "asking")); err != nil {
		t.Fatal(err)
	}
	_, err = io.WriteString(in, "\n")
	in.Close()
	if waited := cmd.Wait(); err != nil || waited != nil || !strings.HasPrefix(out.String(), "found a label true 93") {
		t.Errorf("got %s, %v, %v; want found", out.String(), err, waited)
	}
}

// TestIdentityGone checks what a program says whose sources are not where they were.
func TestIdentityGone(t *testing.T) {
	a := newAsking(t)
	a.run(t, "go", "build", "-o", "asking")
	a.run(t, "go", "build", "-trimpath", "-o", "trimmed")
	moved := filepath.Join(t.TempDir(), "moved")
	if err := os.Rename(a.dir, moved); err != nil {
		t.Fatal(err)
	}
	old := a.dir
	a.dir = moved
	if out, want := a.run(t, "./asking"), old+"/toolchain, where it was built, has none: build it again"; !strings.Contains(out, want) {
		t.Errorf("got %s\nwant %s", out, want)
	}
	if out := a.run(t, "./trimmed"); !strings.HasPrefix(out, "found") {
		t.Errorf("trimmed, in the moved folder: got %s\nwant found", out)
	}
	elsewhere := filepath.Join(t.TempDir(), "trimmed")
	if err := os.Rename(filepath.Join(moved, "trimmed"), elsewhere); err != nil {
		t.Fatal(err)
	}
	if out := a.run(t, elsewhere); !strings.HasPrefix(out, "found") {
		t.Errorf("trimmed, started in its checkout: got %s\nwant found", out)
	}
	a.dir = t.TempDir()
	a.env = append(a.env, "XDG_CACHE_HOME="+t.TempDir())
	if out, want := a.run(t, elsewhere), "start it in its checkout"; !strings.Contains(out, want) {
		t.Errorf("trimmed, elsewhere: got %s\nwant %s", out, want)
	}
}

// TestIdentityVersion installs a version of the module, as a program is installed without a checkout.
func TestIdentityVersion(t *testing.T) {
	a := newAsking(t)
	proxy := filepath.Join(t.TempDir(), "example.com", "asking", "@v")
	if err := os.MkdirAll(proxy, 0o777); err != nil {
		t.Fatal(err)
	}
	var archive bytes.Buffer
	z := zip.NewWriter(&archive)
	for name, text := range a.files {
		w, err := z.Create("example.com/asking@v0.1.0/" + name)
		if err == nil {
			_, err = io.WriteString(w, text)
		}
		if err != nil {
			t.Fatal(err)
		}
	}
	if err := z.Close(); err != nil {
		t.Fatal(err)
	}
	for name, text := range map[string]string{"list": "v0.1.0\n", "v0.1.0.info": `{"Version":"v0.1.0"}`, "v0.1.0.mod": a.files["go.mod"], "v0.1.0.zip": archive.String()} {
		if err := os.WriteFile(filepath.Join(proxy, name), []byte(text), 0o666); err != nil {
			t.Fatal(err)
		}
	}
	root := filepath.Dir(filepath.Dir(filepath.Dir(proxy)))
	a.env = append(a.env, "GOPROXY=file://"+filepath.ToSlash(root), "GONOSUMDB=*", "GOMODCACHE="+t.TempDir())
	a.dir = t.TempDir()
	a.run(t, "go", "install", "-modcacherw", "example.com/asking@v0.1.0")
	bin, err := a.command(t, "go", "env", "GOBIN").Output()
	if err != nil {
		t.Fatal(err)
	}
	if out := a.run(t, filepath.Join(strings.TrimSpace(string(bin)), "asking")); !strings.HasPrefix(out, "found") {
		t.Errorf("got %s\nwant found", out)
	}
}

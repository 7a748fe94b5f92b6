package e2e

import (
	"bytes"
	"context"
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"testing"
	"time"

	"halfnote/internal/testenv"
	"halfnote/kernel/client"
	"halfnote/kernel/kerneltest"
)

// wine is a Windows that Wine keeps in a folder.
type wine struct {
	command string
	env     []string
}

// openWine makes a Windows with the library that Go's programs need. It ends with the test.
func openWine(t *testing.T) wine {
	t.Helper()
	w := wine{command: need(t, "wine", "wine")}
	prefix, err := os.MkdirTemp("", "halfnote-wine") // not t.TempDir: Wine still writes to it when the test ends
	if err != nil {
		t.Fatal(err)
	}
	// Wine would ask whether to install .NET and a browser.
	w.env = append(os.Environ(), "WINEPREFIX="+prefix, "WINEDEBUG=-all", "WINEDLLOVERRIDES=mscoree,mshtml=", "HALFNOTE_HISTORY=", "HALFNOTE_PROGRESS=")
	t.Cleanup(func() {
		_, _ = w.run("wineboot", "-k")
		_ = os.RemoveAll(prefix)
	})
	if out, err := w.run("wineboot", "-i"); err != nil {
		t.Fatalf("wineboot: %v\n%s", err, out)
	}
	library := filepath.Join(prefix, "drive_c", "windows", "system32", "bcryptprimitives.dll")
	if _, err := os.Stat(library); errors.Is(err, os.ErrNotExist) {
		err = os.WriteFile(library, forwarder("bcryptprimitives.dll", "ProcessPrng", "advapi32.SystemFunction036"), 0o644)
		if err != nil {
			t.Fatal(err)
		}
	}
	return w
}

// run runs a Windows program and returns its output.
func (w wine) run(args ...string) (output string, err error) {
	cmd := exec.Command(w.command, args...)
	cmd.Env = w.env
	var out bytes.Buffer // CombinedOutput would wait for Wine's server too
	file, err := os.CreateTemp("", "halfnote-wine-output")
	if err != nil {
		return "", err
	}
	defer os.Remove(file.Name())
	defer file.Close()
	cmd.Stdout, cmd.Stderr = file, file
	err = cmd.Run()
	if _, seek := file.Seek(0, 0); seek != nil {
		return "", seek
	}
	if _, read := out.ReadFrom(file); read != nil {
		return "", read
	}
	return out.String(), err
}

// forWindows runs the go command for Windows. With -trimpath it finds the packages that releasedFor has compiled.
func forWindows(t *testing.T, args ...string) {
	t.Helper()
	cmd := exec.Command("go", args...)
	cmd.Env = append(os.Environ(), "GOOS=windows", "GOARCH=amd64", "CGO_ENABLED=0")
	if out, err := cmd.CombinedOutput(); err != nil {
		t.Fatalf("go %q for Windows: %v\n%s", args, err, out)
	}
}

// TestWindows runs the program of the wheel for Windows in Wine: the lesson on three loops, whose outputs are those committed, and conformance
// scripts of the kernel, once with the program's kernel and a client on this system, and once with client and kernel in Wine.
func TestWindows(t *testing.T) {
	if !testenv.Requires("wine") {
		t.Skip("builds the program for Windows and runs it for a minute; HALFNOTE_REQUIRE=wine does")
	}
	w := openWine(t)
	exe, conformance := releasedFor(t, "windows-amd64"), filepath.Join(t.TempDir(), "kerneltest.exe")
	t.Run("lesson", func(t *testing.T) {
		const file = "notebooks/05-three-loops.ipynb"
		sameOutputs(t, file, func(out string) (string, int) {
			text, err := w.run(exe, "run", "--receipt", filepath.FromSlash(file), "--output", out)
			if err != nil {
				return text + err.Error(), 1
			}
			return text, 0
		})
	})
	t.Run("program", func(t *testing.T) {
		kerneltest.Run(t, func(o client.Options) (*client.Kernel, error) {
			ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
			defer cancel()
			spec := client.Spec{
				DisplayName: "Go (halfnote)", Language: "go", InterruptMode: "message", Env: map[string]string{},
				Argv: []string{w.command, exe, "kernel", "{connection_file}"},
			}
			for _, v := range w.env[len(w.env)-5:] {
				name, value, _ := bytes.Cut([]byte(v), []byte("="))
				spec.Env[string(name)] = string(value)
			}
			return client.Start(ctx, spec, o)
		}, "internal/e2e/testdata/protocol") // those in testdata/kernel run commands, which need a shell
	})
	t.Run("kernel", func(t *testing.T) {
		forWindows(t, "test", "-c", "-trimpath", "-vet=off", "-o", conformance, "./kernel/kerneltest")
		t.Chdir("kernel/kerneltest")
		if out, err := w.run(conformance, "-test.run", "^(TestScripts|TestKernelEndsWithItsParent|TestLargeOutputIsComplete)$"); err != nil {
			t.Errorf("%v\n%s", err, out)
		}
	})
}

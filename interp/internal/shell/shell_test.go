package shell

import (
	"bytes"
	"context"
	"errors"
	"os/exec"
	"runtime"
	"slices"
	"strings"
	"testing"
)

// command returns a command for a shell, or skips the test.
func command(t *testing.T, script string) *exec.Cmd {
	t.Helper()
	path, err := LookPath(Names...)
	if err != nil {
		t.Skipf("needs a shell: %v", err)
	}
	return exec.Command(path, "-c", script)
}

// TestProcess checks the output and the errors of processes.
func TestProcess(t *testing.T) {
	t.Setenv("LC_ALL", "C") // a shell warns if the user\'s language is not installed
	for _, c := range []struct{ script, out, errs, failed string }{
		{"echo a; echo b >&2", "a\n", "b\n", ""},
		{"echo a; exit 3", "a\n", "", "exit status 3"},
		{"(sleep 1000; echo late) & echo early", "early\n", "", ""}, // the background process is killed
	} {
		if runtime.GOOS == "windows" && strings.Contains(c.script, "&") {
			continue
		}
		var out, errs bytes.Buffer
		p, err := Start(command(t, c.script), &out, &errs)
		if err != nil {
			t.Fatal(err)
		}
		failed := ""
		if err := p.Wait(context.Background()); err != nil {
			failed = err.Error()
		}
		if out.String() != c.out || errs.String() != c.errs || failed != c.failed {
			t.Errorf("%s: got %q, %q, %q, want %q, %q, %q", c.script, out.String(), errs.String(), failed, c.out, c.errs, c.failed)
		}
	}
}

// written is a writer that reports its first bytes.
type written struct{ first chan struct{} }

func (w *written) Write(p []byte) (int, error) {
	select {
	case <-w.first:
	default:
		close(w.first)
	}
	return len(p), nil
}

// TestStopped checks that the end of a context ends a command that ignores interrupts.
func TestStopped(t *testing.T) {
	if runtime.GOOS == "windows" {
		t.Skip("needs signals")
	}
	ctx, cancel := context.WithCancel(context.Background())
	w := &written{make(chan struct{})}
	p, err := Start(command(t, "trap '' INT; echo ready; while :; do sleep 1000; done"), w, w)
	if err != nil {
		t.Fatal(err)
	}
	<-w.first
	cancel()
	if err := p.Wait(ctx); !errors.Is(err, ErrStopped) {
		t.Errorf("got %v, want %v", err, ErrStopped)
	}
}

// TestStartFails checks that a program that cannot start is an error of Start.
func TestStartFails(t *testing.T) {
	if _, err := Start(exec.Command(t.TempDir()), new(bytes.Buffer), new(bytes.Buffer)); err == nil {
		t.Error("a folder was started")
	}
}

func TestLines(t *testing.T) {
	for text, want := range map[string][]string{"": nil, "\n": nil, "a": {"a"}, "a\r\nb\n": {"a", "b"}, "a\n\n": {"a", ""}} {
		if got := Lines(text); !slices.Equal(got, want) {
			t.Errorf("%q: got %q, want %q", text, got, want)
		}
	}
}

// TestExpand checks which braces are filled.
func TestExpand(t *testing.T) {
	noValue := errors.New("division by zero")
	values := Values{
		Is: func(name string, beforeDot bool) bool { return name == "x" || name == "y" || beforeDot && name == "os" },
		Text: func(expr string, offset int) (string, bool, error) {
			switch expr {
			case "x/0":
				return "", false, noValue
			case "y":
				return "", false, nil
			}
			return "<" + expr + ">", true, nil
		},
	}
	for _, c := range []struct{ line, want string }{
		{"echo {x}", "echo <x>"},
		{"echo {x + 1} {os.Args}", "echo <x + 1> <os.Args>"},
		{"echo {{x}}", "echo {x}"},
		{"echo ${x}", "echo ${x}"},
		{"echo {z} {a,b} {1..3}", "echo {z} {a,b} {1..3}"},
		{"echo {y}", "echo {y}"},
		{"echo {x", "echo {x"},
		{"f() { echo {x}; }", "f() { echo <x>; }"},
	} {
		if got, err := Expand(c.line, values); got != c.want || err != nil {
			t.Errorf("%s: got %q, %v, want %q", c.line, got, err, c.want)
		}
	}
	if _, err := Expand("echo {x/0}", values); err != noValue {
		t.Errorf("got %v, want %v", err, noValue)
	}
}

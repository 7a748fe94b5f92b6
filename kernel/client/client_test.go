package client_test

import (
	"context"
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"halfnote/kernel/client"
	"halfnote/kernel/kerneltest"
)

func TestMain(m *testing.M) { kerneltest.Main(m) }

func start(t *testing.T, o client.Options) (*client.Kernel, context.Context) {
	t.Helper()
	ctx, cancel := context.WithTimeout(context.Background(), 2*time.Minute)
	t.Cleanup(cancel)
	k, err := client.Start(ctx, kerneltest.EchoSpec(), o)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { k.Close() })
	return k, ctx
}

func TestExecute(t *testing.T) {
	k, ctx := start(t, client.Options{})
	if k.Info().Implementation != "echo" || k.Info().LanguageInfo["file_extension"] != ".echo" {
		t.Errorf("got info %+v, want that of the echo kernel", k.Info())
	}
	var types []string
	reply, err := k.Execute(ctx, "print a\nresult b", client.ExecuteOptions{}, func(m client.Message) {
		types = append(types, m.Header.Type)
	})
	if err != nil || reply.Status != "ok" || reply.ExecutionCount != 1 || reply.ID != reply.Message.Parent.ID {
		t.Errorf("reply %+v, %v", reply, err)
	}
	if got, want := strings.Join(types, " "), "status execute_input stream execute_result status"; got != want {
		t.Errorf("got %s, want %s", got, want)
	}
	reply, err = k.Execute(ctx, "error Oops dear", client.ExecuteOptions{}, nil)
	if err != nil || reply.Status != "error" || reply.ErrorName != "Oops" || reply.ErrorValue != "dear" || len(reply.Traceback) != 1 {
		t.Errorf("reply %+v, %v", reply, err)
	}
}

// TestCancelExecute cancels a call of Execute. The cell must continue, the next cell
// must run, and the remaining messages of the first must go to Late.
func TestCancelExecute(t *testing.T) {
	var late sync.Map
	k, ctx := start(t, client.Options{Late: func(m client.Message) { late.Store(m.Header.Type+" "+m.Parent.ID, true) }})
	short, cancel := context.WithCancel(ctx)
	reply, err := k.Execute(short, "print a\nsleep 50ms\nprint b", client.ExecuteOptions{}, func(m client.Message) {
		if m.Header.Type == "stream" {
			cancel()
		}
	})
	if !errors.Is(err, context.Canceled) {
		t.Fatalf("got error %v, want context.Canceled", err)
	}
	if next, err := k.Execute(ctx, "result x", client.ExecuteOptions{}, nil); err != nil || next.Status != "ok" || next.ExecutionCount != 2 {
		t.Errorf("next cell: got %+v, %v; want status ok and execution count 2", next, err)
	}
	if _, ok := late.Load("stream " + reply.ID); !ok {
		t.Error("the rest of the output did not arrive late")
	}
}

func TestKernelEndsDuringACell(t *testing.T) {
	var written strings.Builder
	k, ctx := start(t, client.Options{Stderr: &written})
	// A message of an unknown type makes the kernel write a line to its log.
	if _, err := k.Send("control", "nonsense", struct{}{}); err != nil {
		t.Fatal(err)
	}
	if _, err := k.Request(ctx, "control", "kernel_info_request", struct{}{}); err != nil {
		t.Fatal(err)
	}
	shown := make(chan struct{})
	_, err := k.Execute(ctx, "display - a\ninput go?\nexit 3", client.ExecuteOptions{
		Input: func(string, bool) (string, error) {
			<-shown // messages that a process has not sent when it ends are lost
			return "", nil
		},
	}, func(m client.Message) {
		if m.Header.Type == "display_data" {
			close(shown)
		}
	})
	var exit *client.ExitError
	if !errors.As(err, &exit) || exit.State != "exit status 3" || !strings.Contains(exit.Output, `unknown message type "nonsense"`) {
		t.Errorf("got error %v, want exit status 3 and the kernel's last lines", err)
	}
	if _, err := k.Execute(ctx, "print a", client.ExecuteOptions{}, nil); !errors.As(err, &exit) {
		t.Errorf("cell sent to a dead kernel: got error %v, want an ExitError", err)
	}
	if err := k.Shutdown(ctx, false); err != nil {
		t.Errorf("shutdown of a dead kernel: %v", err)
	}
	k.Close()
	if !strings.Contains(written.String(), "nonsense") {
		t.Errorf("Stderr got %q", written.String())
	}
}

func TestStartFails(t *testing.T) {
	dir := t.TempDir()
	t.Setenv("TMPDIR", dir)
	for _, tt := range []struct {
		name    string
		argv    []string
		timeout time.Duration
		want    string
	}{
		{"no command", nil, 10 * time.Second, "argv is empty"},
		{"unknown command", []string{"/nowhere/kernel"}, 10 * time.Second, "client: start /nowhere/kernel: "},
		{"ends at once", []string{"sh", "-c", "echo cannot go on >&2; exit 7"}, 10 * time.Second, "exit status 7); its last lines:\ncannot go on"},
		{"never listens", []string{"sh", "-c", "sleep 60"}, 200 * time.Millisecond, "is not listening: context deadline exceeded"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			if _, err := os.Stat("/bin/sh"); err != nil && len(tt.argv) > 1 {
				t.Skip("needs /bin/sh")
			}
			ctx, cancel := context.WithTimeout(t.Context(), tt.timeout)
			defer cancel()
			k, err := client.Start(ctx, client.Spec{Argv: tt.argv}, client.Options{})
			if err != nil && strings.Contains(err.Error(), "zmq4: ") { // another process took one of the free ports
				ctx, cancel := context.WithTimeout(t.Context(), tt.timeout)
				defer cancel()
				k, err = client.Start(ctx, client.Spec{Argv: tt.argv}, client.Options{})
			}
			if err == nil || !strings.Contains(err.Error(), tt.want) || k != nil {
				t.Errorf("got %v, error %v, want %q", k, err, tt.want)
			}
		})
	}
	if left, _ := filepath.Glob(filepath.Join(dir, "*")); len(left) != 0 {
		t.Errorf("left behind: %v", left)
	}
}

// TestStartRetries starts a kernel whose port is taken the first time, by a process that has
// released it when the kernel has ended.
func TestStartRetries(t *testing.T) {
	sh, err := exec.LookPath("sh")
	if err != nil {
		t.Skip(err)
	}
	tried := filepath.Join(t.TempDir(), "tried")
	spec := kerneltest.EchoSpec()
	script := `if test -e "$1"; then shift; exec "$@"; fi; touch "$1"; echo "bind: Address already in use" >&2; exit 1`
	spec.Argv = append([]string{sh, "-c", script, "sh", tried}, spec.Argv...)
	k, err := client.Start(context.Background(), spec, client.Options{})
	if err != nil {
		t.Fatal(err)
	}
	k.Close()
	if _, err := os.Stat(tried); err != nil {
		t.Error("the first start did not fail:", err)
	}
}

func TestConnectionFileIsPrivateAndRemoved(t *testing.T) {
	dir := t.TempDir()
	t.Setenv("TMPDIR", dir)
	k, _ := start(t, client.Options{})
	files, _ := filepath.Glob(filepath.Join(dir, "kernel-*", "kernel-*.json"))
	if len(files) != 1 {
		t.Fatalf("connection files: %v", files)
	}
	if fi, err := os.Stat(files[0]); err != nil || fi.Mode().Perm() != 0o600 {
		t.Errorf("%v, %v, want mode 0600", fi.Mode(), err)
	}
	k.Close()
	if left, _ := filepath.Glob(filepath.Join(dir, "*")); len(left) != 0 {
		t.Errorf("left behind: %v", left)
	}
	select {
	case <-k.Exited():
	default:
		t.Error("the kernel is still running")
	}
}

func TestCloseEndsCalls(t *testing.T) {
	k, ctx := start(t, client.Options{})
	_, err := k.Execute(ctx, "print a\nspin", client.ExecuteOptions{}, func(m client.Message) {
		if m.Header.Type == "stream" {
			go k.Close()
		}
	})
	var exit *client.ExitError
	if !errors.As(err, &exit) {
		t.Errorf("got error %v, want an ExitError", err)
	}
}

// TestEncryptedKernel runs a cell with input, output and an interrupt over an encrypted connection.
func TestEncryptedKernel(t *testing.T) {
	k, ctx := start(t, client.Options{TransportEncryption: "required"})
	if keys, err := k.Connection().CurveKeys(); keys == nil || err != nil {
		t.Fatalf("got keys %v, %v, want some", keys, err)
	}
	var printed string
	reply, err := k.Execute(ctx, "input name?\nspin", client.ExecuteOptions{
		Input: func(string, bool) (string, error) { return "bob", nil },
	}, func(m client.Message) {
		var c struct{ Text string }
		if m.Header.Type == "stream" && m.Decode(&c) == nil {
			printed += c.Text
			if err := k.Interrupt(ctx); err != nil {
				t.Error(err)
			}
		}
	})
	if err != nil || reply.ErrorName != "Interrupted" || printed != "bob\n" {
		t.Errorf("got %+v, %v, printed %q; want a cell that printed bob and was interrupted", reply, err, printed)
	}
	if err := k.Heartbeat(ctx); err != nil {
		t.Error(err)
	}
	if err := k.Shutdown(ctx, false); err != nil {
		t.Error(err)
	}
}

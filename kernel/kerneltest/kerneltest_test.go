package kerneltest

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"net"
	"os"
	"os/exec"
	"runtime"
	"strings"
	"syscall"
	"testing"
	"time"

	"halfnote/kernel/client"
)

// With this variable set the process starts a kernel and waits to be killed.
const parentVariable = "KERNELTEST_PARENT"

func TestMain(m *testing.M) {
	if os.Getenv(parentVariable) != "" && os.Getenv(childVariable) == "" {
		k, err := startEcho(client.Options{})
		if err != nil {
			fmt.Fprintln(os.Stderr, err)
			os.Exit(1)
		}
		fmt.Println(k.Connection().Address(k.Connection().ShellPort))
		k.Execute(context.Background(), "spin", client.ExecuteOptions{}, nil)
		os.Exit(1)
	}
	Main(m)
}

func startEcho(o client.Options) (*client.Kernel, error) {
	ctx, cancel := context.WithTimeout(context.Background(), limit)
	defer cancel()
	return client.Start(ctx, EchoSpec(), o)
}

func TestScripts(t *testing.T) { Run(t, startEcho, "testdata") }

func TestHostile(t *testing.T) {
	for name, o := range map[string]client.Options{"clear": {}, "encrypted": {TransportEncryption: "required"}} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			if name == "encrypted" && testing.Short() {
				t.Skip("takes 20 s")
			}
			Hostile(t, startEcho, o, Cells{Hello: "print hello, world", Big: "repeat 20000000 x"})
		})
	}
}

// TestKernelEndsWithItsParent kills a process whose kernel runs an endless cell.
func TestKernelEndsWithItsParent(t *testing.T) {
	t.Parallel()
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	parent := exec.Command(self)
	parent.Env = append(os.Environ(), parentVariable+"=1")
	out, err := parent.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := parent.Start(); err != nil {
		t.Fatal(err)
	}
	line, err := bufio.NewReader(out).ReadString('\n')
	parent.Process.Kill()
	parent.Wait()
	if err != nil {
		t.Fatal(err)
	}
	network, address, _ := strings.Cut(strings.TrimSpace(line), " ")
	for deadline := time.Now().Add(limit); ; time.Sleep(50 * time.Millisecond) {
		c, err := net.Dial(network, address)
		if err != nil {
			return // the port is closed: the kernel has ended
		}
		c.Close()
		if time.Now().After(deadline) {
			t.Fatalf("the kernel at %s is still running", address)
		}
	}
}

func TestSignals(t *testing.T) {
	if runtime.GOOS == "windows" {
		t.Skip("needs signals, which Windows lacks")
	}
	t.Parallel()
	ctx, cancel := context.WithTimeout(context.Background(), limit)
	defer cancel()
	spec := EchoSpec()
	spec.InterruptMode = "signal"
	k, err := client.Start(ctx, spec, client.Options{})
	if err != nil {
		t.Fatal(err)
	}
	defer k.Close()
	reply, err := k.Execute(ctx, "print x\nspin", client.ExecuteOptions{}, func(m client.Message) {
		if m.Header.Type == "stream" {
			if err := k.Interrupt(ctx); err != nil {
				t.Error(err)
			}
		}
	})
	if err != nil || reply.ErrorName != "Interrupted" {
		t.Fatalf("after SIGINT: got %+v, %v, want Interrupted", reply, err)
	}
	process, err := os.FindProcess(k.Pid())
	if err != nil {
		t.Fatal(err)
	}
	reply, err = k.Execute(ctx, "print x\nspin", client.ExecuteOptions{}, func(m client.Message) {
		if m.Header.Type == "stream" {
			process.Signal(syscall.SIGTERM)
		}
	})
	if err != nil || reply.ErrorName != "Interrupted" {
		t.Errorf("running cell after SIGTERM: got %+v, %v, want an error", reply, err)
	}
	select {
	case <-k.Exited():
	case <-ctx.Done():
		t.Fatal("after SIGTERM: the kernel did not exit")
	}
	_, err = k.Request(ctx, "shell", "kernel_info_request", struct{}{})
	var exit *client.ExitError
	if !errors.As(err, &exit) || exit.State != "exit status 0" {
		t.Errorf("after SIGTERM: got %v, want exit status 0", err)
	}
}

// TestLargeOutputIsComplete checks that every byte of a large output arrives, even with
// a slow reader.
func TestLargeOutputIsComplete(t *testing.T) {
	t.Parallel()
	k, err := startEcho(client.Options{})
	if err != nil {
		t.Fatal(err)
	}
	defer k.Close()
	ctx, cancel := context.WithTimeout(context.Background(), limit)
	defer cancel()
	for _, tt := range []struct {
		code string
		want int
	}{{"flood 10000", 98890}, {"repeat 52428800 x", 50 << 20}} {
		got, messages := 0, 0
		reply, err := k.Execute(ctx, tt.code, client.ExecuteOptions{}, func(m client.Message) {
			var c struct{ Text string }
			if m.Header.Type == "stream" && m.Decode(&c) == nil {
				got += len(c.Text)
				messages++
			}
		})
		if err != nil || reply.Status != "ok" || got != tt.want || messages > tt.want/1000 {
			t.Errorf("%s: %d bytes in %d messages, %+v, %v; want %d bytes", tt.code, got, messages, reply.Status, err, tt.want)
		}
	}
}

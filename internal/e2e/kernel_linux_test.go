package e2e

import (
	"context"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"halfnote/install"
	"halfnote/kernel/client"
)

// TestCommandDiesWithTheKernel checks that a command which a cell runs ends when the kernel
// is killed, as front ends do to restart a kernel that does not answer.
func TestCommandDiesWithTheKernel(t *testing.T) {
	exe, err := program()
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	defer cancel()
	k, err := client.Start(ctx, client.Spec{Language: "go", InterruptMode: "message", Argv: []string{exe, "kernel", "{connection_file}"}}, client.Options{})
	if err != nil {
		t.Fatal(err)
	}
	defer k.Close()
	pid := 0
	_, err = k.Execute(ctx, "!echo $$; exec sleep 1000", client.ExecuteOptions{}, func(m client.Message) {
		var c struct{ Text string }
		if m.Header.Type == "stream" && json.Unmarshal(m.Content, &c) == nil {
			pid, _ = strconv.Atoi(strings.TrimSpace(c.Text))
			syscall.Kill(k.Pid(), syscall.SIGKILL)
		}
	})
	if err == nil || pid == 0 {
		t.Fatalf("got the process id %d of the command and error %v, want an id and the end of the kernel", pid, err)
	}
	for end := time.Now().Add(time.Minute); time.Now().Before(end); time.Sleep(10 * time.Millisecond) {
		stat, err := os.ReadFile("/proc/" + strconv.Itoa(pid) + "/stat")
		if err != nil || strings.Contains(string(stat), ") Z ") {
			return
		}
	}
	t.Errorf("process %d is still running", pid)
}

// TestNextKernelSaysWhy kills a kernel in the middle of a cell, and checks what the next kernel of the notebook shows.
func TestNextKernelSaysWhy(t *testing.T) {
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	defer cancel()
	dir := t.TempDir()
	env := client.Options{Env: []string{"HALFNOTE_HISTORY=" + filepath.Join(dir, "h.sqlite"), "JPY_SESSION_NAME=/lessons/a.ipynb"}}
	k, err := startKernel(env)
	if err != nil {
		t.Fatal(err)
	}
	defer k.Close()
	_, err = k.Execute(ctx, "fmt.Println(41)\nfor {}", client.ExecuteOptions{}, func(m client.Message) {
		if m.Header.Type == "stream" {
			syscall.Kill(k.Pid(), syscall.SIGKILL)
		}
	})
	if err == nil {
		t.Fatal("the kernel did not end")
	}
	k, err = startKernel(env)
	if err != nil {
		t.Fatal(err)
	}
	defer k.Close()
	for _, c := range []struct{ code, want string }{
		{"1", "note: the kernel of "},
		{"2", ""},
		{"%output ~1", "the kernel ended"},
		{"%output ~1/1", "ended suddenly while In[1] ran"},
	} {
		var shown strings.Builder
		r, err := k.Execute(ctx, c.code, client.ExecuteOptions{}, func(m client.Message) {
			var s struct{ Text string }
			if m.Header.Type == "stream" && json.Unmarshal(m.Content, &s) == nil {
				shown.WriteString(s.Text)
			}
		})
		if got := shown.String(); err != nil || r.Status != "ok" || !strings.Contains(got, c.want) || c.want == "" && got != "" {
			t.Errorf("%s: got %q, %+v, %v; want %q", c.code, got, r, err, c.want)
		}
	}
	if err := k.Shutdown(ctx, false); err != nil {
		t.Error(err)
	}
	<-k.Exited()
	if got := files(t, dir); strings.Contains(got, ".last-") {
		t.Errorf("files after the end: got %q, want no last words", got)
	}
}

// TestFewAddresses starts kernels with limits of addresses (ulimit -v) and asks for more memory than there is: the cell ends with an error that names the
// limit, and the kernel goes on.
func TestFewAddresses(t *testing.T) {
	exe, err := program()
	if err != nil {
		t.Fatal(err)
	}
	for _, kib := range []int{1500000, 2000000, 6000000} {
		limited := fmt.Sprintf("ulimit -v %d; exec \"$0\" \"$@\"", kib)
		ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
		defer cancel()
		k, err := client.Start(ctx, client.Spec{
			Language: "go", InterruptMode: "message", Argv: []string{"sh", "-c", limited, exe, "kernel", "{connection_file}"},
			Env: map[string]string{install.Arenas: "1"}, // as in the kernelspec
		}, client.Options{})
		if err != nil {
			t.Errorf("ulimit -v %d: %v", kib, err)
			continue
		}
		defer k.Close()
		for _, c := range []struct{ code, want string }{
			{"x := 41", "ok"},
			{"y := make([]byte, 8<<30)", "(ulimit -v sets the limit)"},
			{"import \"os\"\npanic(\"<\" + os.Getenv(\"" + install.Arenas + "\") + \">\")", "<>"},
			{"x + 1", "ok"},
		} {
			r, err := k.Execute(ctx, c.code, client.ExecuteOptions{}, nil)
			if got := r.Status + " " + r.ErrorValue; err != nil || !strings.Contains(got, c.want) {
				t.Errorf("ulimit -v %d: %s: got %q, %v, want %q", kib, c.code, got, err, c.want)
			}
		}
	}
}

package e2e

import (
	"context"
	"encoding/json"
	"os"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

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

//go:build unix

package e2e

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"syscall"
	"testing"
	"time"

	"halfnote/kernel/client"
)

// busyCells are cells that are still running when the kernel must end. Each first prints a line.
var busyCells = map[string]string{
	"loop":    "fmt.Println(\"on\")\nfor {}",
	"sleep":   "fmt.Println(\"on\")\ntime.Sleep(time.Hour)",
	"command": "!echo on; sleep 1000",
}

// child is a cell that starts a process in the background and writes the pids of the kernel
// and of the process to a file.
const child = `import "os"
import "os/exec"
child := exec.Command("sleep", "1000")
if err := child.Start(); err != nil { panic(err) }
os.WriteFile(%q, fmt.Append(nil, os.Getpid(), " ", child.Process.Pid), 0o600)`

// TestKernelEnds checks every way to end a kernel while a cell runs: the cell's request gets its reply, and
// processes and files do not remain.
func TestKernelEnds(t *testing.T) {
	ends := map[string]func(context.Context, *client.Kernel) error{
		"SIGTERM": func(ctx context.Context, k *client.Kernel) error {
			return syscall.Kill(k.Pid(), syscall.SIGTERM)
		},
		"shutdown": func(ctx context.Context, k *client.Kernel) error { return k.Shutdown(ctx, false) },
		"restart":  func(ctx context.Context, k *client.Kernel) error { return k.Shutdown(ctx, true) },
	}
	for how, end := range ends {
		for cell, code := range busyCells {
			t.Run(how+" during a "+cell, func(t *testing.T) {
				t.Parallel()
				dir, temp := t.TempDir(), t.TempDir()
				ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
				defer cancel()
				k, err := startKernel(client.Options{Dir: dir, Env: []string{"TMPDIR=" + temp, "HALFNOTE_HISTORY=" + filepath.Join(dir, "h.sqlite")}})
				if err != nil {
					t.Fatal(err)
				}
				defer k.Close()
				pids := filepath.Join(dir, "pids")
				if r, err := k.Execute(ctx, fmt.Sprintf(child, pids), client.ExecuteOptions{}, nil); err != nil || r.Status != "ok" {
					t.Fatalf("first cell: got %+v, %v, want ok", r, err)
				}
				ended := make(chan error, 1)
				ending := false
				r, err := k.Execute(ctx, code, client.ExecuteOptions{}, func(m client.Message) {
					if m.Header.Type == "stream" && !ending {
						ending = true
						go func() { ended <- end(ctx, k) }()
					}
				})
				if err != nil || r.Status != "error" {
					t.Errorf("running cell: got %+v, %v; want a reply with an error", r, err)
				}
				if err := <-ended; err != nil {
					t.Error(err)
				}
				select {
				case <-k.Exited():
				case <-ctx.Done():
					t.Fatal("the kernel did not end")
				}
				var exit *client.ExitError
				if _, err := k.Request(ctx, "control", "kernel_info_request", struct{}{}); !errors.As(err, &exit) || exit.State != "exit status 0" {
					t.Errorf("end of the kernel: got %v, want exit status 0", err)
				}
				gone(t, pids)
				kept := "^h.sqlite pids$"
				if how == "restart" { // the next kernel has the same key, and refuses the messages that this one received
					kept = "^h.sqlite h.sqlite.seen-[0-9a-f]{16} pids$"
				}
				for dir, want := range map[string]string{temp: "^$", dir: kept} {
					if got := files(t, dir); !regexp.MustCompile(want).MatchString(got) {
						t.Errorf("files after the kernel has ended: got %q, want %q", got, want)
					}
				}
			})
		}
	}
}

// TestInterruptReachesProcesses checks that an interrupt ends the processes that cells have started, also those of a pipe and of earlier cells, but
// not one in a separate group, and that the cell that waits for one has been interrupted.
func TestInterruptReachesProcesses(t *testing.T) {
	if _, err := exec.LookPath("setsid"); err != nil {
		t.Skip("needs setsid: ", err)
	}
	const imports = "import \"os/exec\"\nimport \"os\"\n"
	for name, code := range map[string]string{
		"Run":            `err := exec.Command("sleep", "1000").Run(); fmt.Println("after", err)`,
		"Output":         `out, err := exec.Command("sleep", "1000").Output(); fmt.Println("after", out, err)`,
		"CombinedOutput": `out, err := exec.Command("sh", "-c", "sleep 1000 | cat").CombinedOutput(); fmt.Println("after", out, err)`,
		"Wait":           `p := exec.Command("sleep", "1000"); p.Start(); err := p.Wait(); fmt.Println("after", err)`,
		"nothing":        `for {}`,
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			dir := t.TempDir()
			ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
			defer cancel()
			k, err := startKernel(client.Options{Dir: dir})
			if err != nil {
				t.Fatal(err)
			}
			defer k.Close()
			before := imports + fmt.Sprintf(`for name, command := range map[string][]string{"earlier": {"sleep", "1000"}, "kept": {"setsid", "sleep", "1000"}} {
	p := exec.Command(command[0], command[1:]...)
	if err := p.Start(); err != nil { panic(err) }
	os.WriteFile(%q + name, fmt.Append(nil, p.Process.Pid), 0o600)
	go p.Wait()
}
time.Sleep(200 * time.Millisecond) // setsid leaves the group`, dir+"/")
			if r, err := k.Execute(ctx, before, client.ExecuteOptions{}, nil); err != nil || r.Status != "ok" {
				t.Fatalf("first cell: got %+v, %v, want ok", r, err)
			}
			var said strings.Builder
			r, err := k.Execute(ctx, imports+"fmt.Println(\"on\")\n"+code, client.ExecuteOptions{}, func(m client.Message) {
				if m.Header.Type == "stream" {
					said.Write(m.Content)
					time.Sleep(200 * time.Millisecond) // the process starts
					if err := k.Interrupt(ctx); err != nil {
						t.Error(err)
					}
				}
			})
			if err != nil || r.ErrorName != "Interrupted" || strings.Contains(said.String(), "after") {
				t.Errorf("got %+v, %v and output %s; want an interrupted cell", r, err, said.String())
			}
			pid := func(name string) (pid int) {
				text, err := os.ReadFile(filepath.Join(dir, name))
				if _, scan := fmt.Sscan(string(text), &pid); err != nil || scan != nil {
					t.Fatal(err, scan)
				}
				return pid
			}
			awaitEnd(t, "the process of the cell before", pid("earlier"))
			if kept := pid("kept"); syscall.Kill(kept, syscall.SIGKILL) != nil {
				t.Error("the process in a separate group has ended")
			}
			if r, err := k.Execute(ctx, "r := 6 * 7; r", client.ExecuteOptions{}, nil); err != nil || r.Status != "ok" {
				t.Errorf("next cell: got %+v, %v, want ok", r, err)
			}
		})
	}
}

// TestKernelEndsWithItsParent checks that the kernel ends if the process that runs a notebook is killed.
func TestKernelEndsWithItsParent(t *testing.T) {
	for name, code := range busyCells {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			exe, err := program()
			if err != nil {
				t.Fatal(err)
			}
			dir, temp := t.TempDir(), t.TempDir()
			pids, on := filepath.Join(dir, "pids"), filepath.Join(dir, "on")
			code := strings.NewReplacer(`fmt.Println("on")`, fmt.Sprintf("os.WriteFile(%q, nil, 0o600)", on), "echo on", "touch "+on).Replace(code)
			notebook := filepath.Join(dir, "n.ipynb")
			type object = map[string]any
			cell := func(source string) object {
				return object{"cell_type": "code", "metadata": object{}, "source": source, "outputs": []any{}, "execution_count": nil}
			}
			b, err := json.Marshal(object{
				"cells": []object{cell(fmt.Sprintf(child, pids)), cell(code)}, "metadata": object{}, "nbformat": 4, "nbformat_minor": 4,
			})
			if err != nil {
				t.Fatal(err)
			}
			if err := os.WriteFile(notebook, b, 0o600); err != nil {
				t.Fatal(err)
			}
			run := exec.Command(exe, "run", notebook)
			run.Env = append(os.Environ(), "TMPDIR="+temp)
			if err := run.Start(); err != nil {
				t.Fatal(err)
			}
			for deadline := time.Now().Add(time.Minute); files(t, dir) != "n.ipynb on pids"; time.Sleep(10 * time.Millisecond) {
				if time.Now().After(deadline) {
					run.Process.Kill()
					t.Fatal("the notebook's second cell did not run")
				}
			}
			run.Process.Kill()
			run.Wait()
			gone(t, pids)
			if left := files(t, temp); strings.Contains(left, " ") || !strings.HasPrefix(left, "kernel-") {
				t.Errorf("files left behind: got %q, want only the folder of the connection file, whose owner was killed", left)
			}
		})
	}
}

// gone waits for the end of the processes whose ids are in a file.
func gone(t *testing.T, file string) {
	t.Helper()
	b, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	var kernel, child int
	if n, err := fmt.Sscan(string(b), &kernel, &child); n != 2 {
		t.Fatalf("%s: %q: %v", file, b, err)
	}
	awaitEnd(t, "the kernel", kernel)
	awaitEnd(t, "the process that a cell started", child)
}

// awaitEnd waits for the end of a process.
func awaitEnd(t *testing.T, name string, pid int) {
	t.Helper()
	for deadline := time.Now().Add(time.Minute); alive(pid); time.Sleep(10 * time.Millisecond) {
		if time.Now().After(deadline) {
			t.Errorf("%s (pid %d) is still running", name, pid)
			syscall.Kill(pid, syscall.SIGKILL)
			return
		}
	}
}

// alive reports whether a process runs. A zombie process does not.
func alive(pid int) bool {
	if syscall.Kill(pid, 0) != nil {
		return false
	}
	stat, err := os.ReadFile(fmt.Sprintf("/proc/%d/stat", pid))
	return err != nil || !strings.Contains(string(stat), ") Z ")
}

func files(t *testing.T, dir string) string {
	t.Helper()
	entries, err := os.ReadDir(dir)
	if err != nil {
		t.Fatal(err)
	}
	var names []string
	for _, e := range entries {
		names = append(names, e.Name())
	}
	return strings.Join(names, " ")
}

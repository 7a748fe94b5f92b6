package ranks_test

import (
	"context"
	"fmt"
	"io"
	"os"
	"os/exec"
	"slices"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"halfnote/kernel"
	"halfnote/kernel/client"
	"halfnote/kernel/jupyter"
	"halfnote/kernel/kerneltest"
	"halfnote/kernel/ranks"
)

// mode makes the test binary play one of the processes: "hub" is the process that a front end starts, "launcher" plays
// mpiexec, and "rank" is a rank of the echo language.
const mode = "RANKS_TEST_MODE"

func TestMain(m *testing.M) {
	play := map[string]func() error{"hub": hub, "launcher": mpiexec, "rank": rank}[os.Getenv(mode)]
	if play == nil {
		os.Exit(m.Run())
	}
	if err := play(); err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}

func hub() error {
	self, err := os.Executable()
	if err != nil {
		return err
	}
	n, _ := strconv.Atoi(os.Getenv("RANKS_TEST_RANKS"))
	os.Setenv(mode, "launcher")
	return ranks.Launch(context.Background(), ranks.Options{
		Ranks: n, Launcher: ranks.Launcher{Name: "test", Command: []string{self}}, Program: []string{self}, Task: os.Args[1], Log: os.Stderr,
	})
}

// mpiexec starts ranks as MPICH's does. RANKS_TEST_FAULT makes it a bad one.
func mpiexec() error {
	n, _ := strconv.Atoi(os.Args[2])
	fault := os.Getenv("RANKS_TEST_FAULT")
	var all sync.WaitGroup
	var cmds []*exec.Cmd
	for i := range n {
		cmd := exec.Command(os.Args[3], os.Args[4:]...)
		number := strconv.Itoa(i)
		if fault == "same" {
			number = "0"
		}
		cmd.Env = append(os.Environ(), mode+"=rank", "PMI_RANK="+number)
		r, w := io.Pipe()
		cmd.Stdout, cmd.Stderr = w, w
		go func() {
			var part string
			buf := make([]byte, 4096)
			for {
				k, err := r.Read(buf)
				part += string(buf[:k])
				for line, rest, ok := strings.Cut(part, "\n"); ok; line, rest, ok = strings.Cut(part, "\n") {
					fmt.Fprintf(os.Stderr, "[%d] %s\n", i, line)
					part = rest
				}
				if err != nil {
					return
				}
			}
		}()
		if err := cmd.Start(); err != nil {
			return err
		}
		cmds = append(cmds, cmd)
	}
	for _, cmd := range cmds {
		all.Go(func() {
			if cmd.Wait() != nil && fault == "kills" { // as launchers do that end all ranks with one
				for _, other := range cmds {
					other.Process.Kill()
				}
			}
		})
	}
	all.Wait()
	return nil
}

func rank() error {
	m, err := ranks.Join()
	if err != nil {
		return err
	}
	e := &ranked{rank: m.Rank}
	m.Recover = func() error { e.recovered++; return nil }
	if m.Rank > 0 {
		return m.Work(context.Background(), e)
	}
	ctx, stop := context.WithCancel(context.Background())
	l := m.Lead(e, stop)
	return jupyter.Serve(ctx, jupyter.Config{ConnectionFile: m.Task, Log: os.Stderr, Process: true}, led{e, l})
}

type led struct {
	*ranked
	l *ranks.Leader
}

func (l led) Eval(ctx context.Context, in kernel.Cell, out kernel.Output) kernel.Result {
	return l.l.Eval(ctx, in, out)
}
func (l led) Close() error { return l.l.Close() }

// ranked is the echo language with a prefix for lines of one rank: "1: print a".
type ranked struct {
	kerneltest.Echo
	rank      int
	ranks     kernel.Ranks
	recovered int // number of calls of Recover
}

func (e *ranked) UseRanks(r kernel.Ranks) { e.ranks = r }

func (e *ranked) Eval(ctx context.Context, in kernel.Cell, out kernel.Output) kernel.Result {
	if n, ok := strings.CutPrefix(in.Code, "%ranks "); ok {
		n, _ := strconv.Atoi(n)
		list, err := e.ranks.Outputs(n)
		for _, o := range list {
			fmt.Fprintf(out.Stdout(), "%s %q %s", o.Stream, o.Text, o.Bundle)
		}
		if err != nil {
			fmt.Fprint(out.Stdout(), err)
		}
		return kernel.Result{}
	}
	if in.Code == "%pid" {
		fmt.Fprintln(out.Stdout(), os.Getpid())
		return kernel.Result{}
	}
	if in.Code == "%recovered" {
		fmt.Fprintln(out.Stdout(), e.recovered)
		return kernel.Result{}
	}
	if in.Code == "%ranks" {
		for _, s := range e.ranks.List() {
			fmt.Fprintln(out.Stdout(), s.Rank, s.Pid > 0, s.Output)
		}
		return kernel.Result{}
	}
	var own []string
	for line := range strings.Lines(in.Code) {
		of, rest, ok := strings.Cut(line, ": ")
		if n, err := strconv.Atoi(of); ok && err == nil {
			if n != e.rank {
				continue
			}
			line = rest
		}
		own = append(own, strings.TrimSuffix(line, "\n"))
	}
	in.Code = strings.Join(own, "\n")
	return e.Echo.Eval(ctx, in, out)
}

// start starts a kernel of n ranks.
func start(t *testing.T, n int, fault string) *client.Kernel {
	t.Helper()
	k, err := tryStart(t, n, fault)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { k.Close() })
	return k
}

func tryStart(t *testing.T, n int, fault string) (*client.Kernel, error) {
	t.Helper()
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	defer cancel()
	return client.Start(ctx, client.Spec{
		Argv: []string{self, "{connection_file}"}, InterruptMode: "message",
		Env: map[string]string{mode: "hub", "RANKS_TEST_RANKS": strconv.Itoa(n), "RANKS_TEST_FAULT": fault},
	}, client.Options{Stderr: t.Output()})
}

// runCell runs a cell and returns its text and its error. during, if set, is called once the cell has printed.
func runCell(t *testing.T, k *client.Kernel, code string, during func()) string {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	defer cancel()
	var got strings.Builder
	_, err := k.Execute(ctx, code, client.ExecuteOptions{}, func(m client.Message) {
		var c struct {
			Text      string
			Data      map[string]string
			Name      string `json:"ename"`
			Value     string `json:"evalue"`
			Traceback []string
		}
		m.Decode(&c)
		switch m.Header.Type {
		case "stream":
			got.WriteString(c.Text)
			if during != nil {
				go during()
				during = nil
			}
		case "execute_result", "display_data":
			got.WriteString("= " + c.Data["text/plain"] + "\n")
		case "error":
			got.WriteString(c.Name + ": " + c.Value + "\n" + strings.Join(c.Traceback, "\n") + "\n")
		}
	})
	if err != nil {
		return got.String() + "error: " + err.Error()
	}
	return got.String()
}

func TestCells(t *testing.T) {
	t.Parallel()
	k := start(t, 3, "")
	for _, c := range []struct{ name, code, want string }{
		{"the same everywhere", "print a\nresult 1", "a\n= 1\n"},
		{"others print in their order", "print all\n2: print two\n1: print one\n1: print more", "all\n[rank 1] all\n[rank 1] one\n[rank 1] more\n[rank 2] all\n[rank 2] two\n"},
		{"their list", "%ranks", "0 true 1 line\n1 true 3 lines\n2 true 2 lines\n"},
		{"their output again", "%ranks 1", `stdout "all\none\nmore\n" `},
		{"no such rank", "%ranks 7", "there is no rank 7; this kernel has ranks 0 to 2"},
		{"stderr", "1: printerr wrong", "[rank 1] wrong\n"},
		{"values", "set x 5\n1: set x 6", ""},
		{"another value", "get x", "[rank 1] 6\n= 5\n"},
		{"displays", "1: display - picture", "[rank 1] picture\n"},
		{"counts", "count", "= 10\n"},
		{"the same error", "error Bad thing", "Bad: thing\nBad: thing\n"},
		{"the error of one", "1: error Bad thing", "Bad: rank 1: thing\nOn rank 1:\nBad: thing\nRanks 0, 2: ended the cell without an error\n"},
		{"the error of one while others wait", "1: error Bad thing\n0: spin\n2: spin", "Bad: rank 1: thing\nOn rank 1:\nBad: thing\nRanks 0, 2: Interrupted: the cell was interrupted\n"},
		{"the error of rank 0", "0: error Bad thing\n1: spin", "Bad: thing\nBad: thing\nRank 1: Interrupted: the cell was interrupted\nRank 2: ended the cell without an error\n"},
		{"a panic of the evaluator", "2: panic oh", "InternalError: rank 2: oh\n"},
		{"and on", "print on", "on\n"},
		// The cells that ended differently on the ranks; the same error on all needs no recovery.
		{"recovery", "%recovered", "4\n"},
	} {
		if got := runCell(t, k, c.code, nil); got != c.want && !(strings.HasPrefix(c.code, "2: panic") && strings.HasPrefix(got, c.want)) {
			t.Errorf("%s: got\n%s\nwant\n%s", c.name, got, c.want)
		}
	}
}

func TestInterrupt(t *testing.T) {
	t.Parallel()
	k := start(t, 2, "")
	for _, c := range []struct{ code, want string }{
		{"print a\nspin", "a\nInterrupted: the cell was interrupted\nInterrupted: the cell was interrupted\n"},
		{"print a\n1: spin", "a\nInterrupted: rank 1: the cell was interrupted\nOn rank 1:\nInterrupted: the cell was interrupted\nRank 0: ended the cell without an error\n"},
	} {
		got := runCell(t, k, c.code, func() { k.Interrupt(t.Context()) })
		if got != c.want {
			t.Errorf("%q: got\n%s\nwant\n%s", c.code, got, c.want)
		}
	}
	if got := runCell(t, k, "print on", nil); got != "on\n" {
		t.Errorf("the next cell: got %q", got)
	}
}

// TestRankDies ends a rank while another one waits: the cell fails with its last words, and so do later ones.
func TestRankDies(t *testing.T) {
	t.Parallel()
	k := start(t, 3, "")
	got := runCell(t, k, "print a\n1: exit 3\nspin", nil)
	for _, want := range []string{"a\n", "RankDied: rank 1 of 3 (process ", ") ended while the cell ran\n", "restart the kernel"} {
		if !strings.Contains(got, want) {
			t.Errorf("got\n%s\nthat lacks %q", got, want)
		}
	}
	if got := runCell(t, k, "print b", nil); !strings.HasPrefix(got, "RankDied: rank 1 of 3") {
		t.Errorf("the next cell: got\n%s", got)
	}
}

// TestLauncherEndsAll has a launcher that ends all ranks when one ends: the kernel ends and names the first.
func TestLauncherEndsAll(t *testing.T) {
	t.Parallel()
	k := start(t, 2, "kills")
	if got := runCell(t, k, "1: exit 3\nspin", nil); !strings.Contains(got, "rank 1 (process ") && !strings.Contains(got, "RankDied: rank 1") {
		t.Errorf("got\n%s\nwant the end of rank 1", got)
	}
}

func TestRankZeroDies(t *testing.T) {
	t.Parallel()
	k := start(t, 2, "")
	if got := runCell(t, k, "0: exit 3\nspin", nil); !strings.Contains(got, "ranks: rank 0 (process ") {
		t.Errorf("got\n%s\nwant the end of rank 0", got)
	}
}

// TestNothingIsLeftBehind ends the first process, by a request or a signal, and waits for the end of the ranks.
func TestNothingIsLeftBehind(t *testing.T) {
	t.Parallel()
	for name, stop := range map[string]func(*client.Kernel){
		"shutdown": func(k *client.Kernel) { k.Shutdown(t.Context(), false) },
		"killed":   func(k *client.Kernel) { signal(k.Pid(), os.Kill) },
		"SIGTERM":  func(k *client.Kernel) { signal(k.Pid(), syscall.SIGTERM) },
	} {
		k := start(t, 2, "")
		var pids []int
		for word := range strings.FieldsSeq(strings.ReplaceAll(runCell(t, k, "%pid", nil), "[rank 1]", "")) {
			pid, err := strconv.Atoi(word)
			if err != nil {
				t.Fatal(err)
			}
			pids = append(pids, pid)
		}
		if len(pids) != 2 {
			t.Fatalf("%s: got %d processes, want 2", name, len(pids))
		}
		k.Send("shell", "execute_request", map[string]any{"code": "spin"})
		stop(k)
		for limit := time.Now().Add(time.Minute); slices.ContainsFunc(pids, func(pid int) bool { return signal(pid, syscall.Signal(0)) == nil }); time.Sleep(time.Millisecond) {
			if time.Now().After(limit) {
				t.Fatalf("%s: ranks are left: %v", name, pids)
			}
		}
	}
}

func signal(pid int, s os.Signal) error {
	p, err := os.FindProcess(pid)
	if err == nil {
		err = p.Signal(s)
	}
	return err
}

// TestNoNumbers has a launcher that does not number its processes.
func TestNoNumbers(t *testing.T) {
	t.Parallel()
	k, err := tryStart(t, 2, "same")
	if err == nil {
		k.Close()
	}
	if want := "ranks: two processes are rank 0: "; err == nil || !strings.Contains(err.Error(), want) {
		t.Errorf("got error %v, want %q", err, want)
	}
}

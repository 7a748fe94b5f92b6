package nccl

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"halfnote/dist/internal/mpi"
	"halfnote/internal/testenv"
	"halfnote/tensor/driver"
)

// device stands for a GPU: memory of the host, a stream with the number 77, and work that is done at once.
type device struct{}

func (device) Share(driver.Buffer, int, int) []byte { return nil }
func (device) Enqueue(f func(stream uintptr) error) (func() (bool, error), error) {
	return func() (bool, error) { return true, nil }, f(77)
}

// build compiles the library of testdata and returns it, with functions that empty its log and set its failures.
func build(t *testing.T) (l *Library, log func() string, fail func(later, now uintptr)) {
	t.Helper()
	file := filepath.Join(t.TempDir(), "libnccl.so.2")
	gcc, err := exec.LookPath("gcc")
	if err != nil {
		testenv.Missing(t, "gcc", "needs gcc: ", err)
	}
	if out, err := exec.Command(gcc, "-shared", "-fPIC", "-O1", "-o", file, filepath.Join("testdata", "nccl.c")).CombinedOutput(); err != nil {
		t.Fatalf("gcc: %v\n%s", err, out)
	}
	t.Setenv("HALFNOTE_NCCL", file)
	if l, err = Open(); err != nil {
		if strings.Contains(err.Error(), "this build of the program cannot load") {
			t.Skip(err)
		}
		t.Fatal(err)
	}
	log = func() string {
		p := make([]byte, 1<<16)
		return string(p[:l.lib.Call(l.lib.Symbol("fake_take"), first(p))])
	}
	return l, log, func(later, now uintptr) { l.lib.Call(l.lib.Symbol("fake_fail"), later, now) }
}

func TestCalls(t *testing.T) {
	l, log, fail := build(t)
	if l.Version != 22703 {
		t.Errorf("version %d, want 22703", l.Version)
	}
	id, err := l.NewID()
	if err != nil {
		t.Fatal(err)
	}
	c, err := l.Join(id, 1, 3, device{})
	if err != nil {
		t.Fatal(err)
	}
	// The sum of i² from 1 to 128, where 128 is the largest byte: each byte arrived in its place.
	if got, want := log(), "init 1 of 3, id 707264\n"; got != want {
		t.Errorf("Join called %q, want %q", got, want)
	}
	p, q := []byte("xxyyz"), []byte(".......")
	for _, step := range []struct {
		name string
		call func() (mpi.Request, error)
		want string
	}{
		{"Alltoall", func() (mpi.Request, error) {
			return c.Alltoall(p, []mpi.Part{{At: 0, Len: 2}, {At: 2, Len: 2}, {At: 4, Len: 1}}, q, []mpi.Part{{At: 0, Len: 2}, {At: 2, Len: 2}, {At: 5, Len: 2}})
		}, `start
send 2 of type 0 to 0 from x on 1, stream 77
receive 2 of type 0 from 0 on 1, stream 77
send 1 of type 0 to 2 from z on 1, stream 77
receive 2 of type 0 from 2 on 1, stream 77
end
`},
		{"Alltoall with an empty part", func() (mpi.Request, error) {
			return c.Alltoall(p, []mpi.Part{{}, {}, {At: 3, Len: 1}}, q, make([]mpi.Part, 3))
		}, "start\nsend 1 of type 0 to 2 from y on 1, stream 77\nend\n"},
		{"Allgather", func() (mpi.Request, error) {
			return c.Allgather(p, []mpi.Part{{At: 0, Len: 2}, {At: 2, Len: 3}, {At: 5}})
		}, `start
broadcast 2 of type 0 from 0 of x, in place 1, on 1, stream 77
broadcast 3 of type 0 from 1 of y, in place 1, on 1, stream 77
end
`},
		{"Broadcast", func() (mpi.Request, error) { return c.Broadcast(p, 2) }, "start\nbroadcast 5 of type 0 from 2 of x, in place 1, on 1, stream 77\nend\n"},
	} {
		r, err := step.call()
		if err != nil {
			t.Fatalf("%s: %v", step.name, err)
		}
		if done, err := r.Done(); !done || err != nil {
			t.Errorf("%s: Done() = %v, %v; want true", step.name, done, err)
		}
		if got := log(); got != step.want {
			t.Errorf("%s called\n%swant\n%s", step.name, got, step.want)
		}
	}
	if got, want := string(q), "aa...cc"; got != want {
		t.Errorf("Alltoall received %q, want %q", got, want)
	}

	fail(0, 4)
	if _, err := c.Alltoall(p, []mpi.Part{{Len: 1}, {}, {}}, q, make([]mpi.Part, 3)); err == nil || !strings.Contains(err.Error(), "ncclSend: invalid argument") {
		t.Errorf("a refused ncclSend gives %v", err)
	}
	if got := log(); !strings.HasSuffix(got, "end\n") {
		t.Errorf("a failed group is left open:\n%s", got)
	}
	fail(6, 0)
	r, err := c.Broadcast(p, 0)
	if err != nil {
		t.Fatal(err)
	}
	if done, err := r.Done(); done || err == nil || !strings.Contains(err.Error(), "Broadcast: remote process exited") {
		t.Errorf("after the end of another rank Done() = %v, %v", done, err)
	}
	fail(7, 0)
	if done, err := r.Done(); !done || err != nil {
		t.Errorf("in progress: Done() = %v, %v; want the answer of the stream", done, err)
	}
	log()
	if err := c.Abort(); err != nil {
		t.Error(err)
	}
	if err := c.Close(); err != nil {
		t.Error(err)
	}
	if got, want := log(), "abort 1\ndestroy 1\n"; got != want {
		t.Errorf("Abort and Close called %q, want %q", got, want)
	}
}

func TestOpen(t *testing.T) {
	t.Setenv("HALFNOTE_NCCL", filepath.Join(t.TempDir(), "absent.so"))
	if _, err := Open(); err == nil || !strings.Contains(err.Error(), "HALFNOTE_NCCL") {
		t.Errorf("without a library the error is %v", err)
	}
	if os.Getenv("HALFNOTE_CUDA_TEST") != "device" {
		t.Log("NCCL itself was not called: that needs HALFNOTE_CUDA_TEST=device")
	}
}

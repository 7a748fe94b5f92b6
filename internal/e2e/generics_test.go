package e2e

import (
	"context"
	"strings"
	"testing"
	"time"

	"halfnote/kernel/client"
)

// TestGenericsWithoutGo checks that the generic functions and types of the standard library
// work where Go is not installed.
func TestGenericsWithoutGo(t *testing.T) {
	const cell = `import ("cmp"; "errors"; "hash/maphash"; "io/fs"; "iter"; "maps"; "math/rand/v2"; "reflect"; "slices"; "sync"; "sync/atomic"; "unique")
type point struct { X, Y int }
points := []point{{3, 1}, {1, 2}}
slices.SortFunc(points, func(a, b point) int { return cmp.Compare(a.X, b.X) })
fmt.Println(points, slices.Sorted(maps.Keys(map[string]int{"b": 1, "a": 2})))
func count(n int) iter.Seq[int] { return func(yield func(int) bool) { for i := range n { if !yield(i) { return } } } }
next, stop := iter.Pull(count(3))
first, ok := next()
stop()
var p atomic.Pointer[point]
p.Store(&points[0])
once := sync.OnceValue(func() int { return 7 })
fmt.Println(slices.Collect(count(3)), first, ok, p.Load().Y, once(), rand.N(1), unique.Make("a") == unique.Make("a"), reflect.TypeFor[int]())
seed := maphash.MakeSeed()
_, isPath := errors.AsType[*fs.PathError](&fs.PathError{Err: fs.ErrExist})
fmt.Println(maphash.Comparable(seed, 1) == maphash.Comparable(seed, 1), isPath)`
	const want = "[{1 2} {3 1}] [a b]\n[0 1 2] 0 true 2 7 0 true int\ntrue true\n"
	exe, err := program()
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	defer cancel()
	none := t.TempDir()
	k, err := client.Start(ctx, client.Spec{
		DisplayName: "Go", Language: "go", InterruptMode: "message",
		Argv: []string{exe, "kernel", "{connection_file}"},
		Env:  map[string]string{"PATH": none, "GOROOT": none, "GOPATH": none, "GOMODCACHE": none},
	}, client.Options{})
	if err != nil {
		t.Fatal(err)
	}
	defer k.Close()
	var printed strings.Builder
	reply, err := k.Execute(ctx, cell, client.ExecuteOptions{}, func(m client.Message) {
		var stream struct{ Text string }
		if m.Header.Type == "stream" && m.Decode(&stream) == nil {
			printed.WriteString(stream.Text)
		}
	})
	if err != nil || reply.Status != "ok" || printed.String() != want {
		t.Errorf("got %s %s, printed %q, want %q (%v)", reply.Status, reply.ErrorValue, printed.String(), want, err)
	}
}

//go:build linux && (amd64 || arm64)

package fatal

import (
	"container/ring"
	"fmt"
	"io"
	"math"
	"os"
	"os/exec"
	"path/filepath"
	"reflect"
	"regexp"
	"runtime"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"halfnote/internal/testenv"
	"halfnote/interp/internal/native/loader"
)

// keeper owns all goroutines if all is set. It records what it is told.
type keeper struct {
	all      bool
	scarce   atomic.Bool // memory is used up
	uncaught chan any
}

func (k *keeper) Owns() bool         { return k.all }
func (k *keeper) Fatal(text string)  { panic("fatal: " + text) }
func (k *keeper) Exit(code int)      { panic(fmt.Sprint("exit: ", code)) }
func (k *keeper) Overflow(limit int) { panic(fmt.Sprint("overflow: ", limit)) }
func (k *keeper) Uncaught(value any) { k.uncaught <- value }
func (k *keeper) Room(bytes int) {
	if bytes > math.MaxInt>>23 {
		panic("room")
	}
}

func (k *keeper) Scarce(func() bool) {
	if k.scarce.Load() {
		panic("scarce")
	}
}

// guard makes a session that owns all goroutines. The test is skipped where Go's run-time system cannot be changed.
func guard(t *testing.T) *keeper {
	t.Helper()
	k := &keeper{all: true, uncaught: make(chan any, 1)}
	release, err := Guard(k)
	t.Cleanup(release)
	if err != nil {
		if loader.Supported() == nil {
			t.Fatal(err)
		}
		t.Skip(err)
	}
	return k
}

// deep calls itself n times.
func deep(n int) int {
	if n == 0 {
		return 0
	}
	return deep(n-1) + 1
}

type list []list

// TestErrorsBecomePanics causes each error in the test's goroutine and in one that it starts.
func TestErrorsBecomePanics(t *testing.T) {
	k := guard(t)
	m := map[int]int{}
	for _, c := range []struct {
		name, want string
		f          func()
	}{
		{"mutex", "fatal: sync: unlock of unlocked mutex", func() { new(sync.Mutex).Unlock() }},
		{"RWMutex", "fatal: sync: Unlock of unlocked RWMutex", func() { new(sync.RWMutex).Unlock() }},
		{"RWMutex for reading", "fatal: sync: RUnlock of unlocked RWMutex", func() { new(sync.RWMutex).RUnlock() }},
		{"method value", "fatal: sync: unlock of unlocked mutex", func() { f := new(sync.Mutex).Unlock; f() }},
		{"Cond", "fatal: sync: unlock of unlocked mutex", func() { sync.NewCond(new(sync.Mutex)).Wait() }},
		{"map", "fatal: concurrent map", func() {
			stop := make(chan bool)
			defer close(stop)
			go func() {
				write := func() {
					defer func() { recover() }()
					m[1]++
				}
				for {
					select {
					case <-stop:
						return
					default:
						write()
					}
				}
			}()
			for {
				m[2]++
			}
		}},
		{"exit", "exit: 3", func() { os.Exit(3) }},
		{"slice", "room", func() { _ = make([]byte, min(runtime.NumGoroutine(), 2)<<42) }},
		{"Grow", "room", func() { _ = slices.Grow([]int{}, 1<<41) }},
		{"channel", "room", func() { _ = make(chan [1000]int, min(runtime.NumGoroutine(), 2)<<30) }},
		{"reflect", "room", func() { reflect.MakeSlice(reflect.TypeFor[[]byte](), 1<<42, 1<<42) }},
		{"string", "room", func() { _ = strings.Repeat("x", 1<<42) }},
		{"small objects", "scarce", func() {
			k.scarce.Store(true)
			defer k.scarce.Store(false)
			for r := ring.New(1); ; {
				r.Link(ring.New(1))
			}
		}},
		{"recursion", "overflow: ", func() { _ = deep(1 << 40) }},
		{"comparison", "overflow: ", func() {
			var a, b list
			for range 2_000_000 {
				a, b = list{a}, list{b}
			}
			reflect.DeepEqual(a, b)
		}},
		{"format", "overflow: ", func() {
			var a list
			for range 2_000_000 {
				a = list{a}
			}
			fmt.Fprint(io.Discard, a)
		}},
	} {
		t.Run(c.name, func(t *testing.T) {
			got := func() (v any) {
				defer func() { v = recover() }()
				c.f()
				return nil
			}()
			if !strings.HasPrefix(fmt.Sprint(got), c.want) {
				t.Errorf("got %v, want a panic with %q", got, c.want)
			}
			go c.f()
			select {
			case got = <-k.uncaught:
			case <-time.After(time.Minute):
				t.Fatal("the end of a goroutine was not reported")
			}
			if !strings.HasPrefix(fmt.Sprint(got), c.want) {
				t.Errorf("in a goroutine: got %v, want %q", got, c.want)
			}
		})
	}
	if got := deep(1000); got != 1000 {
		t.Errorf("after all: got %d calls, want 1000", got)
	}
}

// TestGoroutineEnds checks that a panic ends a goroutine after its deferred functions, and nothing else.
func TestGoroutineEnds(t *testing.T) {
	k := guard(t)
	var order []string
	done := make(chan bool)
	go func() {
		defer close(done)
		defer func() { order = append(order, "deferred") }()
		defer func() {
			defer func() { recover() }()
			panic("inner")
		}()
		panic("outer")
	}()
	<-done
	if got := <-k.uncaught; got != "outer" || !slices.Equal(order, []string{"deferred"}) {
		t.Errorf("got %v after %v, want outer after deferred", got, order)
	}
}

// TestOthersStillEnd checks that the process ends as before where no session's code is the cause.
func TestOthersStillEnd(t *testing.T) {
	for name, want := range map[string]string{
		"lock": "fatal error: sync: unlock of unlocked mutex", "panic": "panic: mine", "exit": "exit status 7", "overflow": "stack overflow",
	} {
		cmd := exec.Command(os.Args[0], "-test.run=^TestChild$")
		cmd.Env = append(os.Environ(), "HALFNOTE_END="+name)
		out, err := cmd.CombinedOutput()
		if err == nil || !strings.Contains(string(out)+err.Error(), want) {
			t.Errorf("%s: got %v and %.300s, want %q", name, err, out, want)
		}
	}
}

// TestChild is the process of TestOthersStillEnd.
func TestChild(t *testing.T) {
	end := os.Getenv("HALFNOTE_END")
	if end == "" {
		t.Skip("runs only as a child process of TestOthersStillEnd")
	}
	release, _ := Guard(&keeper{})
	defer release()
	ends := map[string]func(){
		"lock": func() { new(sync.Mutex).Unlock() }, "panic": func() { panic("mine") }, "exit": func() { os.Exit(7) }, "overflow": func() { _ = deep(1 << 40) },
	}
	done := make(chan bool)
	go func() { ends[end](); close(done) }()
	<-done
}

// TestSource compares what this package knows of Go's run-time system with its source.
func TestSource(t *testing.T) {
	src := filepath.Join(testenv.GOROOT(t), "src")
	for _, fact := range []struct{ file, text string }{
		{"runtime/panic.go", `//go:linkname maps_fatal internal/runtime/maps.fatal\nfunc maps_fatal\(s string\) \{`},
		{"runtime/panic.go", `//go:linkname internal_sync_fatal internal/sync.fatal\nfunc internal_sync_fatal\(s string\) \{`},
		{"runtime/panic.go", `//go:linkname sync_fatal sync.fatal\nfunc sync_fatal\(s string\) \{`},
		{"runtime/panic.go", `\nfunc preprintpanics\(p \*_panic\) \{`},
		{"runtime/panic.go", `\n\tpreprintpanics\(&p\)\n\n\tfatalpanic\(&p\)`},
		{"runtime/runtime2.go", `\ntype _panic struct \{\n\targ +any`},
		{"runtime/proc.go", `//go:linkname os_beforeExit os.runtime_beforeExit\nfunc os_beforeExit\(exitCode int\) \{`},
		{"os/proc.go", `\truntime_beforeExit\(code\)\n\n\tsyscall.Exit\(code\)\n`},
		{"runtime/malloc.go", `\nfunc mallocgcLarge\(size uintptr, typ \*_type, needzero bool\) \(unsafe.Pointer, uintptr\) \{`},
		{"runtime/malloc.go", `x, elemsize = mallocgcLarge\(size, typ, needzero\)`},
	} {
		text, err := os.ReadFile(filepath.Join(src, fact.file))
		if err != nil {
			t.Fatal(err)
		}
		if !regexp.MustCompile(fact.text).Match(text) {
			t.Errorf("%s has no %s", fact.file, fact.text)
		}
	}
}

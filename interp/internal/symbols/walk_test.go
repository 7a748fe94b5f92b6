package symbols

import (
	"bufio"
	"bytes"
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"reflect"
	"runtime"
	"slices"
	"strings"
	"sync"
	"testing"

	"halfnote/internal/testenv"
)

// TestHostileCalls checks every function and method of the packages that cells see: it calls
// them with huge, negative, zero and nil arguments, in child processes with little memory. A
// call must not end its process, ignore an interrupt, or fail with a run-time error: the
// error must name the wrong argument. A default run calls a share of the functions.
// HALFNOTE_WALK=all makes more calls of each function; any other value is a regular
// expression that selects functions.
func TestHostileCalls(t *testing.T) {
	if os.Getenv(walkChild) != "" {
		walkAsChild()
		return
	}
	list := callees()
	share := 1
	if os.Getenv("HALFNOTE_WALK") == "" {
		share = testenv.Share(t, walkShare)
	}
	const children = 2
	var mu sync.Mutex
	var total walked
	var wg sync.WaitGroup
	for c := range children {
		wg.Go(func() {
			w := walkInChildren(t, len(list), c*share, children*share)
			mu.Lock()
			defer mu.Unlock()
			total.add(w)
		})
	}
	wg.Wait()
	slices.Sort(total.Failures)
	for _, f := range total.Failures {
		t.Error(f)
	}
	t.Logf("%d functions walked, %d calls made, %d interrupted, deaths %d", total.Functions, total.Calls, total.Interrupted, total.Deaths)
	if total.Functions < len(list)/share*9/10 && os.Getenv("HALFNOTE_WALK") == "" {
		t.Errorf("%d of %d functions were called; want nearly one in %d: the walk no longer finds receivers for them", total.Functions, len(list), share)
	}
}

// walkShare is the share of the functions that a default run calls: one in this many.
const walkShare = 24

// walkChild is set in children, to "first step" of the functions that they call.
const walkChild = "HALFNOTE_TEST_WALK"

// walked is the result of a walk.
type walked struct {
	Functions, Calls, Interrupted, Deaths int
	Failures                              []string
}

func (w *walked) add(o walked) {
	w.Functions += o.Functions
	w.Calls += o.Calls
	w.Interrupted += o.Interrupted
	w.Deaths += o.Deaths
	w.Failures = append(w.Failures, o.Failures...)
}

// report is a line that a child writes: its next call, or the result of one.
type report struct {
	At          int // index of the function in the list
	Call        string
	Failure     string `json:",omitempty"`
	Called      bool   `json:",omitempty"` // whether the function is done
	Calls       int    `json:",omitempty"`
	Interrupted int    `json:",omitempty"`
}

// walkInChildren calls every step-th of n functions from first on. If a function ends its
// child process, it starts another child for the rest.
func walkInChildren(t *testing.T, n, first, step int) (w walked) {
	for at := first; at < n; {
		last := report{At: at}
		text, err := runWalk(at, step, func(r report) {
			last = r
			if r.Failure != "" {
				w.Failures = append(w.Failures, r.Failure)
			}
			if r.Called {
				w.Functions++
				w.Calls += r.Calls
				w.Interrupted += r.Interrupted
			}
		})
		if err == nil {
			return w
		}
		w.Deaths++
		w.Failures = append(w.Failures, fmt.Sprintf("%s: the process died: %v\n%s", last.Call, err, text))
		at = last.At + step
	}
	return w
}

// runWalk runs a child and returns the beginning of its stderr.
func runWalk(first, step int, each func(report)) (string, error) {
	r, w, err := os.Pipe()
	if err != nil {
		return "", err
	}
	defer r.Close()
	dir, err := os.MkdirTemp("", "walk")
	if err != nil {
		return "", err
	}
	defer os.RemoveAll(dir)
	c := exec.Command(os.Args[0], "-test.run=^TestHostileCalls$", "-test.timeout=30m")
	c.Dir = dir
	c.Env = append(os.Environ(), fmt.Sprintf("%s=%d %d", walkChild, first, step), "GOMEMLIMIT=512MiB", "GOTRACEBACK=single")
	c.ExtraFiles = []*os.File{w}
	var stderr bytes.Buffer
	c.Stderr = &stderr
	if err := c.Start(); err != nil {
		return "", err
	}
	w.Close()
	lines := bufio.NewScanner(r)
	lines.Buffer(nil, 1<<20)
	for lines.Scan() {
		var one report
		if json.Unmarshal(lines.Bytes(), &one) == nil {
			each(one)
		}
	}
	err = c.Wait()
	text := stderr.String()
	return text[:min(len(text), 3000)], err
}

// callee is a function or a method that cells can call.
type callee struct {
	name string
	fn   reflect.Value // the function, or a method as a function whose receiver comes first
	recv reflect.Type  // nil for functions
}

// callees returns the functions and methods of this module's packages that cells see, by name.
func callees() []callee {
	var list []callee
	seen := map[reflect.Type]bool{}
	var methods func(t reflect.Type)
	methods = func(t reflect.Type) {
		if t.Kind() != reflect.Pointer && t.Kind() != reflect.Interface {
			t = reflect.PointerTo(t)
		}
		if seen[t] || t.Kind() == reflect.Interface || !ours(t) {
			return
		}
		seen[t] = true
		for i := range t.NumMethod() {
			m := t.Method(i)
			list = append(list, callee{fmt.Sprintf("(%v).%s", t, m.Name), m.Func, t})
			for o := range m.Type.NumOut() {
				methods(m.Type.Out(o))
			}
		}
	}
	for _, path := range Paths() {
		if !strings.HasPrefix(path, "halfnote/") {
			continue
		}
		for name, v := range Table(path) {
			switch {
			case strings.HasPrefix(name, "_") || !v.IsValid():
			case v.Kind() == reflect.Func && !v.CanSet():
				list = append(list, callee{strings.TrimPrefix(path, "halfnote/") + "." + name, v, nil})
				for o := range v.Type().NumOut() {
					methods(v.Type().Out(o))
				}
			case v.Kind() == reflect.Pointer && v.IsNil() && !v.CanSet():
				methods(v.Type().Elem())
			}
		}
	}
	slices.SortFunc(list, func(a, b callee) int { return strings.Compare(a.name, b.name) })
	return slices.CompactFunc(list, func(a, b callee) bool { return a.name == b.name })
}

// ours reports whether a type is declared in this module.
func ours(t reflect.Type) bool {
	if t.Kind() == reflect.Pointer {
		t = t.Elem()
	}
	return strings.HasPrefix(t.PkgPath()+"/", "halfnote/")
}

// blame returns the first function of this module below the panic that is being
// recovered.
func blame() string {
	pcs := make([]uintptr, 100)
	frames := runtime.CallersFrames(pcs[:runtime.Callers(0, pcs)])
	below := false
	for more := true; more; {
		var f runtime.Frame
		f, more = frames.Next()
		if below && strings.HasPrefix(f.Function, "halfnote/") && !strings.Contains(f.Function, "internal/symbols") {
			return fmt.Sprintf("%s (%s:%d)", f.Function, f.File[strings.LastIndexByte(f.File, '/')+1:], f.Line)
		}
		below = below || f.Function == "runtime.gopanic"
	}
	return ""
}

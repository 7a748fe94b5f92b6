package symbols

import (
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"reflect"
	"regexp"
	"runtime"
	"strings"
	"sync/atomic"
	"time"

	"halfnote/internal/plumbing"
	"halfnote/tensor"
	"halfnote/tensor/driver"
)

var casting = tensor.Internal(plumbing.Token{}).Casting

// stopped is the panic value of polls once a call has run for long.
type stopped struct{}

func (stopped) Error() string { return "test: stopped" }

// walker makes the calls of one child process.
type walker struct {
	out      *json.Encoder
	args     *generator
	late     atomic.Bool  // the call has to stop
	began    atomic.Int64 // when the call began, 0 between calls
	at       int
	call     atomic.Pointer[string]
	all      bool
	selected *regexp.Regexp
}

// A call is interrupted after patience, and must then stop within stuck.
const (
	patience = 40 * time.Millisecond
	stuck    = time.Minute
)

func walkAsChild() {
	var first, step int
	fmt.Sscan(os.Getenv(walkChild), &first, &step)
	limitAddresses(8 << 30)
	w := &walker{out: json.NewEncoder(os.NewFile(3, "reports"))}
	switch s := os.Getenv("HALFNOTE_WALK"); s {
	case "":
	case "all":
		w.all = true
	default:
		w.selected = regexp.MustCompile(s)
	}
	own := goroutine()
	driver.SetHost(driver.Host{Poll: func() {
		if w.late.Load() && goroutine() == own {
			panic(stopped{})
		}
	}})
	go w.watch()
	list := callees()
	w.args = newGenerator(list, w.guarded)
	for w.at = first; w.at < len(list); w.at += step {
		if c := list[w.at]; w.selected == nil || w.selected.MatchString(c.name) {
			w.walk(c)
		}
	}
	os.Exit(0)
}

// watch interrupts calls that take long, and ends the process if one does not stop.
func (w *walker) watch() {
	for range time.Tick(patience / 4) {
		began := w.began.Load()
		if began == 0 {
			continue
		}
		took := time.Since(time.Unix(0, began))
		if took > patience {
			w.late.Store(true)
		}
		if took > stuck {
			stacks := make([]byte, 1<<16)
			fmt.Fprintf(os.Stderr, "%s ignored the interrupt\n%s", *w.call.Load(), stacks[:runtime.Stack(stacks, true)])
			os.Exit(3)
		}
	}
}

// goroutine returns the calling goroutine's number.
func goroutine() string {
	var line [40]byte
	text := string(line[:runtime.Stack(line[:], false)])
	return strings.Fields(text)[1]
}

// walk calls c with each hostile value of each argument.
func (w *walker) walk(c callee) {
	done := report{At: w.at, Call: c.name, Called: true}
	seen := map[string]bool{}
	for _, args := range w.args.calls(c, w.all) {
		in, text, ok := args()
		if !ok {
			continue
		}
		text = c.name + text
		w.out.Encode(report{At: w.at, Call: text})
		w.call.Store(&text)
		made := made(c, in)
		out, err := w.guarded(c.fn, in)
		if n := len(out); n > 0 && err == nil {
			err, _ = out[n-1].Interface().(error)
		}
		done.Calls++
		switch why := fault(err); {
		case errors.Is(err, stopped{}):
			done.Interrupted++
		case why != "" && made && !seen[why]:
			seen[why] = true
			w.out.Encode(report{At: w.at, Call: text, Failure: text + ": " + why})
		}
	}
	if done.Calls > 0 {
		w.out.Encode(done)
	}
}

// crash is the panic of a call.
type crash struct {
	value any
	where string
}

func (c crash) Error() string { return fmt.Sprint(c.value) }
func (c crash) Unwrap() error {
	err, _ := c.value.(error)
	return err
}

// guarded calls f and returns its results or its panic value.
func (w *walker) guarded(f reflect.Value, in []reflect.Value) (out []reflect.Value, err error) {
	w.late.Store(false)
	w.began.Store(time.Now().UnixNano())
	defer func() {
		w.began.Store(0)
		if p := recover(); p != nil {
			err = crash{p, blame()}
		}
		w.late.Store(false)
		casting.CloseScopes()
	}()
	if f.Type().IsVariadic() {
		return f.CallSlice(in), nil
	}
	return f.Call(in), nil
}

// made reports whether the arguments include neither a pointer to the zero value of a type
// of this module nor a nil receiver that is not a tensor. Functions do not return these, so
// Go's own error is acceptable for them.
func made(c callee, in []reflect.Value) bool {
	for i, v := range in {
		switch {
		case v.Kind() != reflect.Pointer || !ours(v.Type()):
		case v.IsNil():
			if i == 0 && c.recv != nil && v.Type() != tensorType {
				return false
			}
		case v.Elem().IsZero():
			return false
		}
	}
	return true
}

// goList matches numbers as fmt writes a slice. Errors write them as tuples.
var goList = regexp.MustCompile(`\[-?\d+(\.\d+)?( -?\d+(\.\d+)?)+\]`)

// fault returns the reason why the error of a call is unacceptable, or "".
func fault(err error) string {
	if err == nil {
		return ""
	}
	var of runtime.Error
	var at crash
	switch {
	case errors.As(err, &of):
		errors.As(err, &at)
		return fmt.Sprintf("a runtime error in %s: %v", at.where, err)
	case strings.TrimSpace(err.Error()) == "":
		return "an error without a message"
	case goList.MatchString(err.Error()):
		return "a shape or list that is not written as (2, 3): " + err.Error()
	}
	return ""
}

package support

import (
	"bufio"
	"bytes"
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"log"
	"math/big"
	"os"
	"os/exec"
	"os/signal"
	"reflect"
	"runtime"
	"runtime/debug"
	"slices"
	"strings"
	"testing"
	"time"

	"halfnote/interp/internal/dynamic"
	"halfnote/interp/internal/symbols"
)

// replaced returns replacements, by package and name, for functions that would end the process: they exit, call back in new
// goroutines, or allocate more memory than available. Others announce that they will wake a goroutine later.
func (s *Symbols) replaced() map[string]map[string]any {
	later := func(d time.Duration) { s.Live.Expect(d) }
	until := func(t time.Time) { s.Live.Expect(max(0, time.Until(t))) }
	fit := func(n, size int) { s.Live.Room(n, size) }
	return map[string]map[string]any{
		"bufio": {
			"NewReaderSize": func(r io.Reader, n int) *bufio.Reader { fit(n, 1); return bufio.NewReaderSize(r, n) },
			"NewWriterSize": func(w io.Writer, n int) *bufio.Writer { fit(n, 1); return bufio.NewWriterSize(w, n) },
		},
		"bytes": {"Repeat": func(b []byte, n int) []byte { fit(n, len(b)); return bytes.Repeat(b, n) }},
		"context": {
			"AfterFunc": func(ctx context.Context, f func()) func() bool {
				return context.AfterFunc(ctx, s.Live.Callback(f))
			},
			"WithDeadline": func(ctx context.Context, t time.Time) (context.Context, context.CancelFunc) {
				until(t)
				return context.WithDeadline(ctx, t)
			},
			"WithDeadlineCause": func(ctx context.Context, t time.Time, cause error) (context.Context, context.CancelFunc) {
				until(t)
				return context.WithDeadlineCause(ctx, t, cause)
			},
			"WithTimeout": func(ctx context.Context, d time.Duration) (context.Context, context.CancelFunc) {
				later(d)
				return context.WithTimeout(ctx, d)
			},
			"WithTimeoutCause": func(ctx context.Context, d time.Duration, cause error) (context.Context, context.CancelFunc) {
				later(d)
				return context.WithTimeoutCause(ctx, d, cause)
			},
		},
		"encoding/gob": {"Register": registered.register},
		"flag":         {"Parse": func() { _ = parseFlags(flag.CommandLine, os.Args[1:]) }},
		"os/signal": {
			"Notify": func(c chan<- os.Signal, list ...os.Signal) {
				later(-1)
				signal.Notify(c, list...)
			},
			"Ignore": func(list ...os.Signal) { keepSignals("Ignore", list); signal.Ignore(list...) },
			"Reset":  func(list ...os.Signal) { keepSignals("Reset", list); signal.Reset(list...) },
			"NotifyContext": func(ctx context.Context, list ...os.Signal) (context.Context, context.CancelFunc) {
				later(-1)
				return signal.NotifyContext(ctx, list...)
			},
		},
		"reflect": {
			"MakeMapWithSize": func(t reflect.Type, n int) reflect.Value {
				if t.Kind() == reflect.Map {
					fit(n, int(t.Key().Size()+t.Elem().Size()))
				}
				return reflect.MakeMapWithSize(t, n)
			},
			"MakeSlice": func(t reflect.Type, n, c int) reflect.Value {
				if t.Kind() == reflect.Slice {
					fit(max(n, c), int(t.Elem().Size()))
				}
				return reflect.MakeSlice(t, n, c)
			},
			"New": func(t reflect.Type) reflect.Value {
				if t != nil {
					fit(1, int(t.Size()))
				}
				return reflect.New(t)
			},
		},
		"runtime": {
			"Breakpoint": func() {
				panic(errors.New("runtime.Breakpoint: no debugger is attached to the kernel: set a breakpoint with %debug or in the front end"))
			},
			"SetFinalizer": s.setFinalizer,
		},
		"testing": {
			"Benchmark": s.benchmark,
			"Main": func(func(pattern, name string) (bool, error), []testing.InternalTest, []testing.InternalBenchmark, []testing.InternalExample) {
				panic(errors.New("testing.Main ends the process: call testing.RunTests"))
			},
		},
		"runtime/debug": {
			"SetMaxStack":   func(int) int { panic(refused("SetMaxStack")) },
			"SetMaxThreads": func(int) int { panic(refused("SetMaxThreads")) },
			"SetCrashOutput": func(*os.File, debug.CrashOptions) error {
				return errors.New("debug.SetCrashOutput: the kernel needs it, to tell the next one why it ended")
			},
		},
		"strings": {"Repeat": func(text string, n int) string { fit(n, len(text)); return strings.Repeat(text, n) }},
		"time": {
			"After":     func(d time.Duration) <-chan time.Time { later(d); return time.After(d) },
			"AfterFunc": s.Live.AfterFunc,
			"NewTicker": func(d time.Duration) *time.Ticker { later(-1); return time.NewTicker(d) },
			"NewTimer":  func(d time.Duration) *time.Timer { later(d); return time.NewTimer(d) },
			"Sleep":     func(d time.Duration) { s.Live.Sleep(d, 0) },
			"Tick":      func(d time.Duration) <-chan time.Time { later(-1); return time.Tick(d) },
		},
	}
}

// methods returns the same for methods, and for functions that rewritten code calls in place of those that a cell names.
func (s *Symbols) methods() map[string]any {
	fit := func(n, size int) { s.Live.Room(n, size) }
	return map[string]any{
		"CommandCombinedOutput": func(c *exec.Cmd) ([]byte, error) { defer s.Live.Poll(); return c.CombinedOutput() },
		"CommandOutput":         func(c *exec.Cmd) ([]byte, error) { defer s.Live.Poll(); return c.Output() },
		"CommandRun":            func(c *exec.Cmd) error { defer s.Live.Poll(); return c.Run() },
		"CommandWait":           func(c *exec.Cmd) error { defer s.Live.Poll(); return c.Wait() },
		"CondWait":              s.Live.CondWait,
		"GrowBuffer":            func(b *bytes.Buffer, n int) { fit(n, 1); b.Grow(n) },
		"GrowBuilder":           func(b *strings.Builder, n int) { fit(n, 1); b.Grow(n) },
		"ShiftInt":              func(z, x *big.Int, n uint) *big.Int { fit(x.BitLen()/8+int(n/8), 1); return z.Lsh(x, n) },
		"UnlockLocker":          s.Live.UnlockLocker,
		"ParseFlags":            parseFlags,
		"RUnlock":               s.Live.RUnlock,
		"ResetTimer":            s.Live.ResetTimer,
		"Room":                  func(n, size int) int { s.Live.Room(n, size); return n },
		"Sleep":                 s.Live.Sleep,
		"Unlock":                s.Live.Unlock,
		"UnlockRW":              s.Live.UnlockRW,

		"LoggerFatal":   func(l *log.Logger, v ...any) { exitAfter(l, dynamic.Sprint(v...)) },
		"LoggerFatalf":  func(l *log.Logger, format string, v ...any) { exitAfter(l, dynamic.Sprintf(format, v...)) },
		"LoggerFatalln": func(l *log.Logger, v ...any) { exitAfter(l, dynamic.Sprintln(v...)) },
	}
}

// benchmark is testing.Benchmark, which calls f in a new goroutine.
func (s *Symbols) benchmark(f func(*testing.B)) (r testing.BenchmarkResult) {
	s.Live.Elsewhere(func(call func(func())) {
		r = testing.Benchmark(func(b *testing.B) { call(func() { f(b) }) })
	})
	return r
}

// refused returns the error for setting a limit of the whole process.
func refused(function string) error {
	return fmt.Errorf("debug.%s: cells cannot set this limit: Go ends the whole process when it is reached", function)
}

// keepSignals panics if a function of package os/signal would take signals from the kernel, or all of them.
func keepSignals(function string, list []os.Signal) {
	needed := slices.ContainsFunc(list, func(s os.Signal) bool { return slices.Contains(kernelSignals, s) })
	if needed || len(list) == 0 {
		panic(fmt.Errorf("signal.%s: the kernel needs %v: name other signals", function, kernelSignals))
	}
}

// setFinalizer is runtime.SetFinalizer. A panic in the finalizer is reported under the
// cell that set it. An argument for which Go would end the process causes a panic.
func (s *Symbols) setFinalizer(object, finalizer any) {
	x, f := reflect.ValueOf(object), reflect.ValueOf(finalizer)
	switch {
	case x.Kind() != reflect.Pointer || x.IsNil():
		panic(fmt.Errorf("runtime.SetFinalizer: object has type %T, want a non-nil pointer", object))
	case x.Type().Elem().Size() == 0:
		return
	case finalizer != nil && (f.Kind() != reflect.Func || f.Type().NumIn() != 1 || !x.Type().AssignableTo(f.Type().In(0))):
		panic(fmt.Errorf("runtime.SetFinalizer: finalizer has type %T, want a function of one argument of type %T", finalizer, object))
	}
	runtime.SetFinalizer(object, nil) // Go ends the process if one is already set
	if finalizer == nil || f.IsNil() {
		return
	}
	held := new(reflect.Value)
	call := s.Live.Callback(func() { f.Call([]reflect.Value{*held}) })
	t := reflect.FuncOf([]reflect.Type{x.Type()}, nil, false)
	runtime.SetFinalizer(object, reflect.MakeFunc(t, func(args []reflect.Value) []reflect.Value {
		*held = args[0]
		call()
		*held = reflect.Value{}
		return nil
	}).Interface())
}

// exitAfter implements the Fatal methods of a logger.
func exitAfter(l *log.Logger, text string) {
	_ = l.Output(2, text)
	panic(symbols.Exit{Code: 1})
}

// parseFlags is flag.FlagSet.Parse; where that exits, the cell ends.
func parseFlags(f *flag.FlagSet, args []string) error {
	if f.ErrorHandling() != flag.ExitOnError {
		return f.Parse(args)
	}
	f.Init(f.Name(), flag.ContinueOnError)
	err := f.Parse(args)
	f.Init(f.Name(), flag.ExitOnError)
	switch {
	case errors.Is(err, flag.ErrHelp):
		panic(symbols.Exit{Code: 0})
	case err != nil:
		panic(symbols.Exit{Code: 2})
	}
	return nil
}

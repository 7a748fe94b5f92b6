package interp

import (
	"bytes"
	"context"
	"errors"
	"flag"
	"fmt"
	"log"
	"os"
	"os/signal"
	"reflect"
	"strings"
	"time"

	"halfnote/interp/internal/symbols"
)

// bindSurvival gives the engine what stands for code that would end the process:
// functions that exit, that call back in goroutines of their own, or that ask for
// more memory than there is; and tells of those that will wake a goroutine later.
func (s *Session) bindSurvival() {
	later := func(d time.Duration) { s.live.Expect(d) }
	until := func(t time.Time) { s.live.Expect(max(0, time.Until(t))) }
	fit := func(n, size int) { s.live.Room(n, size) }
	for path, functions := range map[string]map[string]any{
		"bytes": {"Repeat": func(b []byte, n int) []byte { fit(n, len(b)); return bytes.Repeat(b, n) }},
		"context": {
			"AfterFunc": func(ctx context.Context, f func()) func() bool {
				return context.AfterFunc(ctx, s.live.Callback(f))
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
		"flag": {"Parse": func() { _ = parseFlags(flag.CommandLine, os.Args[1:]) }},
		"os/signal": {
			"Notify": func(c chan<- os.Signal, list ...os.Signal) {
				later(-1)
				signal.Notify(c, list...)
			},
			"NotifyContext": func(ctx context.Context, list ...os.Signal) (context.Context, context.CancelFunc) {
				later(-1)
				return signal.NotifyContext(ctx, list...)
			},
		},
		"strings": {"Repeat": func(text string, n int) string { fit(n, len(text)); return strings.Repeat(text, n) }},
		"time": {
			"After":     func(d time.Duration) <-chan time.Time { later(d); return time.After(d) },
			"AfterFunc": s.live.AfterFunc,
			"NewTicker": func(d time.Duration) *time.Ticker { later(-1); return time.NewTicker(d) },
			"NewTimer":  func(d time.Duration) *time.Timer { later(d); return time.NewTimer(d) },
			"Sleep":     s.live.Sleep,
			"Tick":      func(d time.Duration) <-chan time.Time { later(-1); return time.Tick(d) },
		},
	} {
		m := map[string]reflect.Value{}
		for name, f := range functions {
			m[name] = reflect.ValueOf(f)
		}
		s.engine.Bind(path, m)
	}
	s.bindSupportSymbols(map[string]reflect.Value{
		"CondWait":   reflect.ValueOf(s.live.CondWait),
		"ParseFlags": reflect.ValueOf(parseFlags),
		"RUnlock":    reflect.ValueOf(s.live.RUnlock),
		"ResetTimer": reflect.ValueOf(s.live.ResetTimer),
		"Room":       reflect.ValueOf(func(n, size int) int { s.live.Room(n, size); return n }),
		"Unlock":     reflect.ValueOf(s.live.Unlock),
		"UnlockRW":   reflect.ValueOf(s.live.UnlockRW),

		"LoggerFatal":   reflect.ValueOf(func(l *log.Logger, v ...any) { exitAfter(l, fmt.Sprint(v...)) }),
		"LoggerFatalf":  reflect.ValueOf(func(l *log.Logger, format string, v ...any) { exitAfter(l, fmt.Sprintf(format, v...)) }),
		"LoggerFatalln": reflect.ValueOf(func(l *log.Logger, v ...any) { exitAfter(l, fmt.Sprintln(v...)) }),
	})
}

// exitAfter is what the Fatal methods of a logger do.
func exitAfter(l *log.Logger, text string) {
	_ = l.Output(2, text)
	panic(symbols.Exit{Code: 1})
}

// parseFlags is the method Parse of flag.FlagSet; where that exits, the cell ends.
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

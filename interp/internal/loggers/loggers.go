// Package loggers gives each session its default loggers: those of package log and of package log/slog, which write to the standard error of the
// cell, and to each other as in a program.
package loggers

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"log"
	"log/slog"
	"runtime"
	"slices"
	"strings"
	"sync/atomic"
	"time"

	"halfnote/interp/internal/dynamic"
)

// Defaults are the default loggers of a session. Their methods may be called concurrently.
type Defaults struct {
	log    *log.Logger
	slog   atomic.Pointer[slog.Logger]
	level  slog.LevelVar
	exit   func(code int)
	before *slog.Logger // that of the process when the session began
}

// New returns loggers that write to w. The functions of package log that end a program call exit.
func New(w io.Writer, exit func(code int)) *Defaults {
	d := &Defaults{log: log.New(w, "", log.LstdFlags), exit: exit, before: slog.Default()}
	d.slog.Store(slog.New(handler{d, nil}))
	return d
}

// Log returns the functions of package log that use its default logger, by name. They write values of cells as package fmt does there.
func (d *Defaults) Log() map[string]any {
	l := d.log
	return map[string]any{
		"Default": func() *log.Logger { return l },
		"Fatal":   func(v ...any) { l.Output(2, dynamic.Sprint(v...)); d.exit(1) },
		"Fatalf":  func(format string, v ...any) { l.Output(2, dynamic.Sprintf(format, v...)); d.exit(1) },
		"Fatalln": func(v ...any) { l.Output(2, dynamic.Sprintln(v...)); d.exit(1) },
		"Flags":   l.Flags, "Output": func(calldepth int, s string) error { return l.Output(calldepth+1, s) }, "Prefix": l.Prefix, "Writer": l.Writer,
		"Panic":    func(v ...any) { s := dynamic.Sprint(v...); l.Output(2, s); panic(s) },
		"Panicf":   func(format string, v ...any) { s := dynamic.Sprintf(format, v...); l.Output(2, s); panic(s) },
		"Panicln":  func(v ...any) { s := dynamic.Sprintln(v...); l.Output(2, s); panic(s) },
		"Print":    func(v ...any) { l.Output(2, dynamic.Sprint(v...)) },
		"Printf":   func(format string, v ...any) { l.Output(2, dynamic.Sprintf(format, v...)) },
		"Println":  func(v ...any) { l.Output(2, dynamic.Sprintln(v...)) },
		"SetFlags": l.SetFlags, "SetOutput": l.SetOutput, "SetPrefix": l.SetPrefix,
	}
}

// Slog returns the functions of package log/slog that use its default logger, by name.
func (d *Defaults) Slog() map[string]any {
	none := context.Background()
	return map[string]any{
		"Default":           d.slog.Load,
		"SetDefault":        d.setDefault,
		"SetLogLoggerLevel": func(level slog.Level) (old slog.Level) { old = d.level.Level(); d.level.Set(level); return old },
		"With":              func(args ...any) *slog.Logger { return d.slog.Load().With(args...) },
		"Debug":             func(msg string, args ...any) { d.write(none, slog.LevelDebug, msg, args, nil) },
		"Info":              func(msg string, args ...any) { d.write(none, slog.LevelInfo, msg, args, nil) },
		"Warn":              func(msg string, args ...any) { d.write(none, slog.LevelWarn, msg, args, nil) },
		"Error":             func(msg string, args ...any) { d.write(none, slog.LevelError, msg, args, nil) },
		"DebugContext":      func(c context.Context, msg string, args ...any) { d.write(c, slog.LevelDebug, msg, args, nil) },
		"InfoContext":       func(c context.Context, msg string, args ...any) { d.write(c, slog.LevelInfo, msg, args, nil) },
		"WarnContext":       func(c context.Context, msg string, args ...any) { d.write(c, slog.LevelWarn, msg, args, nil) },
		"ErrorContext":      func(c context.Context, msg string, args ...any) { d.write(c, slog.LevelError, msg, args, nil) },
		"Log":               func(c context.Context, level slog.Level, msg string, args ...any) { d.write(c, level, msg, args, nil) },
		"LogAttrs": func(c context.Context, level slog.Level, msg string, attrs ...slog.Attr) {
			d.write(c, level, msg, nil, attrs)
		},
	}
}

// write hands a record to the default logger. Its place is where the caller's caller is called.
func (d *Defaults) write(c context.Context, level slog.Level, msg string, args []any, attrs []slog.Attr) {
	l := d.slog.Load()
	if c == nil {
		c = context.Background()
	}
	if !l.Enabled(c, level) {
		return
	}
	var pcs [1]uintptr
	runtime.Callers(3, pcs[:])
	r := slog.NewRecord(time.Now(), level, msg, pcs[0])
	r.Add(args...)
	r.AddAttrs(attrs...)
	l.Handler().Handle(c, r)
}

// setDefault is slog.SetDefault: what package log writes goes to the handler from now on, unless that writes to package log. Compiled packages get the logger too.
func (d *Defaults) setDefault(l *slog.Logger) {
	d.slog.Store(l)
	if _, own := l.Handler().(handler); own {
		slog.SetDefault(d.before)
		return
	}
	slog.SetDefault(l)
	d.log.SetOutput(writer{l.Handler(), &d.level, d.log.Flags()&(log.Lshortfile|log.Llongfile) != 0})
	d.log.SetFlags(0)
}

// writer is the output of the default logger of package log after SetDefault: each text becomes a record.
type writer struct {
	slog.Handler
	level  slog.Leveler
	places bool // whether records have their places
}

// Write implements io.Writer.
func (w writer) Write(text []byte) (int, error) {
	c, level := context.Background(), w.level.Level()
	if !w.Enabled(c, level) {
		return 0, nil
	}
	var place uintptr
	if w.places {
		place = outside()
	}
	return len(text), w.Handle(c, slog.NewRecord(time.Now(), level, string(bytes.TrimSuffix(text, []byte{'\n'})), place))
}

// outside returns the place of the innermost call that is neither in package log nor in this one.
func outside() uintptr {
	pcs := make([]uintptr, 16)
	for _, pc := range pcs[:runtime.Callers(2, pcs)] {
		f, _ := runtime.CallersFrames([]uintptr{pc}).Next()
		if !strings.HasPrefix(f.Function, "log.") && !strings.Contains(f.Function, "/internal/loggers.") {
			return pc
		}
	}
	return 0
}

// handler is that of slog's default logger before SetDefault: it writes the level, the message and the attributes to the default logger of package log.
type handler struct {
	*Defaults
	with []func(slog.Handler) slog.Handler // calls of WithAttrs and WithGroup
}

// Enabled implements slog.Handler.
func (h handler) Enabled(_ context.Context, level slog.Level) bool { return level >= h.level.Level() }

// Handle implements slog.Handler.
func (h handler) Handle(c context.Context, r slog.Record) error {
	var text bytes.Buffer
	var attributes slog.Handler = slog.NewTextHandler(&text, nil)
	for _, with := range h.with {
		attributes = with(attributes)
	}
	bare := slog.NewRecord(time.Time{}, r.Level, "", 0)
	r.Attrs(func(a slog.Attr) bool { bare.AddAttrs(a); return true })
	if err := attributes.Handle(c, bare); err != nil {
		return err
	}
	list := strings.TrimPrefix(text.String(), fmt.Sprintf("%s=%v %s=\"\"", slog.LevelKey, r.Level, slog.MessageKey))
	pcs := make([]uintptr, 64)
	depth := max(1, slices.Index(pcs[:runtime.Callers(0, pcs)], r.PC))
	return h.log.Output(depth, r.Level.String()+" "+r.Message+list)
}

// WithAttrs implements slog.Handler.
func (h handler) WithAttrs(list []slog.Attr) slog.Handler {
	return h.and(func(a slog.Handler) slog.Handler { return a.WithAttrs(list) })
}

// WithGroup implements slog.Handler.
func (h handler) WithGroup(name string) slog.Handler {
	return h.and(func(a slog.Handler) slog.Handler { return a.WithGroup(name) })
}

func (h handler) and(with func(slog.Handler) slog.Handler) slog.Handler {
	return handler{h.Defaults, append(slices.Clip(h.with), with)}
}

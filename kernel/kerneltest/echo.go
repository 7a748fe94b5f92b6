package kerneltest

import (
	"context"
	"fmt"
	"io"
	"os"
	"strconv"
	"strings"
	"sync"
	"time"

	"halfnote/display"
	"halfnote/kernel"
)

// Echo is an evaluator for tests of the kernel alone. Each line of a cell is a command
// of the command table with its arguments; an empty cell does nothing.
type Echo struct {
	mu     sync.Mutex
	values map[string]string
	comms  kernel.Comms
	comm   kernel.Comm // comm that was opened last
	late   []func()    // output of earlier cells
}

var (
	_ kernel.Evaluator      = (*Echo)(nil)
	_ kernel.Completer      = (*Echo)(nil)
	_ kernel.CommUser       = (*Echo)(nil)
	_ kernel.VariableLister = (*Echo)(nil)
)

// echo is one running cell.
type echo struct {
	*Echo
	ctx    context.Context
	cell   kernel.Cell
	out    kernel.Output
	result kernel.Result
}

var commands = []struct {
	name, help string
	run        func(e *echo, arg string)
}{
	{"abandon", "DUR: run for that long, ignoring interrupts", func(e *echo, arg string) { time.Sleep(duration(arg)) }},
	{"clear", "[wait]: clear_output", func(e *echo, arg string) { e.out.Clear(arg == "wait") }},
	{"close", "TEXT: close the comm", func(e *echo, arg string) { e.talk((kernel.Comm).Close, arg) }},
	{"count", "the result is the cell's execution count", func(e *echo, arg string) { e.value(strconv.Itoa(e.cell.Count)) }},
	{"display", "ID TEXT: display_data under a display_id; - for none", func(e *echo, arg string) { e.out.Display(shown(arg)) }},
	{"error", "NAME TEXT: fail", func(e *echo, arg string) {
		name, value, _ := strings.Cut(arg, " ")
		e.fail(name, value)
	}},
	{"exit", "N: end the process", func(e *echo, arg string) {
		n, _ := strconv.Atoi(arg)
		os.Exit(n)
	}},
	{"flood", "N: print N lines", func(e *echo, arg string) {
		n, _ := strconv.Atoi(arg)
		for i := range n {
			fmt.Fprintln(e.out.Stdout(), "line", i)
		}
	}},
	{"get", "NAME: the result is the kept value", func(e *echo, arg string) {
		e.mu.Lock()
		v, ok := e.values[arg]
		e.mu.Unlock()
		if ok {
			e.value(v)
			return
		}
		e.fail("NameError", arg)
	}},
	{"input", "PROMPT: ask, and print the answer", func(e *echo, arg string) { e.input(arg, false) }},
	{"late", "TEXT: print in this cell when a later one runs", func(e *echo, arg string) {
		out := e.out.Stdout()
		e.mu.Lock()
		defer e.mu.Unlock()
		e.late = append(e.late, func() { fmt.Fprintln(out, arg) })
	}},
	{"next", "TEXT: propose the source of the next cell", func(e *echo, arg string) {
		e.result.Payload = append(e.result.Payload, kernel.Payload{Source: "set_next_input", Text: arg})
	}},
	{"open", "TARGET TEXT: open a comm", func(e *echo, arg string) {
		target, text, _ := strings.Cut(arg, " ")
		c, err := e.comms.Open(target, said(text), e.out, e.handler(target))
		if err != nil {
			e.fail("CommError", err.Error())
			return
		}
		e.setComm(c)
	}},
	{"page", "TEXT: show in the pager", func(e *echo, arg string) {
		e.result.Payload = append(e.result.Payload, kernel.Payload{Source: "page", Data: plain(arg)})
	}},
	{"panic", "TEXT: panic in the evaluator", func(e *echo, arg string) { panic(arg) }},
	{"password", "PROMPT: ask for a password, and print it", func(e *echo, arg string) { e.input(arg, true) }},
	{"print", "TEXT: a line on stdout", func(e *echo, arg string) { fmt.Fprintln(e.out.Stdout(), arg) }},
	{"printerr", "TEXT: a line on stderr", func(e *echo, arg string) { fmt.Fprintln(e.out.Stderr(), arg) }},
	{"repeat", "N TEXT: print TEXT N times, without newlines", func(e *echo, arg string) {
		count, text, _ := strings.Cut(arg, " ")
		n, _ := strconv.Atoi(count)
		io.WriteString(e.out.Stdout(), strings.Repeat(text, n))
	}},
	{"result", "TEXT: the result is TEXT", func(e *echo, arg string) { e.value(arg) }},
	{"send", "TEXT: send on the comm", func(e *echo, arg string) { e.talk((kernel.Comm).Send, arg) }},
	{"set", "NAME VALUE: keep a value", func(e *echo, arg string) {
		name, value, _ := strings.Cut(arg, " ")
		e.mu.Lock()
		defer e.mu.Unlock()
		e.values[name] = value
	}},
	{"sleep", "DUR: wait, unless interrupted", func(e *echo, arg string) { e.wait(time.After(duration(arg))) }},
	{"spin", "run until interrupted", func(e *echo, arg string) { e.wait(nil) }},
	{"split", "TEXT: print it byte by byte", func(e *echo, arg string) {
		for i := range len(arg) {
			io.WriteString(e.out.Stdout(), arg[i:i+1])
		}
	}},
	{"target", "NAME: accept comms with this target", func(e *echo, arg string) {
		e.comms.Register(arg, func(ctx context.Context, c kernel.Comm, m kernel.CommMessage, out kernel.Output) kernel.CommHandler {
			e.setComm(c)
			fmt.Fprintf(out.Stdout(), "%s opened with %s\n", arg, m.Data)
			return e.handler(arg)
		})
	}},
	{"update", "ID TEXT: update_display_data", func(e *echo, arg string) { e.out.Update(shown(arg)) }},
}

func (e *echo) value(text string) {
	b := plain(text)
	e.result.Value = &b
}

func (e *echo) fail(name, value string) {
	e.result.Err = &kernel.Error{Name: name, Value: value, Traceback: []string{name + ": " + value}}
}

func (e *echo) wait(until <-chan time.Time) {
	select {
	case <-until:
	case <-e.ctx.Done():
		e.fail("Interrupted", "the cell was interrupted")
	}
}

func (e *echo) input(prompt string, password bool) {
	line, err := e.out.(kernel.Inputter).Input(e.ctx, prompt, password)
	if err != nil {
		e.fail("InputError", err.Error())
		return
	}
	fmt.Fprintln(e.out.Stdout(), line)
}

func duration(s string) time.Duration {
	d, err := time.ParseDuration(s)
	if err != nil {
		panic(err)
	}
	return d
}

func plain(text string) display.Bundle {
	return display.Bundle{Data: map[string]any{"text/plain": text}}
}

func shown(arg string) display.Bundle {
	id, text, _ := strings.Cut(arg, " ")
	b := plain(text)
	if id != "-" {
		b.ID = id
	}
	return b
}

// Eval runs the cell's commands until one fails.
func (e *Echo) Eval(ctx context.Context, c kernel.Cell, out kernel.Output) kernel.Result {
	e.mu.Lock()
	if e.values == nil {
		e.values = map[string]string{}
	}
	late := e.late
	e.late = nil
	e.mu.Unlock()
	for _, f := range late {
		f()
	}
	run := &echo{Echo: e, ctx: ctx, cell: c, out: out}
	for line := range strings.Lines(c.Code) {
		name, arg, _ := strings.Cut(strings.TrimSuffix(line, "\n"), " ")
		if name == "" {
			continue
		}
		if !run.command(name, arg) {
			run.fail("CommandError", "unknown command "+name)
		}
		if run.result.Err != nil {
			break
		}
	}
	return run.result
}

func (e *echo) command(name, arg string) bool {
	for _, c := range commands {
		if c.name == name {
			c.run(e, arg)
			return true
		}
	}
	return false
}

// Language describes the echo language.
func (e *Echo) Language() kernel.Language {
	return kernel.Language{
		Name: "echo", Version: "1", MIMEType: "text/plain", FileExtension: ".echo",
		PygmentsLexer: "text", CodeMirrorMode: "text", Banner: "Echo", Implementation: "echo", Release: "1",
	}
}

// IsComplete reports code that ends in a backslash as incomplete, and a question mark
// as invalid.
func (e *Echo) IsComplete(code string) kernel.Completeness {
	switch {
	case strings.HasSuffix(code, "\\"):
		return kernel.Completeness{Status: "incomplete", Indent: "  "}
	case strings.HasPrefix(code, "?"):
		return kernel.Completeness{Status: "invalid"}
	}
	return kernel.Completeness{Status: "complete"}
}

// Complete completes the names of commands.
func (e *Echo) Complete(code string, cursor int) kernel.Completion {
	line := []rune(code)[:cursor]
	start := cursor
	for start > 0 && line[start-1] != '\n' && line[start-1] != ' ' {
		start--
	}
	found := kernel.Completion{Start: start, End: cursor}
	for _, c := range commands {
		if strings.HasPrefix(c.name, string(line[start:])) {
			found.Matches = append(found.Matches, kernel.Match{Text: c.name, Type: "function", Signature: c.help})
		}
	}
	return found
}

// Inspect describes the command at the start of the code.
func (e *Echo) Inspect(code string, cursor, detail int) (display.Bundle, bool) {
	name, _, _ := strings.Cut(code, " ")
	for _, c := range commands {
		if c.name == name {
			return plain(c.name + " " + c.help), true
		}
	}
	return display.Bundle{}, false
}

// Close does nothing: an Echo has no goroutines.
func (e *Echo) Close() error { return nil }

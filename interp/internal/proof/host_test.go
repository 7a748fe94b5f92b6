package proof

import (
	"bytes"
	"context"
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"io"
	"strings"
	"sync"
	"testing"
	"time"

	"halfnote/display"
	"halfnote/interp"
	"halfnote/kernel/eval"
)

// patience limits the time of a cell of a session, on a machine that other processes keep busy.
const patience = 40 * time.Second

// sessionSize is the number of cells after which a session is replaced, because the names that it knows make it slower.
const sessionSize = 200

// An outcome is what an engine makes of a cell.
type outcome struct {
	printed string
	refused string // why the engine does not run the cell; "" if it runs
}

// A host runs cells in sessions of an engine. A session that a cell may have damaged is replaced.
type host struct {
	t      testing.TB
	engine string
	batch  int // cells in one cell of the session
	// statements makes a body the statements of a cell: its variables are then those of the session.
	statements bool
	session    *interp.Session
	evals      int               // cells of the session so far
	has        map[string]string // sections of the session, with the reason of a refusal
	count      int
}

// renew starts another session.
func (h *host) renew() {
	if h.session != nil {
		h.session.Close()
	}
	s, err := interp.NewSession(interp.Options{Engine: h.engine, Release: "test", Grace: time.Second})
	if err != nil {
		h.t.Fatal(err)
	}
	h.session, h.has, h.evals = s, map[string]string{}, 0
}

// close ends the session.
func (h *host) close() {
	if h.session != nil {
		h.session.Close()
		h.session = nil
	}
}

// eval runs a cell of the session.
func (h *host) eval(code string) (printed string, err *eval.Error) {
	ctx, cancel := context.WithTimeout(h.t.Context(), patience)
	defer cancel()
	h.count++
	h.evals++
	out := &output{}
	r := h.session.Eval(ctx, eval.Cell{Code: code, Count: h.count}, out)
	return out.String(), r.Err
}

// declare declares the sections that cells use. It returns why one is refused, or "".
func (h *host) declare(uses []string) string {
	if h.session == nil || h.evals > sessionSize {
		h.renew()
	}
	for _, name := range append([]string{""}, uses...) {
		reason, ok := h.has[name]
		if !ok {
			code := Section(name)
			if name == "" {
				code = "import (\n\t\"" + strings.Join(Packages, "\"\n\t\"") + "\"\n)\n" + code + "\n" + Runner
			}
			if _, err := h.eval(code); err != nil {
				reason = fmt.Sprintf("section %s: %v", name, err)
			}
			h.has[name] = reason
		}
		if reason != "" {
			return reason
		}
	}
	return ""
}

// run returns the outcomes of cells by their identifiers.
func (h *host) run(cells []Cell) map[string]outcome {
	all := map[string]outcome{}
	for len(cells) > 0 {
		n := min(h.batch, len(cells))
		h.together(cells[:n], all)
		cells = cells[n:]
	}
	return all
}

// together runs cells as one cell of the session, or in parts if that is refused.
func (h *host) together(cells []Cell, all map[string]outcome) {
	halves := func() {
		h.together(cells[:len(cells)/2], all)
		h.together(cells[len(cells)/2:], all)
	}
	one := func(o outcome) { all[cells[0].ID()] = o }
	if reason := h.declare(sections(cells)); reason != "" {
		if len(cells) == 1 {
			one(outcome{refused: reason})
		} else {
			halves()
		}
		return
	}
	var before, code, calls strings.Builder
	for _, c := range cells {
		if s := c.Session(); s != "" {
			before.WriteString(s + "\n")
		}
		decls, run := h.form(c)
		code.WriteString(decls)
		calls.WriteString(run)
	}
	for _, text := range []string{before.String(), code.String(), calls.String()} {
		if text == "" {
			continue
		}
		printed, err := h.eval(text)
		parts := Split(printed)
		if err == nil {
			for id, text := range parts {
				all[id] = outcome{printed: text}
			}
			continue
		}
		if err.Name != "CompileError" {
			h.renew() // what failed may have left its traces
		}
		if len(parts) == 0 {
			if len(cells) == 1 {
				one(outcome{refused: err.Error()})
			} else {
				halves()
			}
			return
		}
		// The cell has run. What did not begin runs again without the cell that ended it.
		var rest []Cell
		for i, c := range cells {
			text, begun := parts[c.ID()]
			if !begun {
				rest = append(rest, c)
			} else if all[c.ID()] = (outcome{printed: text}); i+1 == len(cells) || !contains(parts, cells[i+1]) {
				all[c.ID()] = outcome{text, err.Error()}
			}
		}
		if len(rest) > 0 {
			h.together(rest, all)
		}
		return
	}
}

// form returns the declarations of a cell, and the statements that run it.
func (h *host) form(c Cell) (decls, run string) {
	if h.statements {
		return c.name(c.Decls), fmt.Sprintf(recovering+"fmt.Println(\"== %s\")\n%s\nfmt.Println(\"end\")\n", c.ID(), c.name(c.Body))
	}
	return c.Func(), fmt.Sprintf("run(%q, %s)\n", c.ID(), c.ID())
}

// recovering is the deferred call of Runner.
const recovering = "defer func() { if r := recover(); r != nil { fmt.Println(\"panic:\", r) } }()\n"

// stands reports whether a body prints the same as statements of a cell: it defers nothing and does not return.
func stands(c Cell) bool {
	f, err := parser.ParseFile(token.NewFileSet(), "", "package p\nfunc f() {\n"+c.name(c.Body)+"\n}", 0)
	stands := err == nil
	if stands {
		ast.Inspect(f.Decls[0].(*ast.FuncDecl).Body, func(n ast.Node) bool {
			switch n.(type) {
			case *ast.FuncLit:
				return false
			case *ast.DeferStmt, *ast.ReturnStmt:
				stands = false
			}
			return stands
		})
	}
	return stands
}

func contains(parts map[string]string, c Cell) bool { _, ok := parts[c.ID()]; return ok }

// singly returns the outcomes of cells, each a cell of a new session that has none of the cells before.
func (h *host) singly(cells []Cell) map[string]outcome {
	other := &host{t: h.t, engine: h.engine, batch: 1, statements: h.statements}
	defer other.close()
	return other.run(cells)
}

// output is the destination of what cells print.
type output struct {
	mu  sync.Mutex
	buf bytes.Buffer
}

func (o *output) Write(p []byte) (int, error) {
	o.mu.Lock()
	defer o.mu.Unlock()
	return o.buf.Write(p)
}

func (o *output) String() string {
	o.mu.Lock()
	defer o.mu.Unlock()
	return o.buf.String()
}

func (o *output) Stdout() io.Writer      { return o }
func (o *output) Stderr() io.Writer      { return io.Discard }
func (o *output) Display(display.Bundle) {}
func (o *output) Update(display.Bundle)  {}
func (o *output) Clear(bool)             {}

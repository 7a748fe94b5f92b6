package interp

import (
	"context"
	"errors"
	"fmt"
	"reflect"
	"slices"
	"strings"

	"halfnote/display"
	"halfnote/interp/internal/assist"
	"halfnote/interp/internal/export"
	"halfnote/interp/internal/front"
	"halfnote/interp/internal/hashes"
	"halfnote/interp/internal/history"
	"halfnote/interp/internal/magic"
	"halfnote/interp/internal/syntax"
	"halfnote/kernel/eval"
)

// Format returns a cell in gofmt's format. Lines of magics, and cells that a magic takes as
// text, stay as they are. So does a semicolon at the end, which keeps the cell from showing
// its value, and a cell such as "x?". A cell that does not parse is an error.
func Format(code string) (string, error) { return magic.Format(code) }

// ExecutedCell is a cell of a notebook that has been run.
type ExecutedCell = history.Cell

// Export writes cells, in the order they ran, as one Go program that prints the same
// output. Every variable of a cell becomes a package variable, and the statements of each
// cell become a function. A redeclaration gets a separate name, and so do the versions that
// depend on it. Cells that failed become comments, as do magics without a meaning in a
// program; the declarations of cells that panicked stay. An error names the code that
// cannot be exported; a program returned with an error does not compile.
func Export(cells []ExecutedCell) ([]byte, error) { return export.Program(cells, magic.Runs) }

// GoModHint returns the lines that the go.mod of an exported program needs to find
// this module's packages, or "".
func GoModHint(file string, src []byte, release string) string {
	return export.GoModHint(file, src, release)
}

// UseOutputs implements eval.OutputUser.
func (s *Session) UseOutputs(o eval.KeptOutputs) { s.kept = o }

// UseRanks implements eval.RankUser.
func (s *Session) UseRanks(r eval.Ranks) { s.ranks = r }

// OutputCell implements eval.OutputUser.
func (s *Session) OutputCell(count int) string { return fmt.Sprintf("%%output %d", count) }

// missed tells of a long cell that another front end ran.
func (s *Session) missed(in eval.Cell, out eval.Output) {
	if in.Missed > 0 && !strings.HasPrefix(strings.TrimSpace(in.Code), "%output") {
		fmt.Fprintf(out.Stderr(), "In[%d] ran for another window, which may have been closed: %s shows its output here\n", in.Missed, s.OutputCell(in.Missed))
	}
}

// newMagics returns the magics of the session.
func (s *Session) newMagics() *magic.Magics {
	h := magicHost{s}
	return magic.New(magic.Host{
		Code: h, Names: h, State: h, History: s.history, Screen: s.screen, Debugger: s.debugger, Live: s.live, Hashes: &s.hashes, Release: s.opts.Release, Lessons: s.opts.Lessons,
	})
}

// magicHost implements the interfaces of magic.Host.
type magicHost struct{ s *Session }

func (h magicHost) Run(ctx context.Context, in eval.Cell, out eval.Output) eval.Result {
	return h.s.run(ctx, in, out)
}

func (h magicHost) Check(in eval.Cell, out eval.Output) (*front.Checked, *eval.Error) {
	k, err := h.s.examine(in, out)
	if err != nil {
		return nil, h.s.failed(request{n: in.Count, out: out}, err)
	}
	return k, nil
}

func (h magicHost) Evaluate(ctx context.Context, in eval.Cell, out eval.Output) (magic.Evaluation, *eval.Error) {
	q := request{in.Count, ctx, out}
	c, err := h.s.execute(q, in.Code, false)
	e := &evaluation{s: h.s, request: q, cell: c}
	if err != nil {
		defer e.Close()
		return nil, e.failed(err)
	}
	return e, nil
}

func (h magicHost) Set(name string, v reflect.Value) {
	if b := h.s.env.Named(name); b != nil {
		if slot, ok := h.s.engine.Slot(b.Slot); ok {
			slot.Set(v)
		}
	}
}

func (h magicHost) RunsCells(function string) bool { return h.s.engine.RunsCells(function) }

func (h magicHost) LineOf(mark int) string {
	if mark == 0 {
		return ""
	}
	return h.s.places.Line(slices.Values([]int{mark}))
}

func (h magicHost) Report(r *syntax.Rejected) *eval.Error { return h.s.describer().Mistakes(r) }

func (h magicHost) IsValue(name string, beforeDot bool) bool { return h.s.isValue(name, beforeDot) }

func (h magicHost) Importable(path string) (string, error) {
	return h.s.front.Packages.Loader.Importable(path)
}

func (h magicHost) Seen() assist.Snapshot { return h.s.seen() }

func (h magicHost) Variables() []eval.Variable { return h.s.variables() }

func (h magicHost) Values() (list []hashes.Variable) {
	for _, b := range h.s.declared() {
		if v, ok := h.s.engine.Slot(b.Slot); ok {
			list = append(list, hashes.Variable{Name: b.Name, Value: v, Alone: h.s.live.Others() == 0})
		}
	}
	return list
}

func (h magicHost) Declared() (list []*front.Binding) {
	for _, b := range h.s.env.Names() {
		list = append(list, b)
	}
	return list
}

func (h magicHost) Outputs() magic.Outputs { return h.s.kept }

func (h magicHost) Ranks() eval.Ranks { return h.s.ranks }

func (h magicHost) ForgetOutputs() {
	h.s.dropOutputs(func(front.KeptValue) bool { return true })
	e := h.s.env.Clone()
	e.Last = nil
	h.s.take(e)
}

func (h magicHost) AutoImport(on bool) { h.s.explicit, h.s.front.AutoImport = !on, on }

func (h magicHost) Forget(names []string) error {
	h.s.checking.Lock()
	e, unused, err := h.s.front.Forget(h.s.env, names)
	h.s.checking.Unlock()
	if err != nil {
		return err
	}
	h.s.take(e)
	for _, b := range unused {
		h.s.engine.Remove(b.Slot)
	}
	return nil
}

func (h magicHost) Reset() error {
	h.s.live.StopAll()
	defer trim(0)
	return h.s.reset()
}

// evaluation implements magic.Evaluation.
type evaluation struct {
	s       *Session
	request request
	cell    *declared // nil if it did not run
	left    bool      // still running
}

func (e *evaluation) failed(err error) *eval.Error {
	e.left = e.left || errors.Is(err, errLeft)
	return e.s.failed(e.request, err)
}

func (e *evaluation) Value() (v reflect.Value, ok bool) {
	if len(e.cell.lowered.Results) == 0 {
		return v, false
	}
	return e.s.engine.Slot(e.cell.lowered.Results[0].Slot)
}

func (e *evaluation) Show() (*display.Bundle, *eval.Error) {
	b, err := e.s.render(e.cell)
	if err != nil {
		return nil, e.failed(err)
	}
	return b, nil
}

func (e *evaluation) Call(f func()) *eval.Error {
	if err := e.s.calling(e.request, f); err != nil {
		return e.failed(err)
	}
	return nil
}

func (e *evaluation) Close() {
	if e.cell != nil {
		e.s.drop(e.cell, false, e.left)
	}
}

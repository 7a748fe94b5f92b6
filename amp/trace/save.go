package trace

import (
	"cmp"
	"encoding/json"
	"fmt"
	"math"

	"halfnote/internal/save"
	"halfnote/tensor"
)

// Save writes the recording to a file that [Open] reads: the operations that it holds in order, the steps of scalers, and loss, loss scale, time and
// memory of the steps. Errors against float64, which [Shadow] finds, and transfers between ranks are left out. It returns an error if the file cannot be written.
func (r *Recorder) Save(path string) error {
	defer r.read()()
	f := &file{kinds: map[string]int{}}
	f.add(fileHead{Halfnote: "recording", Version: fileVersion, Producer: "halfnote", Begun: float64(r.begun.UnixMicro()) / 1e6, Notes: []string{}, Parameters: [][]any{}})
	steps := r.steps
	for i := range r.ops.list {
		op := r.ops.op(i)
		for len(steps) > 0 && steps[0].Of < op.Step {
			f.step(steps[0])
			steps = steps[1:]
		}
		f.op(&op)
	}
	for _, s := range steps {
		f.step(s)
	}
	f.progress(&r.history)
	if f.err != nil {
		return fmt.Errorf("trace: save: %w", f.err)
	}
	if err := save.Text(path, f.text); err != nil {
		return fmt.Errorf("trace: save: %w", err)
	}
	return nil
}

// file is the text of a file.
type file struct {
	text  []byte
	kinds map[string]int // kinds of operations, by their text
	rows  int
	err   error
}

func (f *file) add(v any) {
	b, err := json.Marshal(v)
	if f.err = cmp.Or(f.err, err); err == nil {
		f.text = append(append(f.text, b...), '\n')
	}
}

// row adds an operation, and its kind before its first use.
func (f *file) row(k fileKind, row ...any) {
	zero := 0
	k.Kind = &zero
	b, err := json.Marshal(k)
	if f.err = cmp.Or(f.err, err); err != nil {
		return
	}
	n, known := f.kinds[string(b)]
	if !known {
		n = len(f.kinds)
		f.kinds[string(b)] = n
		k.Kind = &n
		f.add(k)
	}
	f.add(append([]any{n}, row...))
	f.rows++
}

func rowCounts(c tensor.Counts) []any {
	return []any{c.Count, c.Zeros, c.Subnormals, c.Infs, c.NaNs, number(c.AbsMin), number(c.AbsMax)}
}

// unrounded returns counts of which c are those after r.
func unrounded(c tensor.Counts, r Rounding) []any {
	c.Zeros, c.Infs, c.Subnormals = c.Zeros-r.Flushed, c.Infs-r.Overflowed, 0
	return rowCounts(c)
}

// op adds an operation, after the casts for it.
func (f *file) op(op *OpRecord) {
	call, phase := op.ID, op.phase()
	if op.Backward {
		call = op.OfID
	} else if op.InPlace {
		call = 0
	}
	k := fileKind{
		Op: op.Name, Call: cmp.Or(op.Of, op.Name), Module: op.Module, Line: op.Source, Phase: phase, InPlace: op.InPlace, Device: string(op.Device), In: []fileTensor{},
		Out: []fileTensor{{op.Out, op.Shape}}, Policy: op.Policy, Why: op.Why, Param: op.Param, Bytes: op.Bytes, FLOPs: op.FLOPs,
	}
	for i, d := range op.In {
		k.In = append(k.In, fileTensor{d, op.InShapes[i]})
	}
	for _, c := range op.Cast {
		t := k.In[c.Operand]
		k.In[c.Operand] = fileTensor{c.To, t.shape}
		if c.Cached {
			continue
		}
		how := "autocast"
		if c.Promotion {
			how = "promotion"
		}
		row := []any{op.Step, call, int64(c.Start), int64(c.Duration), []int{c.ID}, []int{op.InIDs[c.Operand]}}
		if c.Rounded {
			after := tensor.Counts{Count: c.Elements, Zeros: c.Rounding.Flushed, Infs: c.Rounding.Overflowed, AbsMin: math.NaN(), AbsMax: math.NaN()}
			row = append(row, rowCounts(after), unrounded(after, c.Rounding))
		}
		f.row(fileKind{Op: "cast", Call: op.Name, Module: op.Module, Line: op.Source, Phase: phase, Cast: how, Device: string(op.Device), In: []fileTensor{{c.From, t.shape}}, Out: []fileTensor{{c.To, t.shape}}}, row...)
	}
	row := []any{op.Step, call, int64(op.Start), int64(op.Duration), append([]int{}, op.InIDs...), []int{op.ID}}
	if op.Counted {
		row = append(row, rowCounts(op.Counts))
		if op.Rounded {
			row = append(row, unrounded(op.Counts, op.Rounding))
		}
	}
	if op.hashed != nil {
		for len(row) < 9 { // behind the kind
			row = append(row, nil)
		}
		row = append(row, append([]string{op.hashed.line()}, op.hashed.lines()...))
	}
	f.row(k, row...)
}

// fileNumber returns a number for an event.
func fileNumber(x float64) fileFloat { return fileFloat{&x} }

func (f *file) step(s StepRecord) {
	f.add(fileEvent{Event: "scaler.step", Step: s.Of, At: f.rows, Scale: fileNumber(s.Scale), Skipped: s.Skipped, Parameter: s.Param})
	if s.After != 0 {
		f.add(fileEvent{Event: "update", Step: s.Of, At: f.rows, Before: fileNumber(s.Scale), After: fileNumber(s.After)})
	}
}

// progress adds the history of the steps.
func (f *file) progress(h *history) {
	for i, m := range h.columns {
		e := fileEvent{Event: "step", Step: i * h.stride, At: f.rows, NS: int64(m.end), Memory: m.memory}
		if !m.unknown {
			e.Loss = fileNumber(m.loss)
		}
		if m.scale != 0 {
			e.Scale = fileNumber(m.scale)
		}
		f.add(e)
	}
	for _, l := range h.logs {
		for i, x := range l.x {
			f.add(fileEvent{Event: "log", Name: l.name, Step: int(x), At: f.rows, Value: fileNumber(l.y[i])})
		}
	}
}

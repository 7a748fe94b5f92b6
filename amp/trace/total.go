package trace

import (
	"math"
	"time"

	"halfnote/tensor"
)

// Total holds totals of several operations.
type Total struct {
	Times    int
	Duration time.Duration
	Bytes    int // bytes read and written, without casts of operands
	FLOPs    float64

	Casts, Cached int           // numbers of operands converted, and taken from autocast's cache
	CastBytes     int           // bytes read and written by the casts
	CastTime      time.Duration // time of the casts

	Counted  int // number of operations with counted results
	Elements int // number of elements in counted results
	Zeros    int
	Bad      int     // number of inf and NaN among the elements
	AbsMin   float64 // smallest magnitude of the finite nonzero elements, NaN if there are none
	AbsMax   float64

	Rounded int // number of elements with a known effect of rounding, including those of casts
	Rounding
	Subnormal int // number of subnormal elements

	Shadowed
}

func newTotal() Total { return Total{AbsMin: math.NaN(), AbsMax: math.NaN()} }

// add adds an operation.
func (t *Total) add(op *OpRecord) {
	t.Times++
	t.Duration += op.Duration
	t.Bytes += op.Bytes
	t.FLOPs += op.FLOPs
	t.Casts += op.Casts
	t.Cached += op.Cached
	for _, c := range op.Cast {
		t.CastBytes += c.bytes()
		t.CastTime += c.Duration
		if c.Rounded && !c.Cached {
			t.Rounded += c.Elements
			t.round(c.Rounding)
		}
	}
	if op.Counted {
		t.Counted++
		t.Elements += op.Counts.Count
		t.Zeros += op.Counts.Zeros
		t.Subnormal += op.Counts.Subnormals
		t.Bad += op.Counts.Infs + op.Counts.NaNs
		t.AbsMin, t.AbsMax = least(t.AbsMin, op.Counts.AbsMin), -least(-t.AbsMax, -op.Counts.AbsMax)
	}
	if op.Rounded {
		t.Rounded += op.Counts.Count
		t.round(op.Rounding)
	}
	if op.Shadow != nil {
		t.Shadowed.merge(*op.Shadow)
	}
}

func (t *Total) round(r Rounding) {
	t.Flushed += r.Flushed
	t.Overflowed += r.Overflowed
}

// merge adds another total.
func (t *Total) merge(u Total) {
	t.Times += u.Times
	t.Duration += u.Duration
	t.Bytes += u.Bytes
	t.FLOPs += u.FLOPs
	t.Casts += u.Casts
	t.Cached += u.Cached
	t.CastBytes += u.CastBytes
	t.CastTime += u.CastTime
	t.Counted += u.Counted
	t.Elements += u.Elements
	t.Zeros += u.Zeros
	t.Subnormal += u.Subnormal
	t.Bad += u.Bad
	t.AbsMin, t.AbsMax = least(t.AbsMin, u.AbsMin), -least(-t.AbsMax, -u.AbsMax)
	t.Rounded += u.Rounded
	t.round(u.Rounding)
	t.Shadowed.merge(u.Shadowed)
}

// FlushedShare returns the fraction of elements that were rounded to zero, among those with a known
// effect of rounding; 0 if there are none.
func (t Total) FlushedShare() float64 { return share(t.Flushed, t.Rounded) }

// BadShare returns the fraction of the counted elements that are inf or NaN.
func (t Total) BadShare() float64 { return share(t.Bad, t.Elements) }

func share(n, all int) float64 { return float64(n) / float64(max(all, 1)) }

// least returns the smaller of a and b, ignoring NaN.
func least(a, b float64) float64 {
	if a < b || b != b {
		return a
	}
	return b
}

// key is the key by which running operations are added up.
type key struct {
	phase, name, module, source string
	dtype                       tensor.DType
}

// row holds the totals of a key, over all steps and for each column of steps.
type row struct {
	key
	Total
	columns []cell
}

// cell holds the numbers of one cell in a chart of operations and steps.
type cell struct{ rounded, flushed, elements, bad int }

// sums holds the totals of all operations of a recording in bounded memory: rows in order of
// appearance, and columns of one or more steps.
type sums struct {
	at     map[key]int
	rows   []row
	ofKind []int           // row of each kind of operation, or -1
	steps  []Total         // totals of each column
	starts []time.Duration // start of each column's first operation, since the start of the recording
	end    time.Duration   // end of the last operation
	stride int             // number of steps in a column

	last          int // last step with an operation, plus 1
	all           int // number of steps
	recorded      int // number of steps with operations
	counted       int // number of steps with counted results
	countedInLast bool
}

// Limits of memory.
const (
	maxRows    = 4096 // further keys are added to the last row
	maxColumns = 512
)

// add adds an operation; kind is the number of its kind in the recording, or -1.
func (s *sums) add(op *OpRecord, kind int32) {
	if s.at == nil {
		s.at = map[key]int{}
	}
	s.turn(op)
	column := s.column(op.Step, op.Start)
	s.steps[column].add(op)
	s.end = max(s.end, op.Start+op.Duration)
	r := s.row(op, kind)
	before := r.Total
	r.add(op)
	for len(r.columns) <= column {
		r.columns = append(r.columns, cell{})
	}
	c := &r.columns[column]
	c.rounded += r.Rounded - before.Rounded
	c.flushed += r.Flushed - before.Flushed
	c.elements += r.Elements - before.Elements
	c.bad += r.Bad - before.Bad
}

// column returns the number of step's column. A new one begins at start.
func (s *sums) column(step int, start time.Duration) int {
	s.stride = max(s.stride, 1)
	for step/s.stride >= maxColumns {
		s.halve()
	}
	for len(s.steps) <= step/s.stride {
		s.steps, s.starts = append(s.steps, newTotal()), append(s.starts, start)
	}
	return step / s.stride
}

// reach adds a step without operations.
func (s *sums) reach(step int, start time.Duration) {
	s.column(step, start)
	s.last, s.countedInLast = step+1, false
	s.all++
	s.end = max(s.end, start)
}

// row returns the row of op, which is that of all operations of its kind.
func (s *sums) row(op *OpRecord, kind int32) *row {
	if kind >= 0 && int(kind) < len(s.ofKind) && s.ofKind[kind] >= 0 {
		return &s.rows[s.ofKind[kind]]
	}
	k := key{op.phase(), op.Name, op.Module, op.Source, op.ranIn()}
	i, ok := s.at[k]
	switch {
	case !ok && len(s.rows) < maxRows:
		i = len(s.rows)
		s.at[k] = i
		s.rows = append(s.rows, row{key: k, Total: newTotal()})
	case !ok:
		i = maxRows - 1
		s.rows[i].key = key{name: "others"}
	}
	for int(kind) >= len(s.ofKind) {
		s.ofKind = append(s.ofKind, -1)
	}
	if kind >= 0 {
		s.ofKind[kind] = i
	}
	return &s.rows[i]
}

// turn counts the step that op begins, and whether its results are counted.
func (s *sums) turn(op *OpRecord) {
	if op.Step+1 != s.last {
		s.last = op.Step + 1
		s.all++
		s.recorded++
		s.countedInLast = false
	}
	if op.Counted && !s.countedInLast {
		s.countedInLast = true
		s.counted++
	}
}

// halve merges each two neighbouring columns.
func (s *sums) halve() {
	s.stride *= 2
	s.steps = fold(s.steps, 2, func(t *Total, u Total) { t.merge(u) })
	s.starts = fold(s.starts, 2, func(*time.Duration, time.Duration) {})
	for i := range s.rows {
		s.rows[i].columns = fold(s.rows[i].columns, 2, (*cell).merge)
	}
}

// restart merges all steps so far into one.
func (s *sums) restart() {
	if len(s.steps) == 0 {
		return
	}
	s.stride, s.last, s.all, s.recorded, s.counted = 1, 1, 1, 1, min(s.counted, 1)
	s.steps = fold(s.steps, len(s.steps), func(t *Total, u Total) { t.merge(u) })
	s.starts = s.starts[:1]
	for i := range s.rows {
		if c := s.rows[i].columns; len(c) > 0 {
			s.rows[i].columns = fold(c, len(c), (*cell).merge)
		}
	}
}

func (c *cell) merge(d cell) {
	c.rounded += d.rounded
	c.flushed += d.flushed
	c.elements += d.elements
	c.bad += d.bad
}

// fold merges each n neighbours of list into one.
func fold[T any](list []T, n int, merge func(*T, T)) []T {
	for i, x := range list {
		if i%n == 0 {
			list[i/n] = x
		} else {
			merge(&list[i/n], x)
		}
	}
	return list[:(len(list)+n-1)/n]
}

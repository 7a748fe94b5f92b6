package trace

import (
	"math"
	"time"

	"halfnote/tensor"
)

// Total is what several operations add up to.
type Total struct {
	Times    int
	Duration time.Duration
	Bytes    int // read and written, casts for operands not among them
	FLOPs    float64

	Casts, Cached int           // operands converted, and taken from autocast's cache
	CastBytes     int           // read and written by the casts
	CastTime      time.Duration // of the casts

	Counted  int // operations whose results were counted
	Elements int // in those
	Zeros    int
	Bad      int     // of the elements, inf or NaN
	AbsMin   float64 // of the finite elements that are not 0, NaN if there is none
	AbsMax   float64

	Rounded int // elements of which it is known what the rounding did, of casts too
	Rounding
	Subnormal int // of the elements

	Shadowed
}

func newTotal() Total { return Total{AbsMin: math.NaN(), AbsMax: math.NaN()} }

// add adds an operation.
func (t *Total) add(op *Op) {
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

// merge adds what others add up to.
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

// FlushedShare is the part of the elements that were rounded to zero, of those of
// which it is known; 0 where it is of none.
func (t Total) FlushedShare() float64 { return share(t.Flushed, t.Rounded) }

// BadShare is the part of the counted elements that are inf or NaN.
func (t Total) BadShare() float64 { return share(t.Bad, t.Elements) }

func share(n, all int) float64 { return float64(n) / float64(max(all, 1)) }

// least is the lesser of a and b that is a number.
func least(a, b float64) float64 {
	if a < b || b != b {
		return a
	}
	return b
}

// key is what operations are added up by while they run.
type key struct {
	phase, name, module, source string
	dtype                       tensor.DType
}

// row is the sum of a key, over all steps and for each column of steps.
type row struct {
	key
	Total
	columns []cell
}

// cell is what a chart of operations and steps shows.
type cell struct{ rounded, flushed, elements, bad int }

// sums adds up all operations of a recording in bounded memory: rows in the order in
// which they came, and steps, several of them to a column when there are many.
type sums struct {
	at     map[key]int
	rows   []row
	ofKind []int   // row of each kind of operation, -1 where it is not known
	steps  []Total // a column each
	stride int     // steps to a column

	last          int // step that was added to, plus 1
	all, counted  int // steps, and those whose results were counted
	countedInLast bool
}

// Limits of what is kept.
const (
	maxRows    = 4096 // further keys are added to the last row
	maxColumns = 512
)

// add adds an operation, whose kind has this number in the recording, -1 for one that is
// not known there.
func (s *sums) add(op *Op, kind int32) {
	if s.at == nil {
		s.at, s.stride = map[key]int{}, 1
	}
	for op.Step/s.stride >= maxColumns {
		s.halve()
	}
	s.turn(op)
	column := op.Step / s.stride
	for len(s.steps) <= column {
		s.steps = append(s.steps, newTotal())
	}
	s.steps[column].add(op)
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

// row returns the row that op belongs to, which all of its kind do.
func (s *sums) row(op *Op, kind int32) *row {
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

// turn notes the steps that op begins, and that are counted.
func (s *sums) turn(op *Op) {
	if op.Step+1 != s.last {
		s.last = op.Step + 1
		s.all++
		s.countedInLast = false
	}
	if op.Counted && !s.countedInLast {
		s.countedInLast = true
		s.counted++
	}
}

// halve joins columns, two to one.
func (s *sums) halve() {
	s.stride *= 2
	s.steps = fold(s.steps, 2, func(t *Total, u Total) { t.merge(u) })
	for i := range s.rows {
		s.rows[i].columns = fold(s.rows[i].columns, 2, (*cell).merge)
	}
}

// restart takes all steps so far for one.
func (s *sums) restart() {
	if len(s.steps) == 0 {
		return
	}
	s.stride, s.last, s.all, s.counted = 1, 1, 1, min(s.counted, 1)
	s.steps = fold(s.steps, len(s.steps), func(t *Total, u Total) { t.merge(u) })
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

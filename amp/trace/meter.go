package trace

import (
	"time"

	"halfnote/tensor"
)

// meter counts the elements of results as long as this takes a small fraction of the time. A cast to
// a wider dtype changes no element, so its operand and result share one count.
type meter struct {
	always bool // count at any cost
	begun  time.Time
	spent  time.Duration
	before time.Duration // time spent when on was decided
	last   time.Duration // time of counting in the last counted step, or part of one
	step   int           // step that on applies to
	ops    int           // operations since on was decided
	on     bool

	known recent[counted]
}

// counted holds the counts of a tensor at one version of its memory.
type counted struct {
	version int
	tensor.Counts
}

// Counting may take this fraction of the time, or the free allowance if that is more, so that short
// recordings are counted in full.
const (
	countShare = 0.01
	countFree  = time.Millisecond
	recheck    = 1000 // number of operations between looks at the clock within a step
)

// ready decides, at the start of each step, whether its results are counted.
func (m *meter) ready(step int) {
	if m.ops++; m.always {
		m.on = true
		return
	} else if m.ops > 1 && step == m.step && m.ops < recheck {
		return
	}
	if step != m.step { // results for tensors of the step before last have no reader
		m.known.turn()
	}
	m.step, m.ops = step, 1
	if m.on {
		m.last = m.spent - m.before
	}
	m.before = m.spent
	m.on = m.spent+m.last <= max(countFree, time.Duration(countShare*float64(time.Since(m.begun))))
}

// count returns the counts of t.
func (m *meter) count(t *tensor.Tensor) tensor.Counts {
	id, version := t.ID(), t.Version()
	if c, ok := m.known.get(id); ok && c.version == version {
		return c.Counts
	}
	start := time.Now()
	c := t.Counts()
	m.spent += time.Since(start)
	m.known.put(id, counted{version, c})
	return c
}

// cast returns the counts of the result of a cast of x, and the effect of the rounding.
func (m *meter) cast(x, y *tensor.Tensor) (tensor.Counts, Rounding) {
	before := m.count(x)
	if wider(x.DType(), y.DType()) && !(before.AbsMin < tensor.FInfo(y.DType()).Tiny) {
		before.Subnormals = 0
		m.known.put(y.ID(), counted{y.Version(), before})
		return before, Rounding{}
	}
	after := m.count(y)
	return after, Rounding{Flushed: after.Zeros - before.Zeros, Overflowed: after.Infs - before.Infs}
}

// wider reports whether to represents every number of d.
func wider(d, to tensor.DType) bool {
	return d.IsFloat() && to.IsFloat() && d.Size() < to.Size() && to.Size() >= 4
}

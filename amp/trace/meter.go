package trace

import (
	"time"

	"halfnote/tensor"
)

// meter computes counts of results, as long as this takes a small share of the time. A cast to
// a wider dtype changes no element, so its operand and result share one count.
type meter struct {
	always bool // whatever it takes
	begun  time.Time
	spent  time.Duration
	before time.Duration // what had been spent when on was decided
	last   time.Duration // what counting took in the last step, or part of one, that was counted
	step   int           // that on is for
	ops    int           // since on was decided
	on     bool

	known recent[counted]
}

// counted is what was in a tensor at some version of its memory.
type counted struct {
	version int
	tensor.Counts
}

// Counting may take this share of the time, or what is free if that is more: so that short
// recordings have it all.
const (
	countShare = 0.01
	countFree  = time.Millisecond
	recheck    = 1000 // operations after which the meter looks at the time, within a step
)

// ready decides, at the start of each step, whether its results are counted.
func (m *meter) ready(step int) {
	if m.ops++; m.always {
		m.on = true
		return
	} else if m.ops > 1 && step == m.step && m.ops < recheck {
		return
	}
	if step != m.step { // what is known of tensors of the step before last is not asked for
		m.known.turn()
	}
	m.step, m.ops = step, 1
	if m.on {
		m.last = m.spent - m.before
	}
	m.before = m.spent
	m.on = m.spent+m.last <= max(countFree, time.Duration(countShare*float64(time.Since(m.begun))))
}

// count returns what is in t.
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

// cast returns what is in the result of a cast of x, and what the rounding did to it.
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

// wider reports whether every number of d is one of to.
func wider(d, to tensor.DType) bool {
	return d.IsFloat() && to.IsFloat() && d.Size() < to.Size() && to.Size() >= 4
}

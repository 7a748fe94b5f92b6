package trace

import (
	"cmp"
	"math"
	"slices"
	"time"

	"halfnote/amp"
	"halfnote/display/chart"
	"halfnote/tensor"
)

// history is the progress of a run: the loss, the loss scale, the time and the memory of its steps, in
// columns of one or more steps.
type history struct {
	columns []moment
	stride  int // number of steps in a column
	steps   int // number of steps
	begun   time.Time
	logs    []*logged
	memory  string // what the memory is of, "" for tensors

	given int       // number of the last step whose loss a scaler was given, plus 1
	read  time.Time // when a loss was last read from a device
}

// moment is a column.
type moment struct {
	loss    float64 // NaN if unknown is set
	unknown bool
	scale   float64 // 0 without a scaler
	skipped []int   // steps that optimizers skipped
	memory  int
	end     time.Duration // end of the last operation, since the first one
}

// logged is a quantity that the program logs.
type logged struct {
	name string
	x, y []float64
}

// at returns the column of a step.
func (c *history) at(step int) *moment {
	c.stride = max(c.stride, 1)
	for step/c.stride >= maxColumns {
		c.stride *= 2
		c.columns = fold(c.columns, 2, (*moment).merge)
	}
	c.steps = max(c.steps, step+1)
	for len(c.columns) <= step/c.stride {
		m := moment{loss: math.NaN(), unknown: true}
		if n := len(c.columns); n > 0 {
			m.end = c.columns[n-1].end
		}
		c.columns = append(c.columns, m)
	}
	return &c.columns[step/c.stride]
}

// merge adds the next column. A loss that is not finite stays.
func (m *moment) merge(n moment) {
	if !n.unknown && (m.unknown || m.loss-m.loss == 0) {
		m.loss, m.unknown = n.loss, false
	}
	if m.scale = min(m.scale, n.scale); m.scale == 0 {
		m.scale = n.scale
	}
	m.skipped = append(m.skipped, n.skipped...)
	m.memory, m.end = max(m.memory, n.memory), n.end
}

// restart merges all steps so far into one.
func (c *history) restart() {
	if len(c.columns) > 0 {
		c.columns, c.stride, c.steps = fold(c.columns, len(c.columns), (*moment).merge), 1, 1
		c.columns[0].skipped = nil
	}
}

// pass notes that a step has reached the time now.
func (c *history) pass(step int, now time.Time) {
	if c.begun.IsZero() {
		c.begun = now
	}
	m := c.at(step)
	m.end = max(m.end, now.Sub(c.begun))
}

// end returns the last time given to pass.
func (c *history) end() time.Time {
	if len(c.columns) == 0 {
		return c.begun
	}
	return c.begun.Add(c.columns[len(c.columns)-1].end)
}

// backward notes a call of Backward on the loss.
func (c *history) backward(loss *tensor.Tensor, step int) {
	m := c.at(step)
	if c.given != step+1 {
		c.lose(m, loss)
	}
	m.memory = max(m.memory, loss.Device().Memory().Live)
}

// lossEvery is the time between two losses read from a device, which has to finish its work for that.
const lossEvery = 250 * time.Millisecond

// lose notes a loss.
func (c *history) lose(m *moment, loss *tensor.Tensor) {
	if loss == nil || loss.Numel() != 1 {
		return
	}
	if loss.Device() != tensor.CPU {
		if time.Since(c.read) < lossEvery {
			return
		}
		c.read = time.Now()
	}
	defer func() { recover() }() // a graph that is being captured has no values
	tensor.Unobserved(func() { m.loss, m.unknown = loss.Float64s()[0], false })
}

// scaler notes an event of a scaler in a step.
func (c *history) scaler(e amp.ScalerEvent, step int) {
	switch m := c.at(step); e.Kind {
	case amp.EventScale:
		c.given = step + 1
		c.lose(m, e.Loss)
		m.scale = e.Before
	case amp.EventStep:
		m.scale = e.Result.Scale
		if n := len(m.skipped); e.Result.Skipped && (n == 0 || m.skipped[n-1] != step) {
			m.skipped = append(m.skipped, step)
		}
	}
}

// log notes a value that the program logs.
func (c *history) log(name string, v float64, step int) {
	i := slices.IndexFunc(c.logs, func(l *logged) bool { return l.name == name })
	if i < 0 {
		i = len(c.logs)
		c.logs = append(c.logs, &logged{name: name})
	}
	l := c.logs[i]
	if len(l.x) == 2*maxColumns { // keep every second one
		for k := range maxColumns {
			l.x[k], l.y[k] = l.x[2*k], l.y[2*k]
		}
		l.x, l.y = l.x[:maxColumns], l.y[:maxColumns]
	}
	l.x, l.y = append(l.x, float64(step)), append(l.y, v)
}

// rates returns the steps per second at each column: over the last tenth of a second, or a 50th of
// the time if that is more.
func (c *history) rates() (list []float64) {
	from := 0
	for i, m := range c.columns {
		window := max(100*time.Millisecond, m.end/50)
		since := func(k int) time.Duration { // from the end of the column before k
			if k == 0 {
				return m.end
			}
			return m.end - c.columns[k-1].end
		}
		for from < i && since(from+1) >= window {
			from++
		}
		steps := (i + 1 - from) * c.stride
		if i == len(c.columns)-1 {
			steps = c.steps - from*c.stride
		}
		list = append(list, float64(steps)/max(since(from), 1).Seconds())
	}
	return list
}

// quantities returns the loss, unless one was logged, and what was logged.
func (c *history) quantities() (list []chart.Panel) {
	loss := chart.Panel{Name: "loss"}
	for i, m := range c.columns {
		if !m.unknown {
			loss.X, loss.Values = append(loss.X, float64(i*c.stride)), append(loss.Values, m.loss)
		}
	}
	if !slices.ContainsFunc(c.logs, func(l *logged) bool { return l.name == loss.Name }) {
		list = append(list, loss)
	}
	for _, l := range c.logs {
		list = append(list, chart.Panel{Name: l.name, X: l.x, Values: l.y})
	}
	return list
}

// ended returns the time at which the column of a step ended.
func (c *history) ended(step int) time.Time {
	if len(c.columns) == 0 {
		return c.begun
	}
	return c.begun.Add(c.columns[min(step/c.stride, len(c.columns)-1)].end)
}

// panels returns the quantities that are known; flushed is the share of each column.
func (c *history) panels() (list []chart.Panel) {
	scale := chart.Panel{Name: "loss scale", Power: true}
	rate, memory := chart.Panel{Name: "throughput", Unit: "steps/s"}, chart.Panel{Name: cmp.Or(c.memory, "memory of tensors"), Unit: "B"}
	rates := c.rates()
	add := func(p *chart.Panel, i int, v float64) {
		p.X, p.Values = append(p.X, float64(i*c.stride)), append(p.Values, v)
	}
	for i, m := range c.columns {
		if m.scale != 0 {
			add(&scale, i, m.scale)
		}
		for _, s := range m.skipped {
			scale.Marked = append(scale.Marked, float64(s))
		}
		if m.memory > 0 {
			add(&memory, i, float64(m.memory))
		}
		add(&rate, i, rates[i])
	}
	return append(c.quantities(), scale, rate, memory)
}

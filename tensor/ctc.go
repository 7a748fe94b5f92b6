package tensor

import (
	"math"
	"slices"

	"halfnote/tensor/driver"
	"halfnote/tensor/internal/elementary"
)

// Connectionist temporal classification: A. Graves and others, "Connectionist Temporal
// Classification: Labelling Unsegmented Sequence Data with Recurrent Neural Networks"
// (2006). Numbers of equations refer to this paper.

// ctcBatch holds the inputs of a batch's loss, except the probabilities.
type ctcBatch struct {
	labels       [][]int // labels of each sample: the target with blanks around its elements
	times        []int   // number of time steps of each sample
	zeroInfinity bool
}

// target returns the length of the target of sample n.
func (b *ctcBatch) target(n int) int { return len(b.labels[n]) / 2 }

// ctcTable holds the numbers of a tensor (times, batch, classes).
type ctcTable struct {
	data           []float64
	batch, classes int
}

func newCTCTable(x *Tensor) ctcTable {
	return ctcTable{convert(x, Float64).Float64s(), x.shape[1], x.shape[2]}
}

// of returns the rows of sample n by time.
func (t ctcTable) of(n int) func(time int) []float64 {
	return func(time int) []float64 {
		at := (time*t.batch + n) * t.classes
		return t.data[at : at+t.classes]
	}
}

// ctcSample is one sample: its log-probabilities by time and, for a directional derivative,
// their tangent, or nil.
type ctcSample struct {
	labels       []int
	times        int
	logs, change func(time int) []float64
}

func (b *ctcBatch) sample(n int, logs ctcTable) ctcSample {
	return ctcSample{labels: b.labels[n], times: b.times[n], logs: logs.of(n)}
}

// reversed returns the sample read backwards, which turns backward variables into forward ones.
func (s ctcSample) reversed() ctcSample {
	back := func(f func(int) []float64) func(int) []float64 {
		if f == nil {
			return nil
		}
		return func(time int) []float64 { return f(s.times - 1 - time) }
	}
	labels := slices.Clone(s.labels)
	slices.Reverse(labels)
	return ctcSample{labels, s.times, back(s.logs), back(s.change)}
}

// ctcRow holds, for each label at one time, the log-probability of all paths that end there,
// and its change along the direction.
type ctcRow struct{ log, change []float64 }

func (r ctcRow) clone() ctcRow { return ctcRow{slices.Clone(r.log), slices.Clone(r.change)} }

// step computes the row of time from that of time-1: equations 6 and 7.
func (s ctcSample) step(r ctcRow, time int) {
	driver.Poll()
	logs := s.logs(time)
	for i := len(s.labels) - 1; i >= 0; i-- {
		first := max(i-1, 0)
		if i > 1 && s.labels[i] != s.labels[i-2] {
			first = i - 2
		}
		log, change := math.Inf(-1), 0.0
		if time > 0 {
			log, change = r.join(first, i)
		} else if i < 2 {
			log = 0
		}
		r.log[i] = log + logs[s.labels[i]]
		if s.change != nil {
			r.change[i] = change + s.change(time)[s.labels[i]]
		}
	}
}

// join returns the logarithm of the summed probabilities from first to last, and its change.
func (r ctcRow) join(first, last int) (log, change float64) {
	top := r.log[first]
	for _, x := range r.log[first+1 : last+1] {
		top = max(top, x)
	}
	if math.IsInf(top, -1) {
		return top, 0
	}
	sum, weighted := 0.0, 0.0
	for i := first; i <= last; i++ {
		p := 1.0
		if x := r.log[i]; x != top {
			p = elementary.Exp(x - top)
		}
		sum += p
		if r.change != nil && p > 0 {
			weighted += float64(p * r.change[i])
		}
	}
	return top + elementary.Log(sum), weighted / sum
}

// blank returns the row before the first time.
func (s ctcSample) blank() ctcRow {
	r := ctcRow{log: make([]float64, len(s.labels))}
	if s.change != nil {
		r.change = make([]float64, len(s.labels))
	}
	return r
}

// loss returns the negative log-probability of the target, equation 8, its change, and, if
// requested, the first row of each block of times.
func (s ctcSample) loss(block int) (loss, change float64, starts []ctcRow) {
	if s.times == 0 && len(s.labels) == 1 {
		return 0, 0, nil
	} else if s.times == 0 {
		return math.Inf(1), 0, nil
	}
	r := s.blank()
	for time := range s.times {
		s.step(r, time)
		if block > 0 && time%block == 0 {
			starts = append(starts, r.clone())
		}
	}
	last := len(s.labels) - 1
	log, change := r.join(max(last-1, 0), last)
	return -log, -change, starts
}

// rows calls f with the rows of each time, last to first. It recomputes each block from its
// first row.
func (s ctcSample) rows(block int, starts []ctcRow, f func(time int, r ctcRow)) {
	for k, start := range slices.Backward(starts) {
		rows := []ctcRow{start}
		for time := k*block + 1; time < min((k+1)*block, s.times); time++ {
			next := rows[len(rows)-1].clone()
			s.step(next, time)
			rows = append(rows, next)
		}
		for i, r := range slices.Backward(rows) {
			f(k*block+i, r)
		}
	}
}

// gradient sets out to weight times the gradient of the loss with respect to the
// log-probabilities, equation 16. As in torch, they must come from log_softmax, whose
// derivative passes the gradient through unchanged. With a direction it computes the change of
// that gradient. It stores about the square root of the number of rows.
func (s ctcSample) gradient(weight float64, zeroInfinity bool, out func(time int) []float64) {
	block := int(math.Ceil(math.Sqrt(float64(s.times))))
	loss, change, starts := s.loss(block)
	if zeroInfinity && math.IsInf(loss, 1) {
		return
	}
	back := s.reversed()
	beta := back.blank()
	s.rows(block, starts, func(time int, alpha ctcRow) {
		back.step(beta, s.times-1-time)
		row, p := out(time), s.logs(time)
		s.occupancy(row, p, alpha, beta, loss, change, time)
		for class, own := range row {
			all := elementary.Exp(p[class])
			if s.change != nil {
				all = float64(all * s.change(time)[class])
			}
			row[class] = (all - own) * weight
		}
	})
}

// occupancy sets row to the probability that a path is in each class at time, or to its change.
// If no path is possible the values are NaN.
func (s ctcSample) occupancy(row, p []float64, alpha, beta ctcRow, loss, change float64, time int) {
	if math.IsInf(loss, 1) {
		for class := range row {
			row[class] = math.NaN()
		}
		return
	}
	last := len(s.labels) - 1
	for i, class := range s.labels {
		both := alpha.log[i] + beta.log[last-i]
		if math.IsInf(both, -1) {
			continue
		}
		own := elementary.Exp(both + loss - p[class])
		if s.change != nil {
			own = float64(own * (alpha.change[i] + beta.change[last-i] + change - s.change(time)[class]))
		}
		row[class] += own
	}
}

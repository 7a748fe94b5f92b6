package tensor

import (
	"math"
	"slices"

	"halfnote/tensor/driver"
	"halfnote/tensor/internal/elementary"
)

// Connectionist temporal classification: A. Graves and others, "Connectionist Temporal
// Classification: Labelling Unsegmented Sequence Data with Recurrent Neural Networks"
// (2006). Its equations are numbered as there.

// ctcBatch is what the loss of a batch is asked of: all but the probabilities.
type ctcBatch struct {
	labels       [][]int // of each sample: the target with blanks around its elements
	times        []int   // of each sample: how many steps count
	zeroInfinity bool
}

// target returns how many elements the target of sample n has.
func (b *ctcBatch) target(n int) int { return len(b.labels[n]) / 2 }

// ctcTable has the numbers of a tensor (times, batch, classes).
type ctcTable struct {
	data           []float64
	batch, classes int
}

func newCTCTable(x *Tensor) ctcTable {
	return ctcTable{convert(x, Float64).Float64s(), x.shape[1], x.shape[2]}
}

// of returns the rows of sample n, by time.
func (t ctcTable) of(n int) func(time int) []float64 {
	return func(time int) []float64 {
		at := (time*t.batch + n) * t.classes
		return t.data[at : at+t.classes]
	}
}

// ctcSample is one sample: the logarithms of its probabilities by time, and a direction
// in which they change, or nil.
type ctcSample struct {
	labels       []int
	times        int
	logs, change func(time int) []float64
}

func (b *ctcBatch) sample(n int, logs ctcTable) ctcSample {
	return ctcSample{labels: b.labels[n], times: b.times[n], logs: logs.of(n)}
}

// reversed returns the sample read from its end, by which backward variables are forward
// ones.
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

// ctcRow has, for each label at one time, the logarithm of the probability of all paths
// that end there, and how that changes along the direction.
type ctcRow struct{ log, change []float64 }

func (r ctcRow) clone() ctcRow { return ctcRow{slices.Clone(r.log), slices.Clone(r.change)} }

// step turns the row of time-1 into that of time: equations 6 and 7.
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
	top := slices.Max(r.log[first : last+1])
	if math.IsInf(top, -1) {
		return top, 0
	}
	sum, weighted := 0.0, 0.0
	for i := first; i <= last; i++ {
		p := elementary.Exp(r.log[i] - top)
		sum += p
		if r.change != nil && p > 0 {
			weighted += float64(p * r.change[i])
		}
	}
	return top + elementary.Log(sum), weighted / sum
}

// rows calls f with the rows of each time, from the last one on. Of all rows it keeps about
// the square root of their number, and computes the others again.
func (s ctcSample) rows(f func(time int, r ctcRow)) {
	block := int(math.Ceil(math.Sqrt(float64(s.times))))
	var starts []ctcRow
	r := s.blank()
	for time := range s.times {
		s.step(r, time)
		if time%block == 0 {
			starts = append(starts, r.clone())
		}
	}
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

// blank returns a row before the first time.
func (s ctcSample) blank() ctcRow {
	r := ctcRow{log: make([]float64, len(s.labels))}
	if s.change != nil {
		r.change = make([]float64, len(s.labels))
	}
	return r
}

// loss returns minus the logarithm of the probability of the target, equation 8, and its
// change.
func (s ctcSample) loss() (loss, change float64) {
	if s.times == 0 && len(s.labels) == 1 {
		return 0, 0
	} else if s.times == 0 {
		return math.Inf(1), 0
	}
	r := s.blank()
	for time := range s.times {
		s.step(r, time)
	}
	last := len(s.labels) - 1
	log, change := r.join(max(last-1, 0), last)
	return -log, -change
}

// occupancy calls f with the logarithms of the sums of equation 16 for each class at each
// time, -Inf where no path goes, and their changes.
func (s ctcSample) occupancy(classes int, f func(time int, sums ctcRow)) {
	back := s.reversed()
	beta := back.blank()
	last := len(s.labels) - 1
	s.rows(func(time int, alpha ctcRow) {
		back.step(beta, s.times-1-time)
		sums := ctcRow{log: slices.Repeat([]float64{math.Inf(-1)}, classes)}
		if s.change != nil {
			sums.change = make([]float64, classes)
		}
		for i, class := range s.labels {
			both := ctcRow{log: []float64{sums.log[class], alpha.log[i] + beta.log[last-i]}}
			if s.change != nil {
				both.change = []float64{sums.change[class], alpha.change[i] + beta.change[last-i]}
			}
			log, change := both.join(0, 1)
			if sums.log[class] = log; s.change != nil {
				sums.change[class] = change
			}
		}
		f(time, sums)
	})
}

// gradient sets out to weight times the loss's gradient by the logarithms, as torch has it: that of
// probabilities which log_softmax has made, whose gradient passes through its derivative
// unchanged. With a direction it is the change of that gradient.
func (s ctcSample) gradient(weight float64, out func(time int) []float64) {
	loss, change := s.loss()
	logs := s.logs
	classes := 0
	if s.times > 0 {
		classes = len(logs(0))
	}
	s.occupancy(classes, func(time int, sums ctcRow) {
		row, p := out(time), logs(time)
		for class, sum := range sums.log {
			all, own := elementary.Exp(p[class]), elementary.Exp(sum+loss-p[class])
			if s.change == nil {
				row[class] = (all - own) * weight
				continue
			}
			d := s.change(time)[class]
			row[class] = (float64(all*d) - float64(own*(sums.change[class]+change-d))) * weight
		}
	})
}

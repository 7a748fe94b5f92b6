package trace

import (
	"fmt"
	"slices"
	"time"
)

// turn is about how long steps of one kind run before it is the turn of the other's: a
// step of a millisecond by itself says little on a machine that does other things too.
const turn = 25 * time.Millisecond

// Cost is what a recording takes.
type Cost struct {
	Steps         int           // measured of each kind
	Without, With time.Duration // of a step, the median
	Ratio         float64       // of With to Without of neighbours in time, the median
	Low, High     float64       // its quartiles
}

// Overhead measures what a recording takes: it runs step, a step of training, that many
// times, or a few more, with a recording and as often without, in turns.
// with is as for [Start].
func Overhead(steps int, step func(), with ...any) Cost {
	rec := Start(with...)
	rec.pause()
	defer rec.Stop()
	timed := func(n int) time.Duration {
		start := time.Now()
		for range n {
			step()
		}
		return time.Since(start) / time.Duration(n)
	}
	steps = max(steps, 1)
	timed(2)
	block := min(max(int(turn/max(timed(1), 1)), 1), (steps+9)/10)
	recorded := func() time.Duration {
		rec.resume()
		defer rec.pause()
		return timed(block)
	}
	var without, under []time.Duration
	var ratios []float64
	for i := range (steps + block - 1) / block {
		var a, b time.Duration
		if i%2 == 0 {
			a, b = timed(block), recorded()
		} else {
			b, a = recorded(), timed(block)
		}
		without, under = append(without, a), append(under, b)
		ratios = append(ratios, float64(b)/float64(max(a, 1)))
	}
	slices.Sort(without)
	slices.Sort(under)
	slices.Sort(ratios)
	n := len(ratios)
	return Cost{Steps: n * block, Without: without[n/2], With: under[n/2], Ratio: ratios[n/2], Low: ratios[n/4], High: ratios[3*n/4]}
}

// Share is what the recording adds, as a part of the time without it.
func (c Cost) Share() float64 { return c.Ratio - 1 }

// String says it in a sentence.
func (c Cost) String() string {
	return fmt.Sprintf("a step takes %v without a recording and %v with one, %+.1f %% (medians of %d steps of each kind, in turns; half of the pairs lie between %+.1f and %+.1f %%)",
		c.Without.Round(time.Microsecond), c.With.Round(time.Microsecond), 100*c.Share(), c.Steps, 100*(c.Low-1), 100*(c.High-1))
}

package trace

import (
	"fmt"
	"slices"
	"time"
)

// Cost is what a recording takes.
type Cost struct {
	Steps         int           // measured of each kind
	Without, With time.Duration // of a step, the median
	Ratio         float64       // of With to Without of two steps that ran one after the other, the median
	Low, High     float64       // its quartiles
}

// Overhead measures what a recording takes: it runs step, a step of training, that many
// times with a recording and as often without, in turns, after a few steps to warm up.
// with is as for [Start].
func Overhead(steps int, step func(), with ...any) Cost {
	rec := Start(with...)
	rec.pause()
	defer rec.Stop()
	for range 3 {
		step()
	}
	timed := func() time.Duration {
		start := time.Now()
		step()
		return time.Since(start)
	}
	recorded := func() time.Duration {
		rec.resume()
		defer rec.pause()
		return timed()
	}
	var without, under []time.Duration
	var ratios []float64
	for i := range max(steps, 1) {
		var a, b time.Duration
		if i%2 == 0 {
			a, b = timed(), recorded()
		} else {
			b, a = recorded(), timed()
		}
		without, under = append(without, a), append(under, b)
		ratios = append(ratios, float64(b)/float64(max(a, 1)))
	}
	slices.Sort(without)
	slices.Sort(under)
	slices.Sort(ratios)
	n := len(ratios)
	return Cost{Steps: n, Without: without[n/2], With: under[n/2], Ratio: ratios[n/2], Low: ratios[n/4], High: ratios[3*n/4]}
}

// Share is what the recording adds, as a part of the time without it.
func (c Cost) Share() float64 { return c.Ratio - 1 }

// String says it in a sentence.
func (c Cost) String() string {
	return fmt.Sprintf("a step takes %v without a recording and %v with one, %+.1f %% (medians of %d steps of each kind, in turns; half of the pairs lie between %+.1f and %+.1f %%)",
		c.Without.Round(time.Microsecond), c.With.Round(time.Microsecond), 100*c.Share(), c.Steps, 100*(c.Low-1), 100*(c.High-1))
}

package trace

import (
	"fmt"
	"slices"
	"time"
)

// pairs is how many runs of each kind Overhead takes: single ones say little on a machine
// that does other things too.
const pairs = 7

// Cost is what a recording takes.
type Cost struct {
	Steps         int           // of a run
	Without, With time.Duration // of a run, the median
	Ratio         float64       // of With to Without of neighbours in time, the median
	Low, High     float64       // its quartiles
}

// Overhead measures what a recording takes: it trains for that many steps with a recording
// and as many without, seven times each, in turns. with is as for [Start].
func Overhead(steps int, step func(), with ...any) Cost {
	steps = max(steps, 1)
	run := func() time.Duration {
		start := time.Now()
		for range steps {
			step()
		}
		return time.Since(start)
	}
	recorded := func() time.Duration {
		start := time.Now()
		rec := Start(with...)
		run()
		rec.Stop()
		return time.Since(start)
	}
	step() // what only the first one does
	var without, under []time.Duration
	var ratios []float64
	for i := range pairs {
		var a, b time.Duration
		if i%2 == 0 {
			a, b = run(), recorded()
		} else {
			b, a = recorded(), run()
		}
		without, under = append(without, a), append(under, b)
		ratios = append(ratios, float64(b)/float64(max(a, 1)))
	}
	slices.Sort(without)
	slices.Sort(under)
	slices.Sort(ratios)
	return Cost{Steps: steps, Without: without[pairs/2], With: under[pairs/2], Ratio: ratios[pairs/2], Low: ratios[pairs/4], High: ratios[3*pairs/4]}
}

// Share is what the recording adds, as a part of the time without it.
func (c Cost) Share() float64 { return c.Ratio - 1 }

// String says it in a sentence.
func (c Cost) String() string {
	return fmt.Sprintf("%d steps take %v without a recording and %v with one, %+.1f %% (medians of %d runs of each kind, in turns; half of the pairs lie between %+.1f and %+.1f %%)",
		c.Steps, c.Without.Round(time.Microsecond), c.With.Round(time.Microsecond), 100*c.Share(), pairs, 100*(c.Low-1), 100*(c.High-1))
}

package trace

import (
	"fmt"
	"slices"
	"time"

	"halfnote/display"
)

// pairs is the number of runs of each kind in Overhead, and turn the number of steps before it
// switches to the other kind: single runs are too noisy on a shared machine.
const (
	pairs = 7
	turn  = 10
)

// Cost is the overhead of a recording.
type Cost struct {
	Steps         int           // number of steps in a run
	Without, With time.Duration // median time of a run
	Ratio         float64       // median ratio of With to Without for successive runs
	Low, High     float64       // quartiles of the ratio
}

// Overhead measures the cost of a recording: seven times, it trains for the given number of
// steps with a recording, including its start and end, and as many without, alternating every
// ten steps. The options are those of [Start]. With [Live], all runs have one dashboard.
func Overhead(steps int, step func(), options ...Option) Cost {
	if step == nil {
		panic(fmt.Errorf("trace: overhead: step is nil; want a function that runs a training step"))
	}
	steps = max(steps, 1)
	step() // warm up
	var handle *display.Handle
	options = append(slices.Clone(options), func(s *settings) {
		if show := s.show; show != nil {
			s.shared = true
			s.show = func(v any) *display.Handle {
				if handle == nil {
					handle = show(v)
				}
				return handle
			}
		}
	})
	var without, under []time.Duration
	var ratios []float64
	for i := range pairs {
		a, b := sideBySide(steps, step, i%2 == 0, options)
		without, under = append(without, a), append(under, b)
		ratios = append(ratios, float64(b)/float64(max(a, 1)))
	}
	if handle != nil {
		handle.Settle()
	}
	slices.Sort(without)
	slices.Sort(under)
	slices.Sort(ratios)
	return Cost{Steps: steps, Without: without[pairs/2], With: under[pairs/2], Ratio: ratios[pairs/2], Low: ratios[pairs/4], High: ratios[3*pairs/4]}
}

// sideBySide returns the times of a run without and a run with a recording. With first, the run
// without a recording takes the first turn.
func sideBySide(steps int, step func(), first bool, options []Option) (without, under time.Duration) {
	timed := func(body func()) time.Duration {
		start := time.Now()
		body()
		return time.Since(start)
	}
	var rec *Recorder
	under = timed(func() { rec = Start(options...); rec.ignore() })
	defer rec.Stop() // in case a step panics
	for done := 0; done < steps; done += turn {
		n := min(turn, steps-done)
		for i := range 2 {
			if (i == 0) == first {
				spent := timed(func() {
					for range n {
						step()
					}
				})
				without += spent
				rec.meter.begun = rec.meter.begun.Add(spent) // the meter counts only its own time
				if rec.live != nil {
					rec.live.next = rec.live.next.Add(spent)
				}
				continue
			}
			under += timed(func() {
				rec.listen()
				for range n {
					step()
				}
				rec.ignore()
			})
		}
	}
	return without, under + timed(rec.Stop)
}

// Share returns the added time as a share of the time without a recording.
func (c Cost) Share() float64 { return c.Ratio - 1 }

// String returns the cost as a sentence.
func (c Cost) String() string {
	return fmt.Sprintf("%d steps take %v without a recording and %v with one, %+.1f %% (medians of %d runs of each kind, side by side; half of the pairs lie between %+.1f and %+.1f %%)",
		c.Steps, display.Duration(c.Without), display.Duration(c.With), 100*c.Share(), pairs, 100*(c.Low-1), 100*(c.High-1))
}

//go:build unix

package trace_test

import (
	"math"
	"slices"
	"syscall"
	"testing"
	"time"

	"halfnote/amp/trace"
	"halfnote/display"
)

// processTime returns the processor time of all threads of this process.
func processTime() time.Duration {
	var u syscall.Rusage
	if syscall.Getrusage(syscall.RUSAGE_SELF, &u) != nil {
		return 0
	}
	return time.Duration(u.Utime.Nano() + u.Stime.Nano())
}

// discard is an output area that shows nothing.
type discard struct{}

func (discard) Display(display.Bundle) {}
func (discard) Update(display.Bundle)  {}
func (discard) Clear(bool)             {}

// BenchmarkDashboard trains for half a second without a recording, with one and with one that shows its dashboard, one after
// the other, and reports the processor time that both add to the steps, and the dashboard to the recording: the median of
// the ratios within a turn, and the 95 % confidence interval of the median. Each iteration is a turn; "-benchtime 24x" takes
// half a minute. GOMAXPROCS=1 excludes the time in which workers wait for each other.
func BenchmarkDashboard(b *testing.B) {
	for name, workload := range workloads() {
		b.Run(name, func(b *testing.B) {
			net, step := workload()
			screen := display.NewScreen(func() display.Sink { return discard{} })
			arms := [][]trace.Option{nil, {trace.Models(net)}, {trace.Models(net), trace.LiveOn(screen)}}
			block := func(steps int, options []trace.Option) time.Duration {
				if options != nil {
					defer trace.Start(options...).Stop()
				}
				start := processTime()
				for range steps {
					step()
				}
				return processTime() - start
			}
			block(20, nil) // warm up
			steps := int(100 * 500 * time.Millisecond / block(100, nil))
			var ratios [3][]float64
			for turn := 0; b.Loop(); turn++ {
				var took [3]time.Duration
				for i := range arms {
					arm := (i + turn) % len(arms)
					took[arm] = block(steps, arms[arm])
				}
				for i, pair := range [][2]int{{1, 0}, {2, 0}, {2, 1}} {
					ratios[i] = append(ratios[i], 100*(float64(took[pair[0]])/float64(took[pair[1]])-1))
				}
			}
			for i, what := range []string{"recording", "dashboard", "of-them-drawing"} {
				list := ratios[i]
				slices.Sort(list)
				n := len(list)
				edge := max(0, int(float64(n)/2-0.98*math.Sqrt(float64(n)))) // order statistics
				b.Logf("%s: %+.2f %% (%+.2f to %+.2f), %d turns of %d steps: %.2f", what, list[n/2], list[edge], list[n-1-edge], n, steps, list)
				b.ReportMetric(list[n/2], "%"+what)
			}
			b.ReportMetric(0, "ns/op")
		})
	}
}

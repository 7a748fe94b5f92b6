package experiment

import (
	"time"

	"halfnote/amp"
	"halfnote/amp/roofline"
	"halfnote/tensor"
)

// MeasureCPU returns the rates of this machine's CPU as a device of package roofline, measured in a
// fraction of a second: products in float32, bfloat16 and float16, element-wise arithmetic, memory bandwidth, and
// the time of an operation on one element. [tensor.CPUProducts] says which instructions products use.
// Predictions for it are for example
//
//	w, _ := rec.Workload()
//	w.PredictOn([]roofline.GPU{experiment.MeasureCPU()})
//
// Rates depend on other programs that run at the same time, and on the number of processors that this
// process may use. Random numbers are not drawn.
func MeasureCPU() roofline.GPU {
	g := roofline.GPU{Name: "this CPU", Products: map[string]float64{}, Measured: true, Source: "measured on this machine; " + tensor.CPUProducts()}
	tensor.OnDevice(tensor.CPU, func() {
		amp.Autocast(amp.Off, func() {
			tensor.NoGrad(func() {
				for _, d := range []tensor.DType{tensor.Float32, tensor.BFloat16, tensor.Float16} {
					g.Products[d.String()] = productRate(d)
				}
				g.Vector = float64(cached) / inPlaceTime(cached).Seconds()
				const sides = 3 // two reads and a write of 4 bytes an element
				g.Bandwidth = sides * 4 * float64(uncached) / inPlaceTime(uncached).Seconds()
				g.Launch = inPlaceTime(1)
			})
		})
	})
	return g
}

// Numbers of elements that fit into the second cache, and that fit into none.
const (
	cached   = 1 << 15
	uncached = 1 << 23
)

// productRate returns the floating-point operations per second of square matrix products of 512 or,
// where those take less than 5 ms, 1024.
func productRate(d tensor.DType) float64 {
	for n := 512; ; n *= 2 {
		x := tensor.Ones(n, n).To(d)
		t := shortest(func() { x.MatMul(x) })
		if n == 1024 || t > 5*time.Millisecond {
			return 2 * float64(n) * float64(n) * float64(n) / t.Seconds()
		}
	}
}

// inPlaceTime returns the time of an addition in place to n numbers.
func inPlaceTime(n int) time.Duration {
	x, y := tensor.Ones(n), tensor.Ones(n)
	return shortest(func() { x.AddAssign(y) })
}

// shortest returns the shortest time of f: of several calls together where one is too short for the
// clock.
func shortest(f func()) time.Duration {
	const spent, long = 30 * time.Millisecond, 20 * time.Microsecond
	best, calls := time.Duration(0), 1
	for start, rounds := time.Now(), 0; rounds < 3 || time.Since(start) < spent; rounds++ {
		from := time.Now()
		for range calls {
			f()
		}
		took := time.Since(from)
		if took < long && calls < 1<<20 {
			calls *= 4
			rounds = 0
			continue
		}
		if t := max(took/time.Duration(calls), 1); best == 0 || t < best {
			best = t
		}
	}
	return best
}

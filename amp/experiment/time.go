package experiment

import (
	"fmt"
	"runtime"
	"slices"
	"time"

	"halfnote/cuda"
	"halfnote/tensor"
)

// TimeReport is the result of [Time].
type TimeReport struct {
	Report
	Label        string
	Seconds      []float64 // time of each repetition, in order
	Median       float64
	Lowest       float64
	Highest      float64
	Peak         int // largest number of bytes of tensors in the last repetition, less those before it
	BytesByDType map[string]int
	FLOPsByDType map[string]float64
	Operations   int
	Device       tensor.Device // device of the last result
}

// Time runs fn once to warm up, once to count its operations, and then k times, at least once, to
// measure. Quote the median, which excludes the first run with cold caches. Times on a
// CPU do not predict float16 speed on a GPU.
func Time(label string, k int, fn func()) *TimeReport {
	needed("Time", "fn", fn != nil, "a function to time")
	r := &TimeReport{Label: label, Device: tensor.CPU, BytesByDType: map[string]int{}, FLOPsByDType: map[string]float64{}}
	fn()
	stop := tensor.Observe(func(e tensor.Event) {
		if !e.View {
			r.Operations++
			r.Device = e.Out.Device
			r.BytesByDType[e.Out.DType.String()] += e.Result.Bytes()
			r.FLOPsByDType[e.Computed.String()] += e.FLOPs
		}
	})
	func() {
		defer stop()
		fn()
	}()
	d := r.Device
	for range max(k, 1) {
		runtime.GC()
		before := d.Memory().Live
		d.ResetPeakMemory()
		d.Synchronize()
		start := time.Now()
		fn()
		d.Synchronize()
		r.Seconds = append(r.Seconds, time.Since(start).Seconds())
		r.Peak = max(d.Memory().Peak-before, 0)
	}
	sorted := slices.Sorted(slices.Values(r.Seconds))
	r.Median, r.Lowest, r.Highest = sorted[len(sorted)/2], sorted[0], sorted[len(sorted)-1]
	r.Header = []string{label, "value"}
	r.row("median of "+fmt.Sprint(len(sorted)), fmt.Sprintf("%.6f s", r.Median))
	r.row("lowest to highest", fmt.Sprintf("%.6f to %.6f s", r.Lowest, r.Highest))
	r.row("peak of tensors", fmt.Sprintf("%d bytes", r.Peak))
	r.row("operations", r.Operations)
	var dtypes []string
	for d := range r.FLOPsByDType {
		dtypes = append(dtypes, d)
	}
	slices.Sort(dtypes)
	for _, d := range dtypes {
		r.row("computed in "+d, fmt.Sprintf("%.4g FLOP, %d bytes of results", r.FLOPsByDType[d], r.BytesByDType[d]))
	}
	r.Says = fmt.Sprintf("%s: %.3f s, the median of %d runs after one to warm up, measured on ", label, r.Median, len(sorted))
	if r.Device == tensor.CPU {
		r.Says += fmt.Sprintf("the CPU (%s/%s, %d threads); no GPU was timed.", runtime.GOOS, runtime.GOARCH, runtime.GOMAXPROCS(0))
	} else {
		r.Says += fmt.Sprintf("%s (%s), until it had done all.", cuda.DeviceName(0), r.Device)
	}
	return r
}

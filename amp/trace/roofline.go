package trace

import (
	"fmt"
	"slices"
	"time"

	"halfnote/amp/roofline"
	"halfnote/tensor"
)

// Roofline predicts the minimum time of the recorded step on GPUs such as "T4" and "A100" (by
// default all in [roofline.GPUs]), under autocast as recorded and in float32, next to the
// measured time of its operations. It uses the last complete step.
func (r *Recorder) Roofline(names ...string) roofline.Report {
	w, step := r.Workload()
	report := w.Predict(names...)
	report.Measured = duration(step)
	return report
}

// RooflineBeside is Roofline with the measured time of full's last float32 step, so that
// predicted and measured speed-ups can be compared.
func (r *Recorder) RooflineBeside(full *Recorder, names ...string) roofline.Report {
	report := r.Roofline(names...)
	_, step := full.Workload()
	report.Against = duration(step)
	return report
}

// duration returns the time of operations, including the casts for them.
func duration(ops []OpRecord) (d time.Duration) {
	for _, op := range ops {
		d += op.Duration
		for _, c := range op.Cast {
			if !c.Promotion {
				d += c.Duration
			}
		}
	}
	return d
}

// Workload returns the work of the last complete step, for [roofline.Workload.PredictOn], and the
// operations of that step. For float32 it has the same operations without casts, with float32 in
// place of 16-bit dtypes.
func (r *Recorder) Workload() (roofline.Workload, []OpRecord) {
	ops := r.Ops()
	last := 0
	for _, op := range ops {
		last = max(last, op.Step)
	}
	complete := func(step int) []OpRecord {
		return slices.DeleteFunc(slices.Clone(ops), func(op OpRecord) bool { return op.Step != step })
	}
	step := complete(last)
	if before := complete(max(last-1, 0)); len(before) > len(step) {
		step, last = before, last-1
	}
	w := roofline.Workload{Name: fmt.Sprintf("step %d", last)}
	for _, op := range step {
		for _, c := range op.Cast {
			if b := c.bytes(); b > 0 {
				w.Mixed = append(w.Mixed, roofline.OpCost{Name: "cast", DType: c.To.String(), FLOPs: float64(c.Elements), Bytes: float64(b)})
			}
		}
		o := roofline.OpCost{Name: op.Name, DType: op.Computed.String(), FLOPs: op.FLOPs, Bytes: float64(op.Bytes), Product: op.product(), Aligned: op.aligned()}
		if op.Name == "cast" {
			o.DType = op.Out.String()
		}
		w.Mixed = append(w.Mixed, o)
		if op.Name == "cast" && op.In[0].IsFloat() && op.Out.IsFloat() {
			continue
		}
		o.DType, o.Bytes = "float32", float64(op.wideBytes())
		w.Full = append(w.Full, o)
	}
	return w, step
}

// elements returns the number of elements of a shape.
func elements(shape []int) int {
	n := 1
	for _, s := range shape {
		n *= s
	}
	return n
}

// product reports whether the operation is a matrix product or convolution, whose work exceeds one
// FLOP for each element.
func (op OpRecord) product() bool {
	most := elements(op.Shape)
	for _, s := range op.InShapes {
		most = max(most, elements(s))
	}
	return op.FLOPs > float64(most)
}

// aligned reports whether the sizes of a product are multiples of 8: the last two of matrices, and
// the channels of a convolution.
func (op OpRecord) aligned() bool {
	if len(op.InShapes) < 2 {
		return false
	}
	for i, s := range append(slices.Clone(op.InShapes[:2]), op.Shape) {
		n := len(s)
		switch {
		case n < 2:
			return false
		case n > 3 && i == 1 && op.conv(): // weight: (out, in, …)
			s = s[:2]
		case n > 3 && op.conv(): // (batch, channels, …)
			s = s[1:2]
		default:
			s = s[n-2:]
		}
		if slices.ContainsFunc(s, func(n int) bool { return n%8 != 0 }) {
			return false
		}
	}
	return true
}

func (op OpRecord) conv() bool { return len(op.Name) >= 4 && op.Name[:4] == "conv" }

// wideBytes returns the bytes that the operation would read and write in float32.
func (op OpRecord) wideBytes() int {
	bytes := op.Bytes
	if op.InPlace {
		return bytes
	}
	bytes = 0
	add := func(shape []int, d tensor.DType) {
		size := d.Size()
		if d.IsFloat() {
			size = max(size, 4)
		}
		bytes += size * elements(shape)
	}
	for i, s := range op.InShapes {
		add(s, op.In[i])
	}
	add(op.Shape, op.Out)
	return bytes
}

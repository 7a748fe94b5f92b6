package roofline

import (
	"fmt"
	"time"

	"halfnote/display"
)

// OpCost is the work of an operation.
type OpCost struct {
	Name    string
	DType   string  // dtype of the computation, for example "float16"
	FLOPs   float64 // total of floating-point operations
	Bytes   float64 // total of bytes read and written
	Times   int     // number of kernels, at least 1
	Product bool    // a matrix product or convolution, which tensor cores can do
	Aligned bool    // the sizes of the product are multiples of 8
}

// The bounds of an operation.
const (
	Compute = "compute"
	Memory  = "memory"
	Launch  = "launch"
)

// Time returns the minimum time of op on g and its bound. The time of a kernel is the longest of
// the times of its arithmetic, its memory traffic and its launch (S. Williams and others,
// "Roofline: an insightful visual performance model", 2009). tf32 lets products of float32 use
// tensor cores.
//
// A product whose sizes are not multiples of 8 also uses tensor cores, as in cuBLAS since
// version 11: "Always but most efficient with multiples of 8; on A100, multiples of 64"
// (NVIDIA, "Matrix Multiplication Background User's Guide", table 1). The guide gives no number for
// the loss of efficiency, so Time assumes none. Before version 11 such a product did not use tensor
// cores: see [GPU.AlignedOnly].
func (g GPU) Time(op OpCost, tf32 bool) (t time.Duration, bound string) {
	times := float64(max(op.Times, 1))
	bound, most := Launch, g.Launch.Seconds()*times
	if s := op.Bytes / g.Bandwidth; s > most {
		bound, most = Memory, s
	}
	if s := op.FLOPs / g.rate(op, tf32); s > most {
		bound, most = Compute, s
	}
	return time.Duration(most * 1e9), bound
}

// rate returns the operations per second of g for op's kind.
func (g GPU) rate(op OpCost, tf32 bool) float64 {
	d := op.DType
	switch {
	case !op.Product:
		return g.Vector
	case d == "float32" && tf32 && g.Products["tf32"] > 0:
		d = "tf32"
	case g.AlignedOnly && d != "float32" && !op.Aligned:
		d = "float32"
	}
	if p := g.Products[d]; p > 0 {
		return p
	}
	return g.Products["float32"]
}

// Prediction is the predicted minimum time of a step.
type Prediction struct {
	Total   time.Duration
	Bound   map[string]time.Duration // time by the bound of the operations
	Kernels int
}

// Predict returns the sum of the times of ops on g.
func (g GPU) Predict(ops []OpCost, tf32 bool) Prediction {
	p := Prediction{Bound: map[string]time.Duration{}}
	for _, op := range ops {
		t, bound := g.Time(op, tf32)
		p.Total += t
		p.Bound[bound] += t
		p.Kernels += max(op.Times, 1)
	}
	return p
}

// String returns the prediction as a sentence.
func (p Prediction) String() string {
	return fmt.Sprintf("predicted: %s in %d kernels, %s", display.Duration(p.Total), p.Kernels, p.bounds())
}

// bounds returns the shares of the bounds of a step: "61 % compute, 30 % memory, 9 % launch".
func (p Prediction) bounds() string {
	text := ""
	for _, b := range []string{Compute, Memory, Launch} {
		if text != "" {
			text += ", "
		}
		text += fmt.Sprintf("%.0f %% %s", 100*float64(p.Bound[b])/float64(max(p.Total, 1)), b)
	}
	return text
}

// Workload is a step in float32 and under autocast.
type Workload struct {
	Name        string
	Full, Mixed []OpCost
}

// Comparison is a workload on a device.
type Comparison struct {
	GPU   GPU
	Full  Prediction // in float32, without TF32
	TF32  Prediction // in float32 with products in TF32; equals Full without TF32
	Mixed Prediction
}

// Speedup returns the predicted speed-up of autocast over float32.
func (c Comparison) Speedup() float64 { return float64(c.Full.Total) / float64(max(c.Mixed.Total, 1)) }

// OverTF32 returns the predicted speed-up of autocast over float32 with TF32.
func (c Comparison) OverTF32() float64 {
	return float64(c.TF32.Total) / float64(max(c.Mixed.Total, 1))
}

// On predicts w on a device.
func (w Workload) On(g GPU) Comparison {
	return Comparison{g, g.Predict(w.Full, false), g.Predict(w.Full, true), g.Predict(w.Mixed, false)}
}

package experiment

import (
	"fmt"
	"math"
	"slices"

	"halfnote/amp"
	"halfnote/display/chart"
	"halfnote/tensor"
	"halfnote/tensor/nn"
	"halfnote/tensor/optim"
)

func parameters(net any) []*tensor.Tensor {
	if net == nil {
		return nil
	}
	return nn.Parameters(net)
}

// DefaultScaleReport is the result of [DefaultScale].
type DefaultScaleReport struct {
	Report
	Scalar float64      // scaled float16 loss of 1e-3 without dimensions
	DType  tensor.DType // dtype of that scaled loss
	Vector float64      // scaled loss of 1e-3 with a dimension
	Zero   float64      // scaled loss of 0 with a dimension
}

// DefaultScale scales float16 losses by the default scale of 65536, which is above
// float16's largest number: one without dimensions is promoted to float32 and survives,
// one with a dimension is multiplied in float16 and becomes infinite, and 0 becomes NaN.
func DefaultScale() *DefaultScaleReport {
	s := amp.NewGradScaler()
	scalar := s.Scale(tensor.Scalar(1e-3).Half())
	vector := s.Scale(tensor.New([]float64{1e-3, 0}).Half())
	r := &DefaultScaleReport{Scalar: scalar.Item(), DType: scalar.DType(), Vector: vector.At(0), Zero: vector.At(1)}
	r.Header = []string{"float16 loss", "times 65536", "dtype"}
	r.row("1e-3 without dimensions", r.Scalar, r.DType)
	r.row("1e-3 in a vector", r.Vector, vector.DType())
	r.row("0 in a vector", r.Zero, vector.DType())
	r.Says = "The default scale, 65536, is beyond float16's 65504: it works because a 0-dimensional loss is promoted to float32."
	return r
}

// ForcedOverflowsReport is the result of [ForcedOverflows].
type ForcedOverflowsReport struct {
	Report
	Scales   []float64 // scale after each step
	Trackers []int
	Skipped  []int
}

// ForcedOverflows takes steps with a scaler that starts at 65536 and grows after interval clean steps.
// It makes a gradient infinite in the steps listed in at: these are skipped, and the scale halves.
func ForcedOverflows(steps, interval int, at ...int) *ForcedOverflowsReport {
	s := amp.NewGradScaler(amp.GrowthInterval(interval))
	w := tensor.Ones(1).RequireGrad()
	opt := optim.NewSGD([]*tensor.Tensor{w}, 0.1)
	r := &ForcedOverflowsReport{}
	r.Header = []string{"step", "scale", "then", "clean steps", ""}
	var list []chart.ScaleStep
	for i := range steps {
		s.Scale(w.Sum()).Backward()
		if slices.Contains(at, i) {
			w.SetGrad(tensor.Full(math.Inf(1), 1))
		}
		result := s.Step(opt)
		s.Update()
		opt.ZeroGrad()
		note := ""
		if result.Skipped {
			note = "skipped"
			r.Skipped = append(r.Skipped, i)
		}
		r.Scales, r.Trackers = append(r.Scales, s.CurrentScale()), append(r.Trackers, s.GrowthTracker())
		r.row(i, result.Scale, s.CurrentScale(), s.GrowthTracker(), note)
		list = append(list, chart.ScaleStep{Scale: result.Scale, After: s.CurrentScale(), Skipped: result.Skipped, Why: result.Param})
	}
	r.Figure = chart.LossScale(list)
	r.Says = fmt.Sprintf("Of %[2]d steps skipped: %[1]d; the scale went from 65536 to %[3]g.", len(r.Skipped), steps, s.CurrentScale())
	return r
}

// ScaleCollapseReport is the result of [ScaleCollapse].
type ScaleCollapseReport struct {
	Report
	Halvings  int     // number of halvings until the scale is 0
	Smallest  float64 // last scale above 0
	Inverse   float64 // gradient of 1 after Unscale at scale 2^-130
	Unnoticed bool    // the step with that gradient was not skipped
	Weight    float64 // weight after a step at scale 0
}

// ScaleCollapse makes every step overflow until the scale is 0. No error is raised and the
// weights do not change, until the first finite gradient is divided by 0 and the weight becomes
// NaN. The check examines gradients before the division (pytorch issue 99640).
func ScaleCollapse() *ScaleCollapseReport {
	s := amp.NewGradScaler()
	w := tensor.Ones(1).RequireGrad()
	opt := optim.NewSGD([]*tensor.Tensor{w}, 0.1)
	r := &ScaleCollapseReport{}
	var scales []float64
	for s.CurrentScale() > 0 {
		r.Smallest = s.CurrentScale()
		scales = append(scales, math.Log2(r.Smallest))
		s.Scale(w.Sum())
		w.SetGrad(tensor.Full(math.Inf(1), 1))
		s.Step(opt)
		s.Update()
		r.Halvings++
	}
	tiny := amp.NewGradScaler(amp.InitScale(0x1p-130))
	tiny.Scale(w.Sum())
	w.SetGrad(tensor.Ones(1))
	r.Unnoticed = !tiny.Step(optim.NewSGD([]*tensor.Tensor{w}, 0)).Skipped
	r.Inverse = w.Grad().Item()
	w.SetGrad(tensor.Zeros(1)) // the gradient of a loss times 0
	s.Step(opt)
	r.Weight = w.Item()
	r.Header = []string{"", "value"}
	r.row("overflows in a row until the scale is 0", r.Halvings)
	r.row("the last scale above 0", r.Smallest)
	r.row("a gradient of 1, unscaled at 2^-130", r.Inverse)
	r.row("the weight after one step at scale 0", r.Weight)
	r.Figure = chart.Lines("log2 of the loss scale", []chart.Series{{Name: "scale", Values: scales}}).
		Title(fmt.Sprintf("After %d overflows in a row the loss scale is 0, and the next step makes the weight %g", r.Halvings, r.Weight))
	r.Says = fmt.Sprintf("After %d overflows in a row the scale is 0, and the next step makes the weight %g.", r.Halvings, r.Weight)
	return r
}

package experiment

import (
	"fmt"

	"halfnote/amp"
	"halfnote/display/chart"
	"halfnote/tensor"
	"halfnote/tensor/nn"
	"halfnote/tensor/nn/models"
)

// WalkStep is one operation of a [DTypeWalk].
type WalkStep struct {
	Op       string
	List     string       // list of autocast, for example "lower_precision_fp"
	Computed tensor.DType // dtype of the operands after casts
	Out      tensor.DType
	Casts    int
}

// DTypeWalkReport is the result of [DTypeWalk].
type DTypeWalkReport struct {
	Report
	Forward     []WalkStep
	Activations tensor.DType // dtype of the gradient of the hidden layer
	Weights     tensor.DType // dtype of the gradients of parameters
}

// DTypeWalk runs forward, loss and backward of a network of two layers under p and returns the dtype
// of every operation. Under amp.Float16 linear and relu are float16 and the loss is float32; gradients
// of activations have the dtype of the forward operation, those of parameters are float32.
func DTypeWalk(p amp.Policy) *DTypeWalkReport {
	g := tensor.NewGenerator(1)
	net := models.NewMLP([]int{16, 16, 8}, nn.InitFrom(g))
	x, y := g.Randn(8, 16), g.Randn(8, 8)
	r := &DTypeWalkReport{}
	r.Header = []string{"operation", "list", "computed in", "result", "casts"}
	var ops []chart.OpDType
	stop := tensor.Observe(func(e tensor.Event) {
		if e.Backward || e.View || e.InCast {
			return
		}
		w := WalkStep{Op: e.Op.Name, List: p.Category(e.Op).String(), Computed: e.Computed, Out: e.Out.DType, Casts: len(e.Casts)}
		r.Forward = append(r.Forward, w)
		r.row(w.Op, w.List, w.Computed, w.Out, w.Casts)
		ops = append(ops, chart.OpDType{Name: w.Op, Phase: "forward", DType: w.Computed.String(), Casts: w.Casts, Why: w.List})
	})
	var loss, hidden *tensor.Tensor
	func() {
		defer stop()
		amp.Autocast(p, func() {
			hidden = net.Modules[1].Forward(net.Modules[0].Forward(x)).RetainGrad()
			loss = nn.MSELoss(net.Modules[2].Forward(hidden), y)
		})
	}()
	loss.Backward()
	r.Activations, r.Weights = hidden.Grad().DType(), nn.Parameters(net)[0].Grad().DType()
	r.row("gradient of the hidden layer", "", r.Activations, r.Activations, "")
	r.row("gradient of a weight", "", r.Activations, r.Weights, "")
	r.Figure = chart.DTypes(ops)
	r.Says = fmt.Sprintf("Under %v the loss is %v; gradients of activations are %v, those of weights %v.", p, loss.DType(), r.Activations, r.Weights)
	return r
}

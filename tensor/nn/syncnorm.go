package nn

import (
	"reflect"
	"strings"

	"halfnote/tensor"
)

// synchronize is Synchronize of plumbing.Norms.
func synchronize(model any, total func(x *tensor.Tensor) *tensor.Tensor) {
	w := walker{seen: map[any]bool{}}
	w.visit = func(v reflect.Value) {
		if v.Type() == reflect.TypeFor[ChannelNorm]() && v.CanAddr() {
			if n := (*ChannelNorm)(v.Addr().UnsafePointer()); strings.HasPrefix(n.name, "Batch") {
				n.total = total
			}
		}
	}
	w.walk(reflect.ValueOf(model), "")
}

// acrossProcesses is BatchNorm by the statistics of x in all processes. The sums are those of torch's SyncBatchNorm: counts, means and
// squares in float32, the variance from deviations from the common mean.
func (n *ChannelNorm) acrossProcesses(x *tensor.Tensor, o tensor.BatchNormOptions) *tensor.Tensor {
	dtype := x.DType()
	x = x.Float()
	others := append([]int{0}, upTo(2, x.Dim())...)
	per := make([]int, x.Dim())
	for i := range per {
		per[i] = 1
	}
	per[1] = n.channels
	count := tensor.Full(float64(x.Numel() / n.channels)).Reshape(1)
	first := n.total(tensor.Cat(0, x.Sum(others...), count))
	all := first.Narrow(0, n.channels, 1).Item()
	mean := first.Narrow(0, 0, n.channels).DivScalar(all)
	centred := x.Sub(mean.Reshape(per...))
	variance := n.total(centred.Mul(centred).Sum(others...)).DivScalar(all)
	if n.RunningMean != nil {
		tensor.NoGrad(func() {
			n.RunningMean.Assign(n.RunningMean.MulScalar(1-o.Momentum).AddScaled(mean.Detach(), o.Momentum))
			n.RunningVar.Assign(n.RunningVar.MulScalar(1-o.Momentum).AddScaled(variance.Detach().MulScalar(all/(all-1)), o.Momentum))
		})
	}
	y := centred.Div(variance.AddScalar(o.Eps).Sqrt().Reshape(per...))
	if n.Weight != nil {
		y = y.Mul(n.Weight.Float().Reshape(per...))
	}
	if n.Bias != nil {
		y = y.Add(n.Bias.Float().Reshape(per...))
	}
	return y.To(dtype)
}

func upTo(from, to int) (list []int) {
	for i := from; i < to; i++ {
		list = append(list, i)
	}
	return list
}

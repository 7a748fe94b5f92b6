package nn

import (
	"reflect"
	"strings"

	"halfnote/tensor"
)

// UpdateBN computes the running statistics of the batch-norm layers of model afresh: it
// resets them, calls pass, in which model.Forward is to see each batch once, and averages
// the statistics of all batches alike. While pass runs model is in training; then every
// layer has the mode that it had. Operations are not recorded in pass. Weights averaged over steps need it before use, since
// they never were the weights of a batch. It does nothing, and does not call pass, if
// model has no batch-norm layer with running statistics. It is
// torch.optim.swa_utils.update_bn.
func UpdateBN(model any, pass func()) {
	norms, modes := batchNorms(model)
	if len(norms) == 0 {
		return
	}
	for m := range modes {
		defer func(inUse bool) { m.inUse = inUse }(m.inUse)
	}
	for _, n := range norms {
		defer func(cumulative bool) { n.c.cumulative = cumulative }(n.c.cumulative)
		n.c.cumulative = true
		tensor.NoGrad(func() {
			n.RunningMean.Fill(0)
			n.RunningVar.Fill(1)
			n.NumBatchesTracked.Fill(0)
		})
	}
	Train(model)
	tensor.NoGrad(pass)
}

// batchNorms returns the batch-norm layers of model that keep running statistics, and the
// modes of all its layers.
func batchNorms(model any) (norms []*ChannelNorm, modes map[*Mode]bool) {
	modes = map[*Mode]bool{}
	w := walker{seen: map[any]bool{}}
	w.visit = func(v reflect.Value) {
		if !v.CanAddr() {
			return
		}
		// v may be an unexported field, from which Interface would panic.
		at := v.Addr().UnsafePointer()
		switch v.Type() {
		case modeType:
			modes[(*Mode)(at)] = true
		case channelNormType:
			if n := (*ChannelNorm)(at); strings.HasPrefix(n.name, "Batch") && n.RunningMean != nil {
				norms = append(norms, n)
			}
		}
	}
	w.walk(reflect.ValueOf(model), "")
	return norms, modes
}

var channelNormType = reflect.TypeFor[ChannelNorm]()

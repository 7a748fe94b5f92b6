package nn

import (
	"reflect"
	"strings"

	"halfnote/tensor"
)

// UpdateBN recomputes the running statistics of the batch-norm layers of model: it resets
// them, calls pass, which calls model.Forward once for each batch, and averages the
// statistics of all batches with equal weight. The model is in training during pass, without
// recording operations; afterwards every layer's mode is restored. Weights averaged over
// steps need it before use, since no batch has run with them. If model has no batch-norm
// layer with running statistics, UpdateBN does nothing and does not call pass. It is
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

// batchNorms returns the batch-norm layers of model that keep running statistics and the
// modes of all its layers.
func batchNorms(model any) (norms []*ChannelNorm, modes map[*TrainingMode]bool) {
	modes = map[*TrainingMode]bool{}
	w := walker{seen: map[any]bool{}}
	w.visit = func(v reflect.Value) {
		if !v.CanAddr() {
			return
		}
		// v may be an unexported field, from which Interface would panic.
		at := v.Addr().UnsafePointer()
		switch v.Type() {
		case modeType:
			modes[(*TrainingMode)(at)] = true
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

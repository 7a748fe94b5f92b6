package dist

import (
	"halfnote/tensor"
)

// ConvertSyncBatchNorm makes the BatchNorm layers of model normalise by the mean and variance of the batches of all ranks.
// Batches may differ in size. The statistics are float32 and cost one reduction forward and one backward for each
// layer. All ranks must run the layers in the same order. It is torch.nn.SyncBatchNorm.convert_sync_batchnorm.
func ConvertSyncBatchNorm(model any) {
	modules.SynchronizeNorms(model, member("ConvertSyncBatchNorm").total)
}

// total returns the sum of the ranks' vectors, differentiably: its derivative is the sum of the ranks' gradients.
func (g *group) total(x *tensor.Tensor) *tensor.Tensor {
	sum := func(x *tensor.Tensor) *tensor.Tensor {
		y := x.Detach().Clone()
		g.AllReduce(y, Sum).Wait()
		return y
	}
	return tensor.Function{
		Name:     "all_reduce",
		Forward:  func(_ *tensor.Context, in []*tensor.Tensor) *tensor.Tensor { return sum(in[0]) },
		Backward: func(_ *tensor.Context, dy *tensor.Tensor) []*tensor.Tensor { return []*tensor.Tensor{sum(dy)} },
	}.Apply(x)
}

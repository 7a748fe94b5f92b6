package dist

import (
	"halfnote/amp"
	"halfnote/tensor"
)

// NewShardedGradScaler returns a GradScaler whose ranks agree: if the gradients of any rank hold inf or NaN, all skip the step and
// lower the scale together. Use it when ranks have different gradients: with FullyShard, with its own parameters on each rank, or within
// Join. After DistributedDataParallel all ranks have the same gradients, and amp.NewGradScaler suffices. It takes the options of
// amp.NewGradScaler. All ranks call Unscale, Step and Update in the same order. It is
// torch.distributed.fsdp.sharded_grad_scaler.ShardedGradScaler.
func NewShardedGradScaler(options ...amp.ScalerOption) *amp.GradScaler {
	return member("NewShardedGradScaler").NewScaler(options...)
}

func (g *group) NewScaler(options ...amp.ScalerOption) *amp.GradScaler {
	return amp.NewGradScaler(append(options, amp.SyncFoundInf(func(found bool) bool {
		x := tensor.Zeros(1)
		if found {
			x = tensor.Ones(1)
		}
		g.AllReduce(x, Max).Wait()
		return x.Item() != 0
	}))...)
}

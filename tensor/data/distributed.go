package data

import (
	"fmt"

	"halfnote/internal/plumbing"
	"halfnote/tensor"
)

var calls = tensor.Internal(plumbing.Token{}).Calls

// DistributedSampler selects the samples of one of several processes: every n-th of a common order. It is
// torch.utils.data.DistributedSampler, with the same orders.
type DistributedSampler struct {
	n, ranks, rank    int
	shuffle, dropLast bool
	seed, epoch       int
}

// DistributedOption configures NewDistributedSampler.
type DistributedOption func(*DistributedSampler)

// InOrder keeps the samples in order; by default they are shuffled.
func InOrder() DistributedOption { return func(s *DistributedSampler) { s.shuffle = false } }

// SamplerSeed sets the seed of the order, the same on all ranks; 0 by default.
func SamplerSeed(seed int) DistributedOption { return func(s *DistributedSampler) { s.seed = seed } }

// DropTail leaves out samples at the end, so that all ranks have the same number; by default samples from the start are repeated.
func DropTail() DistributedOption { return func(s *DistributedSampler) { s.dropLast = true } }

// NewDistributedSampler returns the sampler of process rank, from 0 to ranks-1, over n samples:
// data.NewDistributedSampler(set.Len(), dist.WorldSize(), dist.Rank()). It panics if a number is out of range. Call
// [DistributedSampler.SetEpoch] before each epoch, or every epoch has the same order.
func NewDistributedSampler(n, ranks, rank int, options ...DistributedOption) *DistributedSampler {
	if n < 1 || ranks < 1 || rank < 0 || rank >= ranks {
		panic(&tensor.Error{Op: "distributed_sampler", Why: fmt.Sprintf("%d samples, rank %d of %d; want at least 1 sample and a rank from 0 to one less than the number of ranks", n, rank, ranks)})
	}
	s := &DistributedSampler{n: n, ranks: ranks, rank: rank, shuffle: true}
	for i, o := range options {
		if o == nil {
			panic(&tensor.Error{Op: "distributed_sampler", Why: fmt.Sprintf("option %d is nil; want a data.DistributedOption", i+1)})
		}
		o(s)
	}
	return s
}

// SetEpoch sets the number of the epoch, from which the order depends. It is torch's set_epoch.
func (s *DistributedSampler) SetEpoch(epoch int) { s.epoch = epoch }

// Len returns the number of samples of an epoch on this rank, the same on all ranks.
func (s *DistributedSampler) Len() int {
	if s.dropLast {
		return s.n / s.ranks
	}
	return (s.n + s.ranks - 1) / s.ranks
}

// Indices returns the samples of the epoch that SetEpoch has chosen.
func (s *DistributedSampler) Indices() []int {
	if s.shuffle {
		calls.Note(plumbing.Call[*tensor.Tensor]{Name: "distributed_sampler", By: s, Number: float64(s.epoch)})
	}
	order := sequential(s.n).Indices()
	if s.shuffle {
		order = tensor.NewGenerator(int64(s.seed + s.epoch)).Perm(s.n)
	}
	list := make([]int, s.Len())
	for i := range list {
		list[i] = order[(i*s.ranks+s.rank)%s.n]
	}
	return list
}

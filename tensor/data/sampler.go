package data

import (
	"fmt"
	"math"
	"sort"

	"halfnote/tensor"
)

// Sampler selects the samples of an epoch and their order. It is torch.utils.data.Sampler.
type Sampler interface {
	// Len returns the number of samples of an epoch.
	Len() int
	// Indices returns the samples of the next epoch.
	Indices() []int
}

// BatchSampler selects the samples of each batch.
type BatchSampler interface {
	// Len returns the number of batches of an epoch.
	Len() int
	// Batches returns the indices of each batch of the next epoch.
	Batches() [][]int
}

// sequential is torch.utils.data.SequentialSampler.
type sequential int

// NewSequentialSampler returns the indices 0 to n-1 in order. It is
// torch.utils.data.SequentialSampler.
func NewSequentialSampler(n int) Sampler { return sequential(n) }

func (s sequential) Len() int { return int(s) }

func (s sequential) Indices() []int {
	list := make([]int, s)
	for i := range list {
		list[i] = i
	}
	return list
}

// random draws k of n indices.
type random struct {
	n, k        int
	replacement bool
	g           *tensor.Generator
}

// NewRandomSampler returns the indices 0 to n-1 in a random order, different for each epoch,
// from g. A nil g means a new generator for each epoch, seeded by the one that
// tensor.ManualSeed seeds. It is torch.utils.data.RandomSampler, with the same orders.
func NewRandomSampler(n int, g *tensor.Generator) Sampler { return &random{n: n, k: n, g: g} }

// NewReplacementSampler draws numSamples of the indices 0 to n-1 with replacement. It panics if
// numSamples or n is below 1. It is torch.utils.data.RandomSampler with replacement.
func NewReplacementSampler(n, numSamples int, g *tensor.Generator) Sampler {
	if n < 1 || numSamples < 1 {
		panic(&tensor.Error{Op: "sampler", Why: fmt.Sprintf("%d of %d samples; want at least 1", numSamples, n)})
	}
	return &random{n, numSamples, true, g}
}

func (s *random) Len() int { return s.k }

func (s *random) Indices() []int {
	g := s.g
	if g == nil {
		g = tensor.NewGenerator(tensor.DefaultGenerator().Int63())
	}
	if s.replacement {
		return g.Randint(0, s.n, s.k).Ints()
	}
	list := g.Perm(s.n)
	g.Perm(s.n) // torch draws one more order here and discards it
	return list
}

// NewSubsetRandomSampler returns the given indices in random order, a different one for
// each epoch, from g, or from the generator that tensor.ManualSeed seeds if g is nil. It
// is torch.utils.data.SubsetRandomSampler, with the same orders.
func NewSubsetRandomSampler(indices []int, g *tensor.Generator) Sampler { return &subset{indices, g} }

type subset struct {
	indices []int
	g       *tensor.Generator
}

func (s *subset) Len() int { return len(s.indices) }

func (s *subset) Indices() []int {
	list := orDefault(s.g).Perm(len(s.indices))
	for k, i := range list {
		list[k] = s.indices[i]
	}
	return list
}

func orDefault(g *tensor.Generator) *tensor.Generator {
	if g == nil {
		return tensor.DefaultGenerator()
	}
	return g
}

type weighted struct {
	weights     []float64
	k           int
	replacement bool
	g           *tensor.Generator
}

// NewWeightedRandomSampler draws numSamples indices with probabilities proportional to weights, from g,
// or from the generator that tensor.ManualSeed seeds if g is nil; without replacement indices
// are distinct. It panics if a weight is negative or not finite, or if too few are above 0.
// It is torch.utils.data.WeightedRandomSampler, and gives the same indices.
func NewWeightedRandomSampler(weights []float64, numSamples int, replacement bool, g *tensor.Generator) Sampler {
	positive := 0
	for i, w := range weights {
		if !(w >= 0) || math.IsInf(w, 0) {
			panic(&tensor.Error{Op: "sampler", Why: fmt.Sprintf("weight %d is %v; want finite numbers of at least 0", i, w)})
		}
		if w > 0 {
			positive++
		}
	}
	if numSamples < 1 || positive == 0 || !replacement && numSamples > positive {
		panic(&tensor.Error{Op: "sampler", Why: fmt.Sprintf("samples %d, positive weights %d, replacement %v; want at least 1 sample and, without replacement, at most as many as positive weights", numSamples, positive, replacement)})
	}
	return &weighted{weights, numSamples, replacement, g}
}

func (s *weighted) Len() int { return s.k }

// Indices follows multinomial in aten/src/ATen/native/. With replacement, it looks up uniform
// numbers in the cumulative weights. Without, it uses exponential numbers divided by the
// weights (P. Efraimidis and P. Spirakis, "Weighted random sampling with a reservoir", 2006).
func (s *weighted) Indices() []int {
	g, n := orDefault(s.g), len(s.weights)
	list := make([]int, s.k)
	if s.replacement {
		sums, sum := make([]float64, n), 0.0
		for i, w := range s.weights {
			sum += w
			sums[i] = sum
		}
		for i := range sums {
			sums[i] /= sum
		}
		sums[n-1] = 1
		for j := range list {
			u := g.Float64()
			list[j] = sort.Search(n-1, func(i int) bool { return sums[i] >= u })
		}
		return list
	}
	order, score := make([]int, n), make([]float64, n)
	for i, w := range s.weights {
		order[i], score[i] = i, w/-math.Log1p(-g.Float64())
	}
	sort.SliceStable(order, func(a, b int) bool { return score[order[a]] > score[order[b]] })
	return order[:s.k]
}

// batched is torch.utils.data.BatchSampler.
type batched struct {
	of       Sampler
	size     int
	dropLast bool
}

// NewBatchSampler splits the indices of a sampler into batches of a size; the last may be
// smaller, or is omitted with dropLast. It panics if size is below 1. It is
// torch.utils.data.BatchSampler.
func NewBatchSampler(of Sampler, size int, dropLast bool) BatchSampler {
	if size < 1 {
		panic(&tensor.Error{Op: "loader", Why: fmt.Sprintf("the batch size is %d; want at least 1", size)})
	}
	return batched{of, size, dropLast}
}

func (s batched) Len() int {
	if s.dropLast {
		return s.of.Len() / s.size
	}
	return (s.of.Len() + s.size - 1) / s.size
}

func (s batched) Batches() [][]int {
	indices := s.of.Indices()
	batches := make([][]int, 0, s.Len())
	for len(batches) < s.Len() {
		n := min(s.size, len(indices))
		batches = append(batches, indices[:n:n])
		indices = indices[n:]
	}
	return batches
}

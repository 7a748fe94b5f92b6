package nn

import (
	"fmt"

	"halfnote/tensor"
)

// Embedding maps each index to a row of Weight. It is torch.nn.Embedding.
type Embedding struct {
	Weight *tensor.Tensor // (n, d)

	options tensor.EmbeddingOptions
}

// NewEmbedding returns a float32 table of normal numbers (numEmbeddings, embeddingDim), the
// same as torch's for the same seed. It takes PaddingIdx, MaxNorm and InitFrom, and panics if a size is
// below 1. It is torch.nn.Embedding.
func NewEmbedding(numEmbeddings, embeddingDim int, options ...Option) *Embedding {
	weight, c := newTable("new_embedding", numEmbeddings, embeddingDim, options, "PaddingIdx", "MaxNorm", "InitFrom")
	return &Embedding{weight, c.embedding}
}

// newTable returns the weight of an embedding, whose padding row is 0.
func newTable(op string, n, d int, options []Option, takes ...string) (*tensor.Tensor, config) {
	if n < 1 || d < 1 {
		panic(&tensor.Error{Op: op, Why: fmt.Sprintf("%d rows of %d features; want at least 1 each", n, d)})
	}
	c := configure(op, config{}, options, takes...)
	draw := tensor.Randn
	if c.generator != nil {
		draw = c.generator.Randn
	}
	weight := draw(n, d)
	if c.embedding.Padded {
		weight.Select(0, c.embedding.PaddingIdx).Fill(0)
	}
	return weight.RequireGrad(), c
}

// Forward maps integers x (…) to (…, d).
func (e *Embedding) Forward(x *tensor.Tensor) *tensor.Tensor {
	return tensor.Embedding(x, e.Weight, e.options)
}

// String returns what torch prints.
func (e *Embedding) String() string {
	s := fmt.Sprintf("Embedding(%d, %d", e.Weight.Size(0), e.Weight.Size(1))
	if e.options.Padded {
		s += fmt.Sprintf(", padding_idx=%d", (e.options.PaddingIdx+e.Weight.Size(0))%e.Weight.Size(0))
	}
	if e.options.MaxNorm != 0 {
		s += fmt.Sprintf(", max_norm=%v", e.options.MaxNorm)
	}
	return s + ")"
}

// EmbeddingBag looks up rows for bags of indices and reduces each bag. It is
// torch.nn.EmbeddingBag.
type EmbeddingBag struct {
	Weight *tensor.Tensor // (n, d)

	options tensor.EmbeddingBagOptions
}

// NewEmbeddingBag returns a float32 table of normal numbers (numEmbeddings, embeddingDim), the
// same as torch's for the same seed, that takes the mean of each bag. It takes Mode, PaddingIdx
// and InitFrom. It is torch.nn.EmbeddingBag.
func NewEmbeddingBag(numEmbeddings, embeddingDim int, options ...Option) *EmbeddingBag {
	weight, c := newTable("new_embedding_bag", numEmbeddings, embeddingDim, options, "Mode", "PaddingIdx", "InitFrom")
	mode := c.mode
	if mode == "" {
		mode = "mean"
	}
	return &EmbeddingBag{weight, tensor.EmbeddingBagOptions{Mode: mode, Padded: c.embedding.Padded, PaddingIdx: c.embedding.PaddingIdx}}
}

// Forward maps integers x (bags, …) to (bags, d).
func (e *EmbeddingBag) Forward(x *tensor.Tensor) *tensor.Tensor {
	return tensor.EmbeddingBag(x, e.Weight, e.options)
}

// Bags maps integers x (n), split into bags at offsets, to (bags, d).
func (e *EmbeddingBag) Bags(x, offsets *tensor.Tensor) *tensor.Tensor {
	o := e.options
	o.Offsets = offsets
	return tensor.EmbeddingBag(x, e.Weight, o)
}

// String returns what torch prints.
func (e *EmbeddingBag) String() string {
	s := fmt.Sprintf("EmbeddingBag(%d, %d, mode='%s'", e.Weight.Size(0), e.Weight.Size(1), e.options.Mode)
	if e.options.Padded {
		s += fmt.Sprintf(", padding_idx=%d", (e.options.PaddingIdx+e.Weight.Size(0))%e.Weight.Size(0))
	}
	return s + ")"
}

// lookup holds the options of embeddings.
type lookup struct {
	embedding tensor.EmbeddingOptions
}

// PaddingIdx is the index that an embedding uses for padding: its row starts as 0 and gets
// no gradient. There is none by default. It is padding_idx.
func PaddingIdx(i int) Option {
	return Option{"PaddingIdx", func(c *config) { c.embedding.Padded, c.embedding.PaddingIdx = true, i }}
}

// MaxNorm scales longer rows of an embedding down to that norm when they are looked up. It
// is max_norm.
func MaxNorm(norm float64) Option {
	return Option{"MaxNorm", func(c *config) { c.embedding.MaxNorm = norm }}
}

// Mode is the reduction of an embedding's bags, "mean" by default, "sum" or "max"; the fan of
// Kaiming's initialisation, "fan_in" by default or "fan_out"; or the interpolation of
// NewUpsample, "nearest" by default. It is mode.
func Mode(name string) Option { return Option{"Mode", func(c *config) { c.mode = name }} }

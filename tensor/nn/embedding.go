package nn

import (
	"fmt"

	"halfnote/tensor"
)

// Embedding looks up a row for each number. It is torch.nn.Embedding.
type Embedding struct {
	Weight *tensor.Tensor // (n, d)

	options tensor.EmbeddingOptions
}

// NewEmbedding returns a float32 table of n rows of d normal numbers, from the same
// draws as torch's. It takes PaddingIdx, MaxNorm and InitFrom, and panics if a size is
// below 1. It is torch.nn.Embedding.
func NewEmbedding(n, d int, options ...Option) *Embedding {
	weight, c := newTable("new_embedding", n, d, options, "PaddingIdx", "MaxNorm", "InitFrom")
	return &Embedding{weight, c.embedding}
}

// newTable returns the weight of an embedding, whose row for padding is 0.
func newTable(op string, n, d int, options []Option, takes ...string) (*tensor.Tensor, config) {
	if n < 1 || d < 1 {
		panic(&tensor.Error{Op: op, Why: fmt.Sprintf("%d rows of %d; expected 1 or more of each", n, d)})
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
func (e *Embedding) Forward(x *tensor.Tensor) *tensor.Tensor { return x.Embedding(e.Weight, e.options) }

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

// EmbeddingBag looks up rows for bags of numbers and reduces each bag. It is
// torch.nn.EmbeddingBag.
type EmbeddingBag struct {
	Weight *tensor.Tensor // (n, d)

	options tensor.EmbeddingBagOptions
}

// NewEmbeddingBag returns a float32 table of n rows of d normal numbers, from the same
// draws as torch's, for the mean of each bag. It takes BagMode, PaddingIdx and
// InitFrom. It is torch.nn.EmbeddingBag.
func NewEmbeddingBag(n, d int, options ...Option) *EmbeddingBag {
	weight, c := newTable("new_embedding_bag", n, d, options, "BagMode", "PaddingIdx", "InitFrom")
	mode := c.bagMode
	if mode == "" {
		mode = "mean"
	}
	return &EmbeddingBag{weight, tensor.EmbeddingBagOptions{Mode: mode, Padded: c.embedding.Padded, PaddingIdx: c.embedding.PaddingIdx}}
}

// Forward maps integers x (bags, …) to (bags, d).
func (e *EmbeddingBag) Forward(x *tensor.Tensor) *tensor.Tensor {
	return x.EmbeddingBag(e.Weight, e.options)
}

// Bags maps integers x (n), cut into bags where offsets says, to (bags, d).
func (e *EmbeddingBag) Bags(x, offsets *tensor.Tensor) *tensor.Tensor {
	o := e.options
	o.Offsets = offsets
	return x.EmbeddingBag(e.Weight, o)
}

// String returns what torch prints.
func (e *EmbeddingBag) String() string {
	s := fmt.Sprintf("EmbeddingBag(%d, %d, mode='%s'", e.Weight.Size(0), e.Weight.Size(1), e.options.Mode)
	if e.options.Padded {
		s += fmt.Sprintf(", padding_idx=%d", (e.options.PaddingIdx+e.Weight.Size(0))%e.Weight.Size(0))
	}
	return s + ")"
}

// lookup is what embeddings are told.
type lookup struct {
	embedding tensor.EmbeddingOptions
	bagMode   string
}

// PaddingIdx says which number of an embedding is for padding: its row is 0 at first
// and gets no gradient. There is none by default. It is padding_idx.
func PaddingIdx(i int) Option {
	return Option{"PaddingIdx", func(c *config) { c.embedding.Padded, c.embedding.PaddingIdx = true, i }}
}

// MaxNorm scales rows of an embedding that are longer down to that norm when they are
// looked up. It is max_norm.
func MaxNorm(norm float64) Option {
	return Option{"MaxNorm", func(c *config) { c.embedding.MaxNorm = norm }}
}

// BagMode is how an embedding reduces its bags: "sum", "mean", the default, or "max".
// It is mode.
func BagMode(mode string) Option {
	return Option{"BagMode", func(c *config) { c.bagMode = mode }}
}

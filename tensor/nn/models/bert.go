package models

import (
	"fmt"
	"slices"
	"strings"

	"halfnote/tensor"
	"halfnote/tensor/nn"
)

// BERTConfig holds the sizes of a BERT encoder.
type BERTConfig struct {
	Vocabulary   int // number of word pieces
	Hidden       int // number of features
	Layers       int
	Heads        int // attention heads, a divisor of Hidden
	Intermediate int // features inside the feed-forward part
	Positions    int // length of the longest sequence
	Types        int // number of token types
	Dropout      float64
	NoPooler     bool // omits the pooler; a classifier then reads the first token's hidden state
}

// BERTBase returns the sizes of bert-base-uncased: 12 layers of 768 features in 12
// heads (J. Devlin et al., "BERT: Pre-training of Deep Bidirectional Transformers for
// Language Understanding", 2018, section 3).
func BERTBase() BERTConfig {
	return BERTConfig{Vocabulary: 30522, Hidden: 768, Layers: 12, Heads: 12, Intermediate: 3072, Positions: 512, Types: 2, Dropout: 0.1}
}

// BERTTiny returns the sizes of a model for small computers: 2 layers of 128 features in
// 2 heads, bert-tiny (I. Turc et al., "Well-Read Students Learn Better", 2019).
func BERTTiny() BERTConfig {
	return BERTConfig{Vocabulary: 30522, Hidden: 128, Layers: 2, Heads: 2, Intermediate: 512, Positions: 512, Types: 2, Dropout: 0.1}
}

// BERTInput is a batch of token sequences.
type BERTInput struct {
	IDs   *tensor.Tensor // int64 (n, t) word pieces
	Mask  *tensor.Tensor // (n, t) 0 where a token is padding; nil without padding
	Types *tensor.Tensor // int64 (n, t) token types, 0 or 1; nil for all 0
}

// BERT is the encoder. Its tensors have the names of Hugging Face's BertModel. It is
// transformers.BertModel.
type BERT struct {
	Embeddings *BERTEmbeddings
	Encoder    struct{ Layer []*BERTLayer }
	Pooler     *BERTPooler // nil with NoPooler
}

// BERTEmbeddings adds up the embeddings of words, positions and types.
type BERTEmbeddings struct {
	WordEmbeddings, PositionEmbeddings, TokenTypeEmbeddings *nn.Embedding
	LayerNorm                                               *nn.LayerNorm `nn:"LayerNorm"`
	Dropout                                                 *nn.Dropout
}

// BERTLayer is attention and a feed-forward part, each followed by normalisation.
type BERTLayer struct {
	Attention struct {
		Self   BERTSelfAttention
		Output BERTOutput
	}
	Intermediate struct{ Dense *nn.Linear }
	Output       BERTOutput
}

// BERTSelfAttention is multi-head self-attention.
type BERTSelfAttention struct {
	nn.TrainingMode
	Query, Key, Value *nn.Linear
	heads             int
	dropout           float64
}

// BERTOutput is a linear map, dropout and normalisation of its sum with the input.
type BERTOutput struct {
	Dense     *nn.Linear
	LayerNorm *nn.LayerNorm `nn:"LayerNorm"`
	Dropout   *nn.Dropout
}

// BERTPooler is tanh of a linear map of the first token's hidden state.
type BERTPooler struct{ Dense *nn.Linear }

// NewBERT returns a float32 encoder in training. Matrices are normal with standard deviation
// 0.02, biases 0, normalisation weights 1 and biases 0.
func NewBERT(c BERTConfig) *BERT {
	if c.Heads < 1 || c.Hidden%c.Heads != 0 || c.Layers < 0 {
		panic(&tensor.Error{Op: "new_bert", Why: fmt.Sprintf("Hidden %d, Heads %d, Layers %d; want Hidden divisible by Heads, and all at least 1", c.Hidden, c.Heads, c.Layers)})
	}
	h := c.Hidden
	norm := func() *nn.LayerNorm { return nn.NewLayerNorm([]int{h}, nn.Eps(1e-12)) }
	output := func(in int) BERTOutput {
		return BERTOutput{nn.NewLinear(in, h), norm(), nn.NewDropout(c.Dropout)}
	}
	b := &BERT{Embeddings: &BERTEmbeddings{
		nn.NewEmbedding(c.Vocabulary, h, nn.PaddingIdx(0)), nn.NewEmbedding(c.Positions, h), nn.NewEmbedding(c.Types, h), norm(), nn.NewDropout(c.Dropout),
	}}
	for range c.Layers {
		l := &BERTLayer{}
		l.Attention.Self = BERTSelfAttention{Query: nn.NewLinear(h, h), Key: nn.NewLinear(h, h), Value: nn.NewLinear(h, h), heads: c.Heads, dropout: c.Dropout}
		l.Attention.Output = output(h)
		l.Intermediate.Dense = nn.NewLinear(h, c.Intermediate)
		l.Output = output(c.Intermediate)
		b.Encoder.Layer = append(b.Encoder.Layer, l)
	}
	if !c.NoPooler {
		b.Pooler = &BERTPooler{nn.NewLinear(h, h)}
	}
	drawBERT(b)
	return b
}

// drawBERT initialises the parameters of model by BERT's rule.
func drawBERT(model any) {
	tensor.NoGrad(func() {
		for _, p := range nn.NamedParameters(model) {
			switch t := p.Tensor; {
			case t.Dim() == 2:
				t.Assign(tensor.Normal(0, 0.02, t.Shape()...))
			case strings.HasSuffix(p.Name, "bias"):
				t.Fill(0)
			}
			if strings.HasSuffix(p.Name, "word_embeddings.weight") {
				p.Tensor.Select(0, 0).Fill(0)
			}
		}
	})
}

// ForwardInput returns the last layer's hidden states (n, t, features) and the pooler's result for
// the first token (n, features), nil without a pooler.
func (b *BERT) ForwardInput(in BERTInput) (hidden, pooled *tensor.Tensor) {
	in.check()
	var mask *tensor.Tensor
	if in.Mask != nil {
		mask = in.Mask.To(tensor.Bool).Unsqueeze(1).Unsqueeze(1)
	}
	tensor.InModule("embeddings", func() { hidden = b.Embeddings.run(in) })
	for i, l := range b.Encoder.Layer {
		tensor.InModule(fmt.Sprint("encoder.layer.", i), func() { hidden = l.run(hidden, mask) })
	}
	if b.Pooler != nil {
		tensor.InModule("pooler", func() { pooled = b.Pooler.Dense.Forward(hidden.Select(1, 0)).Tanh() })
	}
	return hidden, pooled
}

// Forward returns the hidden states of ForwardInput for ids (n, t) without padding.
func (b *BERT) Forward(ids *tensor.Tensor) *tensor.Tensor {
	hidden, _ := b.ForwardInput(BERTInput{IDs: ids})
	return hidden
}

func (in BERTInput) check() {
	shape := in.IDs.Shape()
	if len(shape) != 2 {
		panic(&tensor.Error{Op: "bert", Shapes: [][]int{shape}, Why: "IDs have the wrong shape; want (n, t)"})
	}
	for name, t := range map[string]*tensor.Tensor{"Mask": in.Mask, "Types": in.Types} {
		if t != nil && !slices.Equal(t.Shape(), shape) {
			panic(&tensor.Error{Op: "bert", Shapes: [][]int{shape, t.Shape()}, Why: name + " does not have the shape of IDs"})
		}
	}
}

func (e *BERTEmbeddings) run(in BERTInput) *tensor.Tensor {
	positions, t := e.PositionEmbeddings.Weight, in.IDs.Size(1)
	if t > positions.Size(0) {
		panic(&tensor.Error{Op: "bert", Shapes: [][]int{in.IDs.Shape()}, Why: fmt.Sprintf("sequences of %d tokens; want at most %d", t, positions.Size(0))})
	}
	types := in.Types
	if types == nil {
		// Checking their values on a GPU would synchronise.
		tensor.OnDevice(tensor.CPU, func() { types = tensor.ZerosAs(in.IDs.DType(), in.IDs.Shape()...) })
		types = types.ToDevice(in.IDs.Device())
	}
	x := e.WordEmbeddings.Forward(in.IDs).Add(e.TokenTypeEmbeddings.Forward(types)).Add(positions.Slice(0, 0, t))
	return e.Dropout.Forward(e.LayerNorm.Forward(x))
}

func (l *BERTLayer) run(x, mask *tensor.Tensor) *tensor.Tensor {
	x = l.Attention.Output.run(l.Attention.Self.run(x, mask), x)
	return l.Output.run(l.Intermediate.Dense.Forward(x).GELU(), x)
}

func (o *BERTOutput) run(x, input *tensor.Tensor) *tensor.Tensor {
	return o.LayerNorm.Forward(o.Dropout.Forward(o.Dense.Forward(x)).Add(input))
}

func (s *BERTSelfAttention) run(x, mask *tensor.Tensor) *tensor.Tensor {
	n, t, h := x.Size(0), x.Size(1), x.Size(2)
	split := func(l *nn.Linear) *tensor.Tensor {
		return l.Forward(x).Reshape(n, t, s.heads, h/s.heads).Transpose(1, 2)
	}
	o := []nn.Option{nn.AttnMask(mask)}
	if s.Training() {
		o = append(o, nn.DropoutP(s.dropout))
	}
	y := nn.ScaledDotProductAttention(split(s.Query), split(s.Key), split(s.Value), o...)
	return y.Transpose(1, 2).Reshape(n, t, h)
}

// BERTClassifier is BERT with dropout and a linear map of the pooled state or, with
// NoPooler, of the first token's hidden state. It is
// transformers.BertForSequenceClassification.
type BERTClassifier struct {
	BERT       *BERT
	Dropout    *nn.Dropout
	Classifier *nn.Linear
}

// NewBERTClassifier returns a float32 classifier in training with the given number of
// labels; use 1 for binary classification by nn.BinaryCrossEntropyWithLogits.
func NewBERTClassifier(c BERTConfig, labels int) *BERTClassifier {
	b := &BERTClassifier{NewBERT(c), nn.NewDropout(c.Dropout), nn.NewLinear(c.Hidden, labels)}
	drawBERT(b.Classifier)
	return b
}

// ForwardInput returns the logits (n, labels).
func (b *BERTClassifier) ForwardInput(in BERTInput) *tensor.Tensor {
	var hidden, pooled *tensor.Tensor
	tensor.InModule("bert", func() { hidden, pooled = b.BERT.ForwardInput(in) })
	if pooled == nil {
		pooled = hidden.Select(1, 0)
	}
	return b.Classifier.Forward(b.Dropout.Forward(pooled))
}

// Forward returns the logits of ForwardInput for ids (n, t) without padding.
func (b *BERTClassifier) Forward(ids *tensor.Tensor) *tensor.Tensor {
	return b.ForwardInput(BERTInput{IDs: ids})
}

// LoadBERT copies a Hugging Face checkpoint, as read by package data, into model, a BERT or
// a BERTClassifier. It accepts encoder names with and without "bert.", and "gamma" and "beta"
// for normalisation, and ignores tensors that model lacks, such as the heads of other tasks.
// fresh lists the names missing from the checkpoint, whose tensors are unchanged, such as an
// untrained classifier. If a shape differs or no name matches, it returns an error and leaves
// model unchanged.
func LoadBERT(model any, state map[string]*tensor.Tensor) (fresh []string, err error) {
	known := map[string]*tensor.Tensor{}
	for name, t := range state {
		if i := strings.LastIndex(name, "LayerNorm."); i >= 0 {
			name = name[:i] + strings.NewReplacer("gamma", "weight", "beta", "bias").Replace(name[i:])
		}
		known[strings.TrimPrefix(name, "bert.")] = t
	}
	own := nn.StateDict(model)
	full := map[string]*tensor.Tensor{}
	for name, t := range own {
		if full[name] = known[strings.TrimPrefix(name, "bert.")]; full[name] == nil {
			full[name], fresh = t, append(fresh, name)
		}
	}
	if len(fresh) == len(own) {
		return nil, fmt.Errorf("models: load BERT: none of the checkpoint's %d names is in the model; want names such as embeddings.word_embeddings.weight", len(state))
	}
	slices.Sort(fresh)
	return fresh, nn.LoadStateDict(model, full)
}

package nn

import (
	"fmt"

	"halfnote/tensor"
)

// transformerOptions are the options of a Transformer's constructors.
var transformerOptions = []string{"DimFeedforward", "DropoutP", "Activation", "NormFirst", "BatchFirst", "Bias", "Eps", "InitFrom"}

func transformerConfig(constructor string, features int, options []Option) config {
	c := config{bias: true, sequence: sequence{feedforward: 2048, dropout: 0.1, kdim: features, vdim: features}}
	c.eps = 1e-5
	return configure(constructor, c, options, transformerOptions...)
}

// TransformerEncoderLayer is self-attention and a feed-forward part, each with dropout,
// a residual connection and normalisation. It is torch.nn.TransformerEncoderLayer.
type TransformerEncoderLayer struct {
	TrainingMode
	SelfAttn         *MultiheadAttention
	Linear1, Linear2 *Linear
	Norm1, Norm2     *LayerNorm

	c config
}

// NewTransformerEncoderLayer returns a float32 layer with the given numbers of features and
// attention heads. It takes DimFeedforward, DropoutP (0.1 by default), Activation, NormFirst,
// BatchFirst, Bias, Eps (of the normalisation, 1e-5) and InitFrom. It is
// torch.nn.TransformerEncoderLayer.
func NewTransformerEncoderLayer(features, heads int, options ...Option) *TransformerEncoderLayer {
	return newEncoderLayer(features, heads, transformerConfig("new_transformer_encoder_layer", features, options))
}

func newEncoderLayer(features, heads int, c config) *TransformerEncoderLayer {
	return &TransformerEncoderLayer{
		SelfAttn: newMultiheadAttention(features, heads, c),
		Linear1:  newLinear(features, c.feedforward, c), Linear2: newLinear(c.feedforward, features, c),
		Norm1: newLayerNorm([]int{features}, c), Norm2: newLayerNorm([]int{features}, c), c: c,
	}
}

// ForwardMasked maps x (L, batch, features), or (L, features), to the same shape; with BatchFirst
// the batch comes first. It takes SrcMask, SrcKeyPaddingMask and SrcIsCausal.
func (t *TransformerEncoderLayer) ForwardMasked(x *tensor.Tensor, options ...Option) *tensor.Tensor {
	return t.forward(x, configureMasks("transformer_encoder_layer", options, srcOptions))
}

func (t *TransformerEncoderLayer) forward(x *tensor.Tensor, o masks) *tensor.Tensor {
	attend := func(x *tensor.Tensor) *tensor.Tensor {
		y, _ := t.SelfAttn.forward(x, x, x, o.src)
		return t.drop(y)
	}
	x = residual(x, t.Norm1, t.c.normFirst, attend)
	return residual(x, t.Norm2, t.c.normFirst, t.feedForward)
}

// Forward is ForwardMasked without masks.
func (t *TransformerEncoderLayer) Forward(x *tensor.Tensor) *tensor.Tensor {
	return t.ForwardMasked(x)
}

func (t *TransformerEncoderLayer) feedForward(x *tensor.Tensor) *tensor.Tensor {
	return t.drop(t.Linear2.Forward(t.drop(activated(t.Linear1.Forward(x), t.c))))
}

func (t *TransformerEncoderLayer) drop(x *tensor.Tensor) *tensor.Tensor {
	return tensor.Dropout(x, t.c.dropout, t.Training())
}

func activated(x *tensor.Tensor, c config) *tensor.Tensor {
	if c.gelu {
		return x.GELU()
	}
	return x.ReLU()
}

// residual returns x + f(x) normalised or, with first, x + f(normalised x).
func residual(x *tensor.Tensor, norm *LayerNorm, first bool, f func(*tensor.Tensor) *tensor.Tensor) *tensor.Tensor {
	if first {
		return x.Add(f(norm.Forward(x)))
	}
	return norm.Forward(x.Add(f(x)))
}

// TransformerEncoder is a stack of encoder layers. It is torch.nn.TransformerEncoder.
type TransformerEncoder struct {
	Layers []*TransformerEncoderLayer
	Norm   *LayerNorm // final normalisation, or nil
}

// NewTransformerEncoder returns numLayers copies of layer with equal initial parameters, followed by
// norm, which may be nil. It is torch.nn.TransformerEncoder.
func NewTransformerEncoder(layer *TransformerEncoderLayer, numLayers int, norm *LayerNorm) *TransformerEncoder {
	checkLayers("new_transformer_encoder", numLayers)
	need("new_transformer_encoder", "layer", layer != nil, "a TransformerEncoderLayer")
	e := &TransformerEncoder{Norm: norm}
	for range numLayers {
		e.Layers = append(e.Layers, copied(layer, newEncoderLayer(layer.SelfAttn.embed, layer.SelfAttn.heads, scratch(layer.c))))
	}
	return e
}

// ForwardMasked passes x through all layers, each with the same masks. It takes SrcMask,
// SrcKeyPaddingMask and SrcIsCausal.
func (t *TransformerEncoder) ForwardMasked(x *tensor.Tensor, options ...Option) *tensor.Tensor {
	return t.forward(x, configureMasks("transformer_encoder", options, srcOptions))
}

func (t *TransformerEncoder) forward(x *tensor.Tensor, o masks) *tensor.Tensor {
	for i, l := range t.Layers {
		tensor.InModule(fmt.Sprint("layers.", i), func() { x = l.forward(x, o) })
	}
	if t.Norm != nil {
		x = t.Norm.Forward(x)
	}
	return x
}

// Forward is ForwardMasked without masks.
func (t *TransformerEncoder) Forward(x *tensor.Tensor) *tensor.Tensor {
	return t.ForwardMasked(x)
}

// TransformerDecoderLayer is self-attention, attention to an encoder's result and a
// feed-forward part, each with dropout, a residual connection and normalisation. It is
// torch.nn.TransformerDecoderLayer.
type TransformerDecoderLayer struct {
	TrainingMode
	SelfAttn, MultiheadAttn *MultiheadAttention
	Linear1, Linear2        *Linear
	Norm1, Norm2, Norm3     *LayerNorm

	c config
}

// NewTransformerDecoderLayer returns a float32 layer with the given numbers of features and
// attention heads. It takes the options of NewTransformerEncoderLayer. It is
// torch.nn.TransformerDecoderLayer.
func NewTransformerDecoderLayer(features, heads int, options ...Option) *TransformerDecoderLayer {
	return newDecoderLayer(features, heads, transformerConfig("new_transformer_decoder_layer", features, options))
}

func newDecoderLayer(features, heads int, c config) *TransformerDecoderLayer {
	return &TransformerDecoderLayer{
		SelfAttn: newMultiheadAttention(features, heads, c), MultiheadAttn: newMultiheadAttention(features, heads, c),
		Linear1: newLinear(features, c.feedforward, c), Linear2: newLinear(c.feedforward, features, c),
		Norm1: newLayerNorm([]int{features}, c), Norm2: newLayerNorm([]int{features}, c), Norm3: newLayerNorm([]int{features}, c), c: c,
	}
}

// Forward maps x (L, batch, features) and the encoder's result memory (S, batch, features)
// to x's shape; with BatchFirst the batch comes first. It takes TgtMask, TgtKeyPaddingMask,
// TgtIsCausal, MemoryMask, MemoryKeyPaddingMask and MemoryIsCausal.
func (t *TransformerDecoderLayer) Forward(x, memory *tensor.Tensor, options ...Option) *tensor.Tensor {
	return t.forward(x, memory, configureMasks("transformer_decoder_layer", options, tgtOptions))
}

func (t *TransformerDecoderLayer) forward(x, memory *tensor.Tensor, o masks) *tensor.Tensor {
	attend := func(x *tensor.Tensor) *tensor.Tensor {
		y, _ := t.SelfAttn.forward(x, x, x, o.tgt)
		return t.drop(y)
	}
	look := func(x *tensor.Tensor) *tensor.Tensor {
		y, _ := t.MultiheadAttn.forward(x, memory, memory, o.memory)
		return t.drop(y)
	}
	feed := func(x *tensor.Tensor) *tensor.Tensor {
		return t.drop(t.Linear2.Forward(t.drop(activated(t.Linear1.Forward(x), t.c))))
	}
	x = residual(x, t.Norm1, t.c.normFirst, attend)
	x = residual(x, t.Norm2, t.c.normFirst, look)
	return residual(x, t.Norm3, t.c.normFirst, feed)
}

func (t *TransformerDecoderLayer) drop(x *tensor.Tensor) *tensor.Tensor {
	return tensor.Dropout(x, t.c.dropout, t.Training())
}

// TransformerDecoder is a stack of decoder layers. It is torch.nn.TransformerDecoder.
type TransformerDecoder struct {
	Layers []*TransformerDecoderLayer
	Norm   *LayerNorm // final normalisation, or nil
}

// NewTransformerDecoder returns numLayers copies of layer with equal initial parameters, followed by
// norm, which may be nil. It is torch.nn.TransformerDecoder.
func NewTransformerDecoder(layer *TransformerDecoderLayer, numLayers int, norm *LayerNorm) *TransformerDecoder {
	checkLayers("new_transformer_decoder", numLayers)
	need("new_transformer_decoder", "layer", layer != nil, "a TransformerDecoderLayer")
	d := &TransformerDecoder{Norm: norm}
	for range numLayers {
		d.Layers = append(d.Layers, copied(layer, newDecoderLayer(layer.SelfAttn.embed, layer.SelfAttn.heads, scratch(layer.c))))
	}
	return d
}

// Forward passes x through all layers, each with memory and the same masks. It takes the options
// of TransformerDecoderLayer.Forward.
func (t *TransformerDecoder) Forward(x, memory *tensor.Tensor, options ...Option) *tensor.Tensor {
	return t.forward(x, memory, configureMasks("transformer_decoder", options, tgtOptions))
}

func (t *TransformerDecoder) forward(x, memory *tensor.Tensor, o masks) *tensor.Tensor {
	for i, l := range t.Layers {
		tensor.InModule(fmt.Sprint("layers.", i), func() { x = l.forward(x, memory, o) })
	}
	if t.Norm != nil {
		x = t.Norm.Forward(x)
	}
	return x
}

func checkLayers(constructor string, n int) {
	if n < 0 {
		panic(&tensor.Error{Op: constructor, Why: fmt.Sprintf("%d layers; want 0 or more", n)})
	}
}

// scratch is c with its own generator, for parameters that are overwritten.
func scratch(c config) config {
	c.generator = tensor.NewGenerator(0)
	return c
}

// copied copies the tensors of one layer to another of its type.
func copied[L any](from, to *L) *L {
	if err := LoadStateDict(to, StateDict(from)); err != nil {
		panic(err)
	}
	return to
}

// Transformer is an encoder and a decoder. It is torch.nn.Transformer.
type Transformer struct {
	Encoder *TransformerEncoder
	Decoder *TransformerDecoder
}

// NewTransformer returns a float32 model with the given numbers of features, attention heads
// and layers; torch's defaults are 512, 8, 6 and 6. Matrices are initialised by Xavier's
// rule. It takes the options of NewTransformerEncoderLayer. It is torch.nn.Transformer.
func NewTransformer(features, heads, encoders, decoders int, options ...Option) *Transformer {
	c := transformerConfig("new_transformer", features, options)
	encoder := newEncoderLayer(features, heads, c)
	t := &Transformer{Encoder: NewTransformerEncoder(encoder, encoders, newLayerNorm([]int{features}, c))}
	decoder := newDecoderLayer(features, heads, c)
	t.Decoder = NewTransformerDecoder(decoder, decoders, newLayerNorm([]int{features}, c))
	for _, p := range Parameters(t) {
		if p.Dim() > 1 {
			p.SetData(c.xavierUniform(p.Size(0), p.Size(1)).Detach())
		}
	}
	return t
}

// Forward maps the source (S, batch, features) and the target (T, batch, features) to the
// target's shape. It takes SrcMask, SrcKeyPaddingMask and SrcIsCausal for the encoder, and the
// options of TransformerDecoderLayer.Forward.
func (t *Transformer) Forward(src, tgt *tensor.Tensor, options ...Option) *tensor.Tensor {
	o := configureMasks("transformer", options, srcTgtOptions)
	var memory *tensor.Tensor
	tensor.InModule("encoder", func() { memory = t.Encoder.forward(src, o) })
	tensor.InModule("decoder", func() { tgt = t.Decoder.forward(tgt, memory, o) })
	return tgt
}

// SquareSubsequentMask returns the float32 mask (n, n) that is -Inf where a key comes after
// its query and 0 elsewhere. It is torch.nn.Transformer.generate_square_subsequent_mask.
func SquareSubsequentMask(n int) *tensor.Tensor { return additive(causal(n, n)) }

package nn

import "halfnote/tensor"

// attending holds the values of the options of attention.
type attending struct {
	mask, padding *tensor.Tensor // AttnMask and KeyPaddingMask, or nil
	causal        bool
	weights, mean bool // whether to return weights, and their mean over the heads
}

// masks holds the options of the forward passes of attention and of a Transformer.
type masks struct {
	padding          *tensor.Tensor
	weights, mean    bool
	src, tgt, memory attending
}

func maskOption(name string, set func(m *masks)) Option {
	return Option{name, func(c *config) { set(&c.masks) }}
}

// KeyPaddingMask (batch, S) excludes the keys at which a bool mask is true; a floating-point
// mask is added to the scores. It is key_padding_mask.
func KeyPaddingMask(mask *tensor.Tensor) Option {
	return maskOption("KeyPaddingMask", func(m *masks) { m.padding = mask })
}

// NeedWeights sets whether Attend returns the weights; on by default, and faster when off. It is
// need_weights.
func NeedWeights(on bool) Option {
	return maskOption("NeedWeights", func(m *masks) { m.weights = on })
}

// AverageAttnWeights sets whether Attend returns the mean of the heads' weights; on by default.
// When off, the weights are (batch, heads, L, S). It is average_attn_weights.
func AverageAttnWeights(on bool) Option {
	return maskOption("AverageAttnWeights", func(m *masks) { m.mean = on })
}

// SrcMask is the AttnMask of an encoder. It is src_mask.
func SrcMask(mask *tensor.Tensor) Option {
	return maskOption("SrcMask", func(m *masks) { m.src.mask = mask })
}

// SrcKeyPaddingMask is the KeyPaddingMask of an encoder. It is src_key_padding_mask.
func SrcKeyPaddingMask(mask *tensor.Tensor) Option {
	return maskOption("SrcKeyPaddingMask", func(m *masks) { m.src.padding = mask })
}

// SrcIsCausal is IsCausal of an encoder. It is src_is_causal=True.
func SrcIsCausal() Option {
	return maskOption("SrcIsCausal", func(m *masks) { m.src.causal = true })
}

// TgtMask is the AttnMask of a decoder's self-attention. It is tgt_mask.
func TgtMask(mask *tensor.Tensor) Option {
	return maskOption("TgtMask", func(m *masks) { m.tgt.mask = mask })
}

// TgtKeyPaddingMask is the KeyPaddingMask of a decoder's self-attention. It is
// tgt_key_padding_mask.
func TgtKeyPaddingMask(mask *tensor.Tensor) Option {
	return maskOption("TgtKeyPaddingMask", func(m *masks) { m.tgt.padding = mask })
}

// TgtIsCausal is IsCausal of a decoder's self-attention. It is tgt_is_causal=True.
func TgtIsCausal() Option {
	return maskOption("TgtIsCausal", func(m *masks) { m.tgt.causal = true })
}

// MemoryMask is the AttnMask of a decoder's attention to the encoder's result. It is memory_mask.
func MemoryMask(mask *tensor.Tensor) Option {
	return maskOption("MemoryMask", func(m *masks) { m.memory.mask = mask })
}

// MemoryKeyPaddingMask is the KeyPaddingMask of a decoder's attention to the encoder's result. It
// is memory_key_padding_mask.
func MemoryKeyPaddingMask(mask *tensor.Tensor) Option {
	return maskOption("MemoryKeyPaddingMask", func(m *masks) { m.memory.padding = mask })
}

// MemoryIsCausal is IsCausal of a decoder's attention to the encoder's result. It is
// memory_is_causal=True.
func MemoryIsCausal() Option {
	return maskOption("MemoryIsCausal", func(m *masks) { m.memory.causal = true })
}

// Options of the forward passes of encoders, decoders and both.
var (
	srcOptions    = []string{"SrcMask", "SrcKeyPaddingMask", "SrcIsCausal"}
	tgtOptions    = []string{"TgtMask", "TgtKeyPaddingMask", "TgtIsCausal", "MemoryMask", "MemoryKeyPaddingMask", "MemoryIsCausal"}
	srcTgtOptions = append(srcOptions[:len(srcOptions):len(srcOptions)], tgtOptions...)
)

func configureMasks(op string, options []Option, takes []string) masks {
	return configure(op, config{}, options, takes...).masks
}

package quant

import (
	"fmt"
	"slices"

	"halfnote/tensor"
)

// The names and shapes under which checkpoints hold tensors in few bits. Nothing prescribes them; these are the most common ones:
//
//	Cast         NAME
//	MX           NAME, NAME_scale (uint8); of E2M1 NAME_blocks (…, blocks, 16) and NAME_scales, as in gpt-oss
//	NVFP4        NAME, NAME_scale (float8_e4m3fn), NAME_scale_2 (float32), as in NVIDIA's ModelOpt
//	Float8       NAME, NAME_scale (float32); of blocks of 128 NAME_scale_inv, as in DeepSeek-V3
//	Int          NAME, NAME_scale (float32), NAME_zero_point (int8)
//
// Codes of float8_e4m3fn, float8_e5m2 and int8 have those dtypes, others are packed in uint8.
type layout struct {
	codes, scales, zeros, global string // suffixes
	blocks                       bool   // codes have the blocks as a dimension
}

func layoutOf(s Scheme) layout {
	l := layout{scales: "_scale", zeros: "_zero_point", global: "_scale_2"}
	switch s := s.(type) {
	case MX:
		if s.Element == E2M1 {
			l.codes, l.scales, l.blocks = "_blocks", "_scales", true
		}
	case Float8:
		if s.Granularity == Per1x128 || s.Granularity == Per128x128 {
			l.scales = "_scale_inv"
		}
	}
	return l
}

// dtypeOf returns the dtype under which codes are stored.
func dtypeOf(f Format) tensor.DType {
	switch f {
	case E4M3FN:
		return tensor.Float8E4M3
	case E5M2:
		return tensor.Float8E5M2
	case Int8, MXInt8:
		return tensor.Int8
	}
	return tensor.Uint8
}

// as returns the bytes of t as another dtype of one byte, in another shape.
func as(t *tensor.Tensor, d tensor.DType, shape []int) *tensor.Tensor {
	if len(shape) == 0 { // one byte is a vector otherwise
		return tensor.FromBytes(d, bytes(t), 1).Reshape()
	}
	return tensor.FromBytes(d, bytes(t), shape...)
}

// StateDict returns q as tensors for a checkpoint, which data.SaveSafetensors writes, named as in the field: the codes are under name, the scales
// under name_scale or a similar name. [FromStateDict] reads them.
func (q *Tensor) StateDict(name string) map[string]*tensor.Tensor {
	q.given("StateDict")
	l := layoutOf(q.scheme)
	shape := q.codes.Shape()
	if l.blocks {
		shape = append(q.scales.Shape(), mxBlock/2)
	}
	state := map[string]*tensor.Tensor{name + l.codes: as(q.codes, dtypeOf(q.grid.element), shape)}
	switch q.grid.scales {
	case noScale:
	case e4m3Scale:
		state[name+l.scales] = as(q.scales, tensor.Float8E4M3, q.scales.Shape())
		state[name+l.global] = tensor.Scalar(float64(q.global))
	default:
		state[name+l.scales] = q.scales.Clone()
	}
	if q.zeros != nil {
		state[name+l.zeros] = q.zeros.Clone()
	}
	return state
}

// FromStateDict returns the tensor that state holds under name, in the form of [Tensor.StateDict]. The error says what is missing or has
// another dtype or shape.
func FromStateDict(state map[string]*tensor.Tensor, name string, s Scheme) (*Tensor, error) {
	if s == nil {
		return nil, fmt.Errorf("quant: FromStateDict: a nil scheme")
	}
	p, err := s.plan()
	if err != nil {
		return nil, fmt.Errorf("quant: FromStateDict: %w", err)
	}
	l := layoutOf(s)
	part := func(suffix string, d tensor.DType) *tensor.Tensor {
		t := state[name+suffix]
		switch {
		case err != nil:
		case t == nil:
			err = fmt.Errorf("quant: FromStateDict: %q is missing, which %v has", name+suffix, s)
		case d == tensor.Uint8 && t.DType() == tensor.BFloat16 && suffix == l.scales: // F8_E8M0 of a safetensors file
			x := t.Detach().ToDevice(tensor.CPU).Float().Contiguous()
			powers := make([]uint8, x.Numel())
			for i, v := range floats(x) {
				powers[i] = E8M0.Encode(float64(v), Nearest, Special)
			}
			return as(tensor.FromBytes(tensor.Uint8, powers), tensor.Uint8, x.Shape())
		case t.DType() != d:
			err = fmt.Errorf("quant: FromStateDict: %q is of dtype %v; want %v", name+suffix, t.DType(), d)
		default:
			return t.Detach().ToDevice(tensor.CPU).Contiguous()
		}
		return nil
	}
	codes := part(l.codes, dtypeOf(p.element))
	if err != nil {
		return nil, err
	}
	shape := codes.Shape()
	if n := len(shape); l.blocks && n > 1 {
		shape = append(slices.Clone(shape[:n-2]), shape[n-2]*shape[n-1])
	}
	if n := len(shape); n > 0 {
		shape[n-1] = shape[n-1] * 8 / p.element.Bits()
	}
	if p.repeat { // scales are stored for each row
		p.repeat, p.rows = false, 1
	}
	g, err := p.over(shape)
	if err != nil {
		return nil, fmt.Errorf("quant: FromStateDict: %q of shape %v: %w", name+l.codes, codes.Shape(), err)
	}
	q := newTensor(s, g, shape)
	if codes.Bytes() != q.codes.Bytes() {
		return nil, fmt.Errorf("quant: FromStateDict: %q of shape %v holds no whole blocks of %v", name+l.codes, codes.Shape(), s)
	}
	copy(bytes(q.codes), bytes(codes))
	read := func(suffix string, d tensor.DType, to *tensor.Tensor) {
		if t := part(suffix, d); t != nil && t.Numel() != to.Numel() {
			err = fmt.Errorf("quant: FromStateDict: %q has shape %v; want %v", name+suffix, t.Shape(), to.Shape())
		} else if t != nil {
			copy(bytes(to), bytes(t))
		}
	}
	switch g.scales {
	case noScale:
	case e8m0Scale:
		read(l.scales, tensor.Uint8, q.scales)
	case floatScale:
		read(l.scales, tensor.Float32, q.scales)
	case e4m3Scale:
		read(l.scales, tensor.Float8E4M3, q.scales)
		one := tensor.Scalar(0).ToDevice(tensor.CPU)
		read(l.global, tensor.Float32, one)
		q.global = floats(one)[0]
	}
	if q.zeros != nil {
		read(l.zeros, tensor.Int8, q.zeros)
	}
	if err != nil {
		return nil, err
	}
	return q, nil
}

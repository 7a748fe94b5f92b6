package amp

import (
	"fmt"

	"halfnote/tensor"
	"halfnote/tensor/driver"
	"halfnote/tensor/quant"
)

// Accumulation is how the products of linear layers are summed, in the forward pass and in both products of the backward pass. The zero value sums in float32 from the
// first product to the last.
type Accumulation struct {
	// DType is the dtype of the running sum, float32 by default: the sum is rounded to it after each addition.
	DType tensor.DType
	// Rounding is how the running sum is rounded to DType: to nearest by default.
	Rounding quant.Rounding
	// Reverse sums from the last product to the first.
	Reverse bool
	// Block is the number of products that are summed at a time. The sums of the blocks are then added in float32, as a split along the inner dimension does. 0 means all.
	Block int
}

// Accumulate returns p with another way to sum the products of linear layers, to see what dtype and order of the sum do. Products are exact in float32 for operands of
// at most 16 bits; each addition is computed in float32 and rounded to a.DType. It takes much longer than a product. Off.Accumulate sums
// float32 operands. Accumulate panics for a dtype other than float32, float16 and bfloat16, for a negative block, and for a policy with QAT.
func (p Policy) Accumulate(a Accumulation) Policy {
	switch a.DType {
	case 0:
		a.DType = tensor.Float32
	case tensor.Float32, tensor.Float16, tensor.BFloat16:
	default:
		panic(&Error{Code: "dtype", Call: "Accumulate", Why: fmt.Sprintf("a running sum in %v", a.DType), Cure: "give float32, float16 or bfloat16"})
	}
	if p.recipe.straight {
		panic(&Error{Code: "sums", Call: "Accumulate", Why: fmt.Sprintf("%v rounds operands of the forward pass only", p), Cure: "leave out QAT"})
	}
	if a.Block < 0 {
		panic(&Error{Code: "block", Call: "Accumulate", Why: fmt.Sprintf("a block of %d products", a.Block), Cure: "give a positive number, or 0 for all"})
	}
	p.recipe.sum = a
	return p
}

// Accumulation returns how p sums the products of linear layers, and reports whether [Policy.Accumulate] has set it.
func (p Policy) Accumulation() (a Accumulation, ok bool) {
	if p.recipe.sum.DType == 0 {
		return Accumulation{DType: tensor.Float32}, false
	}
	return p.recipe.sum, true
}

// String returns a as Go code.
func (a Accumulation) String() string {
	s := "DType: tensor." + map[tensor.DType]string{tensor.Float32: "Float32", tensor.Float16: "Float16", tensor.BFloat16: "BFloat16"}[a.DType]
	if a.Rounding != quant.Nearest {
		s += fmt.Sprintf(", Rounding: %v", a.Rounding)
	}
	if a.Reverse {
		s += ", Reverse: true"
	}
	if a.Block > 0 {
		s += fmt.Sprintf(", Block: %d", a.Block)
	}
	return "amp.Accumulation{" + s + "}"
}

// accumulated is the product a bᵀ of a (m, k) and b (n, k) in float32, summed as its accumulation says; of float64 operands it is their product.
type accumulated struct{ Accumulation }

func (s *accumulated) Info() tensor.Info {
	return tensor.Info{Name: "accumulated_matmul", Torch: "torch.matmul", Saved: tensor.SavesOperands}
}

func (s *accumulated) Forward(in []*tensor.Tensor) *tensor.Tensor {
	a, b := in[0].Detach(), in[1].Detach()
	if a.DType() == tensor.Float64 {
		return a.MatMul(b.T())
	}
	m, k, n := a.Shape()[0], a.Shape()[1], b.Shape()[0]
	a, b = a.T().Contiguous(), b.T().Contiguous() // a row for each product of the sum
	size := s.Block
	if size == 0 {
		size = max(k, 1)
	}
	total := tensor.ZerosAs(tensor.Float32, m, n).ToDevice(a.Device())
	for first := 0; first < k; first += size {
		sum := tensor.ZerosAs(tensor.Float32, m, n).ToDevice(a.Device())
		for i := range min(size, k-first) {
			driver.Poll()
			at := first + i
			if s.Reverse {
				at = k - 1 - at
			}
			sum = s.rounded(sum.Add(a.Slice(0, at, at+1).T().Mul(b.Slice(0, at, at+1))), at)
		}
		if size >= k {
			return sum
		}
		total = total.Add(sum)
	}
	return total
}

// rounded returns a sum in the dtype of running sums, as float32.
func (s *accumulated) rounded(sum *tensor.Tensor, at int) *tensor.Tensor {
	switch {
	case s.DType == tensor.Float32:
		return sum
	case s.Rounding == quant.Nearest:
		return sum.To(s.DType).Float()
	}
	r := s.Rounding
	if r != quant.TowardZero {
		r ^= quant.Rounding(at) // other draws for each addition
	}
	return quant.Round(sum, s.DType, r).Float()
}

func (s *accumulated) VJP(dy, _ *tensor.Tensor, in []*tensor.Tensor) []*tensor.Tensor {
	return []*tensor.Tensor{
		tensor.Apply(s, dy, in[1].T().Contiguous()),
		tensor.Apply(s, dy.T().Contiguous(), in[0].T().Contiguous()),
	}
}

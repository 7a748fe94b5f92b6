package dist

import (
	"fmt"

	"halfnote/tensor"
)

// ReduceOp combines the elements of all ranks, in the order of the ranks: (x0 + x1) + x2 and so on. Results have the same bits
// in every run with the same number of ranks, whatever the MPI library. It is torch.distributed.ReduceOp.
type ReduceOp struct {
	name       string
	combine    func(x, y *tensor.Tensor) *tensor.Tensor
	assign     func(x, y *tensor.Tensor) *tensor.Tensor // combine in place, nil if there is none
	average    bool
	accumulate tensor.DType
	chosen     bool // accumulate is set
}

// The reductions. Avg divides the sum by the number of ranks before it is rounded to the tensor's dtype.
var (
	Sum     = ReduceOp{name: "sum", combine: (*tensor.Tensor).Add, assign: (*tensor.Tensor).AddAssign}
	Avg     = ReduceOp{name: "avg", combine: (*tensor.Tensor).Add, assign: (*tensor.Tensor).AddAssign, average: true}
	Product = ReduceOp{name: "product", combine: (*tensor.Tensor).Mul}
	Min     = ReduceOp{name: "min", combine: (*tensor.Tensor).Minimum}
	Max     = ReduceOp{name: "max", combine: (*tensor.Tensor).Maximum}
)

// Accumulate returns op with partial results in d. By default float16 and bfloat16 accumulate in float32, and every other dtype
// in itself. Accumulate(tensor.BFloat16) rounds after each addition, as reductions in a network's own dtype do.
func (op ReduceOp) Accumulate(d tensor.DType) ReduceOp {
	op.accumulate, op.chosen = d, true
	return op
}

func (op ReduceOp) String() string {
	if op.chosen {
		return fmt.Sprintf("%s in %v", op.name, op.accumulate)
	}
	return op.name
}

// in returns the dtype of partial results for elements of dtype d.
func (op ReduceOp) in(d tensor.DType) tensor.DType {
	switch {
	case op.chosen:
		return op.accumulate
	case d.IsFloat() && d.Size() < 4:
		return tensor.Float32
	}
	return d
}

// inPlace leaves the reduction in own, the part of a rank, and reports whether it could. The other parts may be overwritten. It makes
// one pass for each rank, where over makes several. Two halves are added in float32 and rounded once by their own addition.
func (op ReduceOp) inPlace(parts []*tensor.Tensor, rank int) bool {
	own := parts[rank]
	d := own.DType()
	once := len(parts) == 2 && op.in(d) == tensor.Float32 && d.Size() < 4 && !op.average
	if op.assign == nil || op.in(d) != d && !once {
		return false
	}
	switch rank {
	case 0, 1: // x0 + x1 is x1 + x0
		op.assign(own, parts[1-rank])
		for _, x := range parts[2:] {
			op.assign(own, x)
		}
	default:
		for _, x := range parts[1:] {
			op.assign(parts[0], x)
		}
		own.Assign(parts[0])
	}
	if op.average {
		own.DivScalarAssign(float64(len(parts)))
	}
	return true
}

// over returns the reduction of the ranks' parts, in the parts' dtype.
func (op ReduceOp) over(parts []*tensor.Tensor) *tensor.Tensor {
	d := parts[0].DType()
	in := op.in(d)
	y := parts[0].To(in)
	for _, x := range parts[1:] {
		y = op.combine(y, x.To(in))
	}
	if op.average {
		y = y.DivScalar(float64(len(parts)))
	}
	return y.To(d)
}

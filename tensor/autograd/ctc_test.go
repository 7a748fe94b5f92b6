package autograd_test

import (
	"halfnote/tensor"
	"halfnote/tensor/nn"
)

func init() {
	type T = *tensor.Tensor
	// Four steps of two samples with three classes; the first class is the blank.
	ctc := func(r string) func(a, b T) T {
		return func(a, b T) T {
			x := tensor.Cat(0, a, b, a.Mul(b), a.Add(b)).Reshape(4, 2, 3).LogSoftmax(-1)
			long := func(n ...int) T { return tensor.FromInts(n) }
			return nn.CTCLoss(x, long(1, 1, 2), long(4, 3), long(2, 1), nn.Reduction(r)).Sum()
		}
	}
	cases = append(cases, []derivative{
		{"ctc_loss", ctc("mean")},
		{"ctc_loss, each", ctc("none")},
	}...)
}

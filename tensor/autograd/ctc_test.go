package autograd_test

import "halfnote/tensor"

func init() {
	type T = *tensor.Tensor
	// Four steps of two samples with three classes; the first class is the blank.
	ctc := func(r tensor.Reduction) func(a, b T) T {
		return func(a, b T) T {
			x := tensor.Cat(0, a, b, a.Mul(b), a.Add(b)).Reshape(4, 2, 3).LogSoftmax(-1)
			long := func(n ...int) T { return tensor.FromInts(n) }
			return x.CTCLoss(long(1, 1, 2), long(4, 3), long(2, 1), tensor.LossOptions{Reduction: r}).Sum()
		}
	}
	cases = append(cases, []derivative{
		{"ctc_loss", ctc(tensor.ReduceMean)},
		{"ctc_loss, each", ctc(tensor.ReduceNone)},
	}...)
}

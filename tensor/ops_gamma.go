package tensor

import (
	"halfnote/tensor/driver"
	"halfnote/tensor/internal/elementary"
)

// The gamma functions have no kernels: they are computed on the CPU, in float64, and rounded
// once.

type lgamma struct{}

func (lgamma) Info() Info                   { return info("lgamma", "torch.lgamma", SavesOperands) }
func (lgamma) real()                        {}
func (lgamma) Forward(in []*Tensor) *Tensor { return eachElement(in[0], elementary.Lgamma) }
func (lgamma) VJP(dy, _ *Tensor, in []*Tensor) []*Tensor {
	return widely(dy, in[0], func(dy, x *Tensor) *Tensor { return dy.Mul(x.Digamma()) })
}

// Lgamma returns the logarithm of the absolute value of the gamma function, +Inf at 0 and
// the negative whole numbers. It is torch.lgamma.
func (t *Tensor) Lgamma() *Tensor { return apply(lgamma{}, t) }

type digamma struct{}

func (digamma) Info() Info                   { return info("digamma", "torch.digamma", SavesOperands) }
func (digamma) real()                        {}
func (digamma) Forward(in []*Tensor) *Tensor { return eachElement(in[0], elementary.Digamma) }
func (digamma) VJP(dy, _ *Tensor, in []*Tensor) []*Tensor {
	return widely(dy, in[0], func(dy, x *Tensor) *Tensor { return dy.Mul(x.Polygamma(1)) })
}

// Digamma returns the derivative of Lgamma: NaN at the negative whole numbers, -Inf at 0,
// and +Inf at -0. It is torch.digamma.
func (t *Tensor) Digamma() *Tensor { return apply(digamma{}, t) }

type polygamma struct{ n int }

func (polygamma) Info() Info { return info("polygamma", "torch.polygamma", SavesOperands) }
func (polygamma) real()      {}
func (p polygamma) Forward(in []*Tensor) *Tensor {
	return eachElement(in[0], func(x float64) float64 { return elementary.Polygamma(p.n, x) })
}
func (p polygamma) VJP(dy, _ *Tensor, in []*Tensor) []*Tensor {
	return widely(dy, in[0], func(dy, x *Tensor) *Tensor { return dy.Mul(apply(polygamma{p.n + 1}, x)) })
}

// Polygamma returns the n-th derivative of Digamma. For n = 0 it is Digamma itself; for other
// n it is infinite at 0 and the negative whole numbers. It panics unless n is 0 to 170, the
// largest number whose factorial is finite. It is torch.polygamma.
func (t *Tensor) Polygamma(n int) *Tensor {
	if n < 0 || n > 170 {
		fail("polygamma", []*Tensor{t.given("polygamma")}, "n is %d; want 0 to 170, the largest number whose factorial is finite", n)
	}
	return apply(polygamma{n}, t)
}

// eachElement returns f applied to each element of x, in x's dtype.
func eachElement(x *Tensor, f func(float64) float64) *Tensor {
	values := convert(x, Float64).Float64s()
	for i, v := range values {
		if i&(1<<10-1) == 0 { // a call can take a microsecond
			driver.Poll()
		}
		values[i] = f(v)
	}
	y := newTensor(x.mem.backend, Float64, x.shape)
	return narrow(y.setFloat64s(values), x.dtype)
}

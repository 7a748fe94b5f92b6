package amp_test

import (
	"math"
	"testing"

	"halfnote/amp"
	"halfnote/tensor"
	"halfnote/tensor/quant"
)

// summed returns the sum of products by a plain loop.
func summed(x, w []float32, a amp.Accumulation) float32 {
	round := func(v float32) float32 {
		if a.DType == tensor.Float32 {
			return v
		}
		return float32(tensor.Scalar(float64(v)).To(a.DType).Item())
	}
	block := a.Block
	if block == 0 {
		block = len(x)
	}
	total := float32(0)
	for first := 0; first < len(x); first += block {
		sum := float32(0)
		for i := first; i < min(first+block, len(x)); i++ {
			k := i
			if a.Reverse {
				k = len(x) - 1 - i
			}
			p := x[k] * w[k]
			sum = round(sum + p)
		}
		if block == len(x) {
			return sum
		}
		total += sum
	}
	return total
}

// Sums of linear layers, forward and in both gradients, have the bits of a plain loop in the given dtype and order.
func TestAccumulate(t *testing.T) {
	tensor.ManualSeed(1)
	const rows, in, out = 5, 37, 3
	for _, a := range []amp.Accumulation{{DType: tensor.Float32}, {DType: tensor.Float32, Reverse: true}, {DType: tensor.BFloat16}, {DType: tensor.Float16, Block: 8}, {DType: tensor.BFloat16, Block: 5, Reverse: true}} {
		x, w := tensor.Randn(rows, in).BFloat16().Float().RequireGrad(), tensor.Randn(out, in).BFloat16().Float().RequireGrad()
		dy := tensor.Randn(rows, out).BFloat16()
		var y *tensor.Tensor
		amp.Autocast(amp.BFloat16.Accumulate(a), func() { y = tensor.Linear(x, w, nil) })
		y.BackwardWith(tensor.BackwardOptions{Gradient: dy})
		bf16 := func(v float32) float64 { return tensor.Scalar(float64(v)).BFloat16().Item() }
		column := func(m *tensor.Tensor, j int) []float32 {
			return m.Detach().Float().Slice(1, j, j+1).Reshape(-1).Float32s()
		}
		row := func(m *tensor.Tensor, i int) []float32 {
			return m.Detach().Float().Slice(0, i, i+1).Reshape(-1).Float32s()
		}
		for i := range rows {
			for j := range out {
				if got, want := y.Detach().At(i, j), bf16(summed(row(x, i), row(w, j), a)); got != want {
					t.Fatalf("%v: y[%d, %d] is %v, want %v", a, i, j, got, want)
				}
			}
			for j := range in {
				if got, want := x.Grad().At(i, j), float64(summed(row(dy, i), column(w, j), a)); got != want {
					t.Fatalf("%v: dx[%d, %d] is %v, want %v", a, i, j, got, want)
				}
			}
		}
		for i := range out {
			for j := range in {
				if got, want := w.Grad().At(i, j), float64(summed(column(dy, i), column(x, j), a)); got != want {
					t.Fatalf("%v: dw[%d, %d] is %v, want %v", a, i, j, got, want)
				}
			}
		}
	}
}

// Off sums float32 operands, and a recipe keeps its formats.
func TestAccumulatePolicies(t *testing.T) {
	tensor.ManualSeed(2)
	x, w := tensor.Randn(4, 64), tensor.Randn(8, 64)
	under := func(p amp.Policy) (y *tensor.Tensor) {
		amp.Autocast(p, func() { y = tensor.Linear(x, w, nil) })
		return y
	}
	if y := under(amp.Off.Accumulate(amp.Accumulation{})); y.DType() != tensor.Float32 || !tensor.AllClose(y, under(amp.Off), 1e-5, 1e-5) {
		t.Errorf("float32: %v", y)
	}
	if y := under(amp.MXFP8().Accumulate(amp.Accumulation{})); y.DType() != tensor.BFloat16 || !tensor.AllClose(y.Float(), under(amp.MXFP8()).Float(), 1e-2, 1e-2) {
		t.Errorf("MXFP8: %v", y)
	}
	// A running sum in bfloat16 that is rounded to nearest stays at 256; stochastic rounding goes on.
	x, w = tensor.Ones(1, 1024), tensor.Ones(1, 1024)
	stuck := under(amp.BFloat16.Accumulate(amp.Accumulation{DType: tensor.BFloat16})).Item()
	moving := under(amp.BFloat16.Accumulate(amp.Accumulation{DType: tensor.BFloat16, Rounding: quant.Stochastic(1)})).Item()
	if stuck != 256 || math.Abs(moving-1024) > 150 {
		t.Errorf("1024 ones: %v to nearest, want 256; %v stochastically, want about 1024", stuck, moving)
	}
	if got, want := amp.BFloat16.Accumulate(amp.Accumulation{Block: 8}).String(), "amp.BFloat16.Accumulate(amp.Accumulation{DType: tensor.Float32, Block: 8})"; got != want {
		t.Errorf("got %s, want %s", got, want)
	}
	for _, wrong := range []func(){
		func() { amp.Off.Accumulate(amp.Accumulation{DType: tensor.Int64}) },
		func() { amp.Off.Accumulate(amp.Accumulation{Block: -1}) },
		func() { amp.BFloat16.QAT(nil, quant.MXFP4).Accumulate(amp.Accumulation{}) },
		func() { amp.BFloat16.Accumulate(amp.Accumulation{}).QAT(nil, quant.MXFP4) },
	} {
		func() {
			defer func() {
				if _, ok := recover().(*amp.Error); !ok {
					t.Error("a wrong call does not panic with an amp.Error")
				}
			}()
			wrong()
		}()
	}
}

// The name of a policy without parts of its recipe is the code that makes it.
func TestNVFP4With(t *testing.T) {
	if got := amp.NVFP4With(amp.NVFP4Options{}); got != amp.NVFP4() {
		t.Errorf("without options it is %v", got)
	}
	p := amp.NVFP4With(amp.NVFP4Options{DisableRHT: true, DisableStochasticRounding: true})
	if got, want := p.String(), "amp.NVFP4With(amp.NVFP4Options{DisableRHT: true, DisableStochasticRounding: true})"; got != want {
		t.Errorf("got %s, want %s", got, want)
	}
	grad := func(seed int64) *tensor.Tensor {
		tensor.ManualSeed(1)
		x, w := tensor.Randn(32, 32), tensor.Randn(32, 32).RequireGrad()
		dy := tensor.Randn(32, 32).BFloat16()
		tensor.ManualSeed(seed)
		var y *tensor.Tensor
		amp.Autocast(p, func() { y = tensor.Linear(x, w, nil) })
		y.BackwardWith(tensor.BackwardOptions{Gradient: dy})
		return w.Grad()
	}
	if !tensor.Equal(grad(1), grad(2)) {
		t.Error("gradients without stochastic rounding depend on the generator")
	}
}

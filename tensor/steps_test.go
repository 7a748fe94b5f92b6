package tensor

import (
	"slices"
	"testing"

	"halfnote/internal/plumbing"
)

// TestSGDComposed checks that the kernel of a step and its composition from other kernels give the same bits.
func TestSGDComposed(t *testing.T) {
	for _, d := range []DType{Float32, Float64, Float16, BFloat16} {
		for _, s := range []plumbing.SGDSettings[*Tensor]{
			{Rate: 0.1}, {Rate: 0.1, Decay: 0.03}, {Rate: 0.1, Momentum: 0.9}, {Rate: 0.1, Momentum: 0.9, Decay: 0.03, Dampening: 0.3},
			{Rate: 0.1, Momentum: 0.9, Dampening: 0.3, First: true}, {Rate: 0.1, Momentum: 0.9, Nesterov: true, Decay: 0.03},
			{Rate: 0.1, Momentum: 0.9, Nesterov: true, First: true},
		} {
			p, g := Randn(3000).To(d), Randn(3000).To(d)
			var v, w *Tensor
			if s.Momentum != 0 {
				v = Randn(3000).To(d)
				w = v.Clone()
			}
			q := p.Clone()
			var steps stepList
			steps.SGD(p, g, v, s)
			steps.Run()
			composeSGD(q, g, w, s)
			if !slices.Equal(p.Bits(), q.Bits()) || v != nil && !slices.Equal(v.Bits(), w.Bits()) {
				t.Errorf("%v, %+v: the bits of the parameter or the velocity differ from the composed step's", d, s)
			}
		}
	}
}

// TestStepsInOrder checks that dependent steps run in order and independent steps in one batch.
func TestStepsInOrder(t *testing.T) {
	step := func(list ...[2]*Tensor) {
		var steps stepList
		for _, pg := range list {
			steps.SGD(pg[0], pg[1], nil, plumbing.SGDSettings[*Tensor]{Rate: 1})
		}
		steps.Run()
	}
	p, q := Zeros(40000), Zeros(40000)
	one := Ones(40000)
	part := p.Narrow(0, 0, 10)
	step([2]*Tensor{p, one}, [2]*Tensor{part, part}, [2]*Tensor{q, p}, [2]*Tensor{p, one})
	for _, c := range []struct {
		x    *Tensor
		at   int
		want float64
	}{
		{p, 0, -1}, {p, 39999, -2}, {q, 0, 0}, {q, 39999, 1},
	} {
		if got := c.x.At(c.at); got != c.want {
			t.Errorf("element %d: got %v, want %v", c.at, got, c.want)
		}
	}
}

// TestStepsObserved checks that observers receive each step after all pending steps have run.
func TestStepsObserved(t *testing.T) {
	p, q, g := Zeros(2), Zeros(3), Ones(2)
	var seen []float64
	stop := Observe(func(e Event) {
		if e.Op.Name == "sgd" {
			seen = append(seen, p.At(0), q.At(0))
		}
	})
	defer stop()
	var steps stepList
	steps.SGD(p, g, nil, plumbing.SGDSettings[*Tensor]{Rate: 1})
	steps.SGD(q, Ones(3), nil, plumbing.SGDSettings[*Tensor]{Rate: 1})
	steps.Run()
	if want := []float64{-1, -1, -1, -1}; !slices.Equal(seen, want) {
		t.Errorf("parameters when the steps were observed: got %v, want %v", seen, want)
	}
}

package bench

import (
	"fmt"
	"runtime"
	"sync"

	"halfnote/cuda"
	"halfnote/tensor"
)

// job does its work n times, and returns the losses of training steps.
type job func(n int) []float64

// prepare returns the job that a spec describes. It panics if the spec is invalid.
func prepare(s Spec) job {
	switch s.DType {
	case "tf32":
		s.DType = "float32"
		work := prepare(s)
		return func(n int) []float64 {
			cuda.AllowTF32(true)
			defer cuda.AllowTF32(false)
			return work(n)
		}
	case highFloat32:
		s.DType = "float32"
		work := prepare(s)
		return func(n int) []float64 {
			tensor.SetFloat32MatmulPrecision("high")
			defer tensor.SetFloat32MatmulPrecision("highest")
			return work(n)
		}
	}
	switch s.Work {
	case "gemm":
		return repeat(product(s))
	case "copy":
		return repeat(copying(s.Shape[0]))
	case "tape":
		return repeat(chain(s.Op))
	case "op":
		return repeat(operation(s))
	case "format":
		return repeat(format(s))
	}
	train, ok := trainers[s.Work]
	if !ok {
		panic(&tensor.Error{Op: "bench", Why: fmt.Sprintf("unknown work %q", s.Work)})
	}
	t := train(s.Shape, s.DType)
	if s.Graph {
		return graphed(t)
	}
	return func(n int) (losses []float64) {
		var unread []*tensor.Tensor
		for range n {
			unread = append(unread, t.step())
		}
		for _, loss := range unread {
			losses = append(losses, loss.Item())
		}
		return losses
	}
}

// graphed returns a job of training steps. The second and later ones run as a captured graph.
// It returns only the first losses, because reading each would synchronise with the device.
func graphed(t *trainer) job {
	const few = 4
	var g *cuda.Graph
	var loss *tensor.Tensor
	seen := 0
	return func(n int) (losses []float64) {
		for range n {
			if g == nil {
				losses = append(losses, t.step().Item())
				var err error
				if g, err = cuda.Capture(func() { loss = t.step() }); err != nil {
					panic(&tensor.Error{Op: "bench", Why: err.Error()})
				}
				continue
			}
			g.Replay()
			if seen++; seen < few {
				losses = append(losses, loss.Item())
			}
		}
		return losses
	}
}

func repeat(f func()) job {
	return func(n int) []float64 {
		for range n {
			f()
		}
		return nil
	}
}

// dtype returns the type of that name.
func dtype(name string) tensor.DType {
	for _, d := range tensor.DTypes() {
		if d.String() == name {
			return d
		}
	}
	panic(&tensor.Error{Op: "bench", Why: fmt.Sprintf("unknown dtype %q", name)})
}

// product returns a function that multiplies (m, k) by (k, n), or batches of them. The spec's
// Op states which operand is stored transposed.
func product(s Spec) func() {
	batch, last := s.Shape[:len(s.Shape)-3], s.Shape[len(s.Shape)-3:]
	operand := func(rows, columns int, transposed bool) *tensor.Tensor {
		if transposed {
			return operandOf(batch, columns, rows, s.DType).Transpose(-1, -2)
		}
		return operandOf(batch, rows, columns, s.DType)
	}
	m, n, k := last[0], last[1], last[2]
	x, y := operand(m, k, s.Op[0] == 'T'), operand(k, n, s.Op[1] == 'T')
	return drop(func() *tensor.Tensor { return x.MatMul(y) })
}

func operandOf(batch []int, rows, columns int, d string) *tensor.Tensor {
	return tensor.Randn(append(append([]int{}, batch...), rows, columns)...).To(dtype(d))
}

// copying returns a function that copies one half of the counted bytes to the other half with
// Go's copy, one part per processor.
func copying(counted int) func() {
	src, dst := make([]byte, counted/2), make([]byte, counted/2)
	for i := range src {
		src[i], dst[i] = 1, 2 // the first write gives each slice its own pages
	}
	parts := runtime.GOMAXPROCS(0)
	return func() {
		if parts == 1 {
			copy(dst, src)
			return
		}
		var wait sync.WaitGroup
		for p := range parts {
			from, to := p*len(src)/parts, (p+1)*len(src)/parts
			wait.Go(func() { copy(dst[from:to], src[from:to]) })
		}
		wait.Wait()
	}
}

// chainLength is the number of operations in a run of "tape".
const chainLength = 30

// chain returns a function that runs operations on a few numbers: mul, add, relu and so on.
// how is "plain" for no tape, "forward" for recording on a tape, or "backward" for both passes.
func chain(how string) func() {
	x, w, b := tensor.Randn(16), tensor.Randn(16), tensor.Randn(16)
	if how != "plain" {
		w.RequireGrad()
		b.RequireGrad()
	}
	ones := tensor.Ones(16)
	return func() {
		y := x
		for range chainLength / 3 {
			y = y.Mul(w).Add(b).ReLU()
		}
		if how == "backward" {
			y.BackwardWith(tensor.BackwardOptions{Gradient: ones})
			w.SetGrad(nil)
			b.SetGrad(nil)
		}
	}
}

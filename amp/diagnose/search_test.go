package diagnose

import (
	"fmt"
	"math"
	"math/bits"
	"math/rand/v2"
	"strings"
	"testing"

	"halfnote/amp"
	"halfnote/tensor"
	"halfnote/tensor/nn"
)

// smallestOf returns the size of the smallest subset of n items within the budget. It tries all subsets.
func smallestOf(n int, budget float64, err func(in []bool) float64) int {
	least := -1
	for set := range 1 << n {
		in := make([]bool, n)
		for i := range in {
			in[i] = set>>i&1 == 1
		}
		if k := bits.OnesCount(uint(set)); err(in) <= budget && (least < 0 || k < least) {
			least = k
		}
	}
	return least
}

// TestMinimal compares the search with one through all subsets, for errors that are sums, errors that need
// several items at once, and random errors.
func TestMinimal(t *testing.T) {
	for seed := range uint64(60) {
		r := rand.New(rand.NewPCG(seed, 8))
		const n = 8
		weights, anything := make([]float64, n), make([]float64, 1<<n)
		for i := range weights {
			weights[i] = r.Float64()
		}
		for i := range anything {
			anything[i] = r.Float64()
		}
		anything[1<<n-1] = 0
		a, b, c := r.IntN(n), r.IntN(n), r.IntN(n)
		for name, err := range map[string]func(in []bool) float64{
			"sum": func(in []bool) (e float64) {
				for i, w := range weights {
					if !in[i] {
						e += w / n
					}
				}
				return e
			},
			"together": func(in []bool) float64 {
				if in[a] && in[b] && in[c] {
					return 0
				}
				return 1
			},
			"anything": func(in []bool) float64 {
				at := 0
				for i, b := range in {
					if b {
						at |= 1 << i
					}
				}
				return anything[at]
			},
		} {
			for _, budget := range []float64{0.02, 0.1, 0.3} {
				for _, most := range []int{0, 1000} {
					m := &minimal{n: n, try: func(in []bool) trial { return trial{err(in), 0} }, budget: budget, most: most, known: map[string]trial{}}
					in, smallest := m.find()
					want := smallestOf(n, budget, err)
					if in == nil || !m.holds(in) || sizeOf(in) < want || smallest && sizeOf(in) != want || most > 0 && !smallest {
						t.Errorf("seed %d, %s, budget %v, most %d: got %v, smallest %v, want %d of them", seed, name, budget, most, in, smallest, want)
					}
					for i := range in {
						less := append([]bool{}, in...)
						if less[i] = false; in[i] && m.holds(less) {
							t.Errorf("seed %d, %s: item %d can be removed from %v", seed, name, i, in)
						}
					}
				}
			}
		}
	}
	never := &minimal{n: 3, try: func([]bool) trial { return trial{err: 1} }, known: map[string]trial{}}
	if in, _ := never.find(); in != nil {
		t.Errorf("unreachable budget: got %v", in)
	}
}

// block is a layer followed by an operation that fails only for large values.
type block struct {
	fc   *nn.Linear
	then func(x *tensor.Tensor) *tensor.Tensor
}

func (b *block) Forward(x *tensor.Tensor) *tensor.Tensor {
	return x.Add(b.then(b.fc.Forward(x).Tanh()))
}

// culprits are operations whose float16 result is wrong for certain values; the operations after them
// restore the range.
var culprits = []struct {
	op   string
	then func(large float64) func(x *tensor.Tensor) *tensor.Tensor
}{
	{"mul", func(large float64) func(x *tensor.Tensor) *tensor.Tensor {
		return func(x *tensor.Tensor) *tensor.Tensor { // more than 65504
			y := x.MulScalar(large)
			return y.Mul(y).Sqrt().MulScalar(1 / large)
		}
	}},
	{"div", func(large float64) func(x *tensor.Tensor) *tensor.Tensor {
		return func(x *tensor.Tensor) *tensor.Tensor { // less than 2^-25
			tiny := tensor.Full(1 / large).To(x.DType())
			return tiny.Div(x.Mul(x).AddScalar(large)).Sqrt().MulScalar(large)
		}
	}},
}

func TestSearchPlanted(t *testing.T) {
	for seed := range int64(6) {
		r := rand.New(rand.NewPCG(uint64(seed), 9))
		c := culprits[r.IntN(len(culprits))]
		tensor.ManualSeed(seed)
		net := nn.NewSequential()
		at := r.IntN(4)
		for i := range 4 {
			large := 1.0
			if i == at {
				large = 8192
			}
			net.Append(&block{nn.NewLinear(6, 6), c.then(large)})
		}
		x, y := tensor.Randn(16, 6), tensor.Randn(16, 6)
		step := func() (loss *tensor.Tensor) {
			amp.Autocast(amp.Float16, func() { loss = nn.MSELoss(net.Forward(x.Add(tensor.Randn(1).MulScalar(0.1))), y) })
			return loss
		}
		for _, modules := range []bool{false, true} {
			res := MinimalFP32Set(net, step, PrecisionSetOptions{Modules: modules, Budget: 0.02})
			want := c.op
			code := fmt.Sprintf("amp.Float16.With(%q, amp.FP32)", c.op)
			if modules {
				want += fmt.Sprintf(" in %d", at)
				code = fmt.Sprintf("amp.Float16.WithIn(\"%d\", %q, amp.FP32)", at, c.op)
			}
			if got := fmt.Sprint(res.Ops); got != "["+want+"]" || !res.Found || !res.Smallest || res.Code != code || res.Before <= 0.02 || res.After > 0.02 {
				t.Errorf("seed %d: got %s, want %s:\n%v\n%v", seed, got, want, res, res.Table())
			}
		}
	}
}

// TestSearchAllSubsets compares the search with every set of operations, in a net that needs two operations
// in float32 at once.
func TestSearchAllSubsets(t *testing.T) {
	tensor.ManualSeed(5)
	net, w, x := nn.NewLinear(4, 4), tensor.Randn(4, 4), tensor.Randn(8, 4)
	step := func() (y *tensor.Tensor) {
		amp.Autocast(amp.Float16, func() {
			a := x.MatMul(w).MulScalar(5000)
			b := net.Forward(x).Tanh().AddScalar(2)
			b = tensor.Full(1. / 8192).To(b.DType()).Div(b).Div(tensor.Full(8192).To(b.DType()))
			y = a.Mul(a).Sqrt().MulScalar(1. / 5000).Add(b.MulScalar(1 << 26))
		})
		return y
	}
	res := MinimalFP32Set(net, step, PrecisionSetOptions{Budget: 0.004})
	if n := len(res.Candidates); n < 6 || n > 10 {
		t.Fatalf("got %d candidates: %v", n, res.Candidates)
	}
	off := func(p amp.Policy) amp.Policy { return p.Enabled(false) }
	var want []float64
	amp.OverridePolicy(off, func() { want = step().Float64s() })
	least := smallestOf(len(res.Candidates), 0.004, func(in []bool) float64 {
		p := amp.Float16
		for i, c := range res.Candidates {
			if in[i] {
				p = p.With(c.Op, amp.FP32)
			}
		}
		var got []float64
		amp.OverridePolicy(func(amp.Policy) amp.Policy { return p }, func() { got = step().Float64s() })
		off, all := 0., 0.
		for i := range got {
			off, all = off+(got[i]-want[i])*(got[i]-want[i]), all+want[i]*want[i]
		}
		if off-off != 0 {
			return math.Inf(1)
		}
		return math.Sqrt(off / all)
	})
	if !res.Found || !res.Smallest || len(res.Ops) != least || least != 2 || res.Code != `amp.Float16.With("div", amp.FP32).With("mul", amp.FP32)` {
		t.Errorf("want %d operations, got %v\n%v", least, res, res.Table())
	}
}

// TestMaximalFP16Set checks a step with several operations on torch's float32 list of which only a sum of
// large numbers needs float32.
func TestMaximalFP16Set(t *testing.T) {
	tensor.ManualSeed(6)
	fc := nn.NewLinear(8, 8)
	x := tensor.Randn(512, 8).Abs()
	step := func() (y *tensor.Tensor) {
		amp.Autocast(amp.Float16, func() {
			y = fc.Forward(x).Softmax(1).Exp().Log().MulScalar(1000).Sum()
		})
		return y
	}
	res := MaximalFP16Set(fc, step, PrecisionSetOptions{Budget: 0.01})
	var names []string
	for _, op := range res.Ops {
		names = append(names, op.Op)
	}
	if got := strings.Join(names, " "); !res.Found || !res.Smallest || got != "softmax exp log mul_scalar" {
		t.Errorf("got %s: %v\n%v", got, res, res.Table())
	}
	var y *tensor.Tensor
	amp.OverridePolicy(func(amp.Policy) amp.Policy { return res.Policy }, func() { y = step() })
	if v := y.Item(); math.Abs(v-512000) > 5120 || y.DType() != tensor.Float32 {
		t.Errorf("sum under %s: got %v", res.Code, y)
	}
}

// TestSearchGradients plants an operation whose result is accurate in float16 and whose gradient is not. It
// also checks that the search changes no state.
func TestSearchGradients(t *testing.T) {
	for seed := range int64(3) {
		r := rand.New(rand.NewPCG(uint64(seed), 10))
		tensor.ManualSeed(seed)
		at := r.IntN(3)
		net := nn.NewSequential()
		for i := range 3 {
			small := 1.0
			if i == at { // values at which the derivative of the root is large
				small = 1e-3
			}
			net.Append(&block{nn.NewLinear(6, 6), func(x *tensor.Tensor) *tensor.Tensor {
				return x.Mul(x).AddScalar(0.1).MulScalar(small).Sqrt().MulScalar(1 / math.Sqrt(small))
			}})
		}
		x, y := tensor.Randn(16, 6), tensor.Randn(16, 6)
		nn.Parameters(net)[0].SetGrad(tensor.Ones(6, 6))
		before := fmt.Sprint(tensor.DefaultGenerator().State().Bits(), nn.Parameters(net)[1].Bits())
		step := func() (loss *tensor.Tensor) {
			amp.Autocast(amp.Float16, func() {
				loss = nn.MSELoss(net.Forward(nn.NewDropout(0.1).Forward(x)), y)
			})
			return loss
		}
		res := MinimalFP32Set(net, step, PrecisionSetOptions{Modules: true, Gradients: true, Budget: 0.05})
		if got, want := fmt.Sprint(res.Ops), fmt.Sprintf("[mul_scalar in %d]", at); got != want || !math.IsInf(res.Before, 1) {
			t.Errorf("seed %d: got %s, want %s: %v\n%v", seed, got, want, res, res.Table())
		}
		if loss := MinimalFP32Set(net, step, PrecisionSetOptions{Modules: true}); len(loss.Ops) != 0 || !loss.Found {
			t.Errorf("seed %d: comparing only the loss: got %v", seed, loss)
		}
		after := fmt.Sprint(tensor.DefaultGenerator().State().Bits(), nn.Parameters(net)[1].Bits())
		if g := nn.Parameters(net)[0].Grad(); before != after || g == nil || g.Sum().Item() != 36 || nn.Parameters(net)[1].Grad() != nil {
			t.Errorf("seed %d: the search changed the state", seed)
		}
	}
}

func TestSearchErrors(t *testing.T) {
	fc := nn.NewLinear(4, 4)
	x := tensor.Randn(2, 4)
	g := tensor.NewGenerator(1)
	half := func(f func() *tensor.Tensor) func() *tensor.Tensor {
		return func() (y *tensor.Tensor) {
			amp.Autocast(amp.Float16, func() { y = f() })
			return y
		}
	}
	for _, c := range []struct {
		step func() *tensor.Tensor
		want string
	}{
		{func() *tensor.Tensor { return fc.Forward(x) }, "amp: MinimalFP32Set: the step opens no region that casts; run its forward pass and loss in amp.Autocast(amp.Float16, …)"},
		{half(func() *tensor.Tensor { return fc.Forward(x).MulScalar(math.Inf(1)) }), "amp: MinimalFP32Set: the step in float32 gives infinite or NaN values"},
		{half(func() *tensor.Tensor { return fc.Forward(g.Randn(2, 4)) }), "amp: MinimalFP32Set: two runs of the step in float32 differ by "},
	} {
		func() {
			defer func() {
				if p := fmt.Sprint(recover()); !strings.HasPrefix(p, c.want) {
					t.Errorf("got %q, want %q", p, c.want)
				}
			}()
			MinimalFP32Set(fc, c.step, PrecisionSetOptions{})
		}()
	}
	if res := MinimalFP32Set(fc, half(func() *tensor.Tensor { return fc.Forward(g.Randn(2, 4)) }), PrecisionSetOptions{State: []any{g}}); !res.Found || len(res.Ops) != 0 || !strings.Contains(res.String(), "no operation has to be raised") {
		t.Errorf("with the generator in State: got %v", res)
	}
	own := half(func() *tensor.Tensor {
		if y := fc.Forward(x); amp.Active().IsEnabled() {
			return y.MulScalar(1e6).Half().Float() // an explicit cast, which no policy controls
		} else {
			return y.MulScalar(1e6)
		}
	})
	if res := MinimalFP32Set(fc, own, PrecisionSetOptions{}); res.Found || res.Ops != nil || !strings.Contains(res.String(), "the error comes from elsewhere") || !math.IsInf(res.After, 1) {
		t.Errorf("with an explicit cast: got %v", res)
	}
}

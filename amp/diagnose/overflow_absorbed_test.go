package diagnose_test

import (
	"math"
	"slices"
	"strings"
	"sync"
	"testing"

	"halfnote/amp"
	"halfnote/amp/diagnose"
	"halfnote/tensor"
	"halfnote/tensor/nn"
	"halfnote/tensor/optim"
)

// absorbers are ways to use the squares s of h, which exceed float16's range, so that no inf is left.
var absorbers = []struct {
	name string
	op   string // the operation that returns finite numbers
	use  func(h, s *tensor.Tensor) *tensor.Tensor
	same bool // the numbers are those that float32 would have
}{
	{"a root of mean squares by hand", "div", func(h, s *tensor.Tensor) *tensor.Tensor {
		return h.Div(s.Mean(-1).Unsqueeze(-1).AddScalar(1e-6).Sqrt())
	}, false},
	{"rsqrt", "rsqrt", func(h, s *tensor.Tensor) *tensor.Tensor { return h.Mul(s.Mean(-1).Unsqueeze(-1).Rsqrt()) }, false},
	{"reciprocal", "reciprocal", func(h, s *tensor.Tensor) *tensor.Tensor {
		return h.Mul(s.Mean(-1).Unsqueeze(-1).Sqrt().Reciprocal())
	}, false},
	{"nan_to_num", "nan_to_num", func(h, s *tensor.Tensor) *tensor.Tensor {
		return h.Div(s.NanToNum().Sqrt().Amax(-1).Unsqueeze(-1))
	}, false},
	{"isinf and where", "eq", func(h, s *tensor.Tensor) *tensor.Tensor {
		return h.Div(s.IsInf().Where(tensor.Ones(1).Half(), s).Sqrt())
	}, false},
	{"a comparison", "gt", func(h, s *tensor.Tensor) *tensor.Tensor {
		return h.DivScalar(300).MaskedFill(s.GtScalar(1e9), 0)
	}, false},
	{"an upper bound", "clamp", func(h, s *tensor.Tensor) *tensor.Tensor { return s.Clamp(0, 30000).DivScalar(10000) }, true},
	{"minimum", "minimum", func(h, s *tensor.Tensor) *tensor.Tensor {
		return s.Minimum(tensor.Full(30000, 1).Half()).DivScalar(10000)
	}, true},
	{"tanh", "tanh", func(h, s *tensor.Tensor) *tensor.Tensor { return s.Tanh() }, true},
	{"sigmoid", "sigmoid", func(h, s *tensor.Tensor) *tensor.Tensor { return s.Sigmoid() }, true},
	{"exp of -inf", "exp", func(h, s *tensor.Tensor) *tensor.Tensor { return s.Neg().Exp().Add(h.DivScalar(300)) }, true},
	{"1/inf next to larger numbers", "reciprocal", func(h, s *tensor.Tensor) *tensor.Tensor {
		return s.AddScalar(1).Reciprocal().Add(h.DivScalar(300))
	}, true},
	{"a comparison that inf passes too", "gt", func(h, s *tensor.Tensor) *tensor.Tensor {
		return h.DivScalar(300).MaskedFill(s.GtScalar(60000), 0)
	}, true},
}

// absorbing returns a ward in which a module squares numbers of some hundreds, and uses the squares without leaving an inf. In float32 if
// wide is set.
func absorbing(seed int64, use func(h, s *tensor.Tensor) *tensor.Tensor, wide bool) *ward {
	tensor.ManualSeed(seed)
	w := mlpWard()
	tensor.NoGrad(func() {
		w.param("8.weight").MulScalarAssign(4)
		w.param("0.weight").MulScalarAssign(30)
	})
	w.put("8", func(x *tensor.Tensor) *tensor.Tensor {
		h := x.MulScalar(100).AddScalar(400)
		if !wide {
			h = h.Half()
		}
		return use(h, h.Mul(h))
	})
	if wide {
		w.policy = amp.BFloat16 // has float32's range
	}
	return w.ready()
}

// TestOverflowAbsorbers checks that an overflow is the culprit if the finite numbers that an operation returns for its inf change the loss,
// and that the report names both operations and the loss of a run without the overflow; and that an inf that changes nothing is none.
func TestOverflowAbsorbers(t *testing.T) {
	for _, tt := range absorbers {
		for seed := range int64(3) {
			w := absorbing(seed, tt.use, false)
			var loss float64
			w.loss = func(out, y *tensor.Tensor) *tensor.Tensor {
				l := nn.MSELoss(out, y)
				loss = l.Item()
				return l
			}
			r := diagnose.Overflow(w.net, w.step)
			if len(r.Origins) == 0 || r.Origins[0].Op != "mul" || r.Origins[0].Module != "8.0" {
				t.Fatalf("%s: got %s", tt.name, r)
			}
			change := r.Origins[0].Change
			if !slices.ContainsFunc(change.Absorbed, func(p diagnose.Occurrence) bool { return p.Op == tt.op && p.Module == "8.0" }) {
				t.Errorf("%s: absorbed by %v, want %s\n%s", tt.name, change.Absorbed, tt.op, r)
			}
			if tt.same {
				if r.Culprit != nil || !strings.Contains(r.String(), "became finite numbers in "+tt.op) {
					t.Errorf("%s: want no culprit, got\n%s", tt.name, r)
				}
				continue
			}
			c := r.Culprit
			if c == nil || c.Cause != "square" || c.Loss {
				t.Errorf("%s: got\n%s", tt.name, r)
				continue
			}
			exact := absorbing(seed, tt.use, true)
			var want float64
			amp.Autocast(amp.Off, func() { want = nn.MSELoss(exact.net.Forward(exact.x), exact.y).Item() })
			if change.Loss != loss || math.Abs(change.Without-want) > 0.02*want {
				t.Errorf("%s: the report has the loss %v instead of %v, it is %v; in float32 it is %v", tt.name, change.Loss, change.Without, loss, want)
			}
			for _, text := range []string{r.String(), r.HTML()} {
				for _, want := range []string{"became finite numbers in " + tt.op, "without the overflow it would be", "compute it in float32"} {
					if !strings.Contains(text, want) {
						t.Errorf("%s: got a report without %q: %.600s", tt.name, want, text)
					}
				}
			}
		}
	}
}

// TestOverflowAbsorbedInGradients checks that an inf is the culprit that changes no loss, but all gradients before it: atan is flat at inf.
func TestOverflowAbsorbedInGradients(t *testing.T) {
	w := absorbing(1, func(h, s *tensor.Tensor) *tensor.Tensor { return s.Atan() }, false)
	c := diagnose.Overflow(w.net, w.step).Culprit
	if c == nil || c.Op != "mul" || !math.IsNaN(c.Change.Without) || slices.Contains(c.Change.Params, "8.1.weight") || !slices.Contains(c.Change.Params, "0.weight") {
		t.Errorf("got %+v", c)
	}
}

// TestGradientsAbsorbed checks that Gradients names both operations where numbers that stand for inf are wrong, and recommends no loss
// scale, and that it blames nothing where they are right.
func TestGradientsAbsorbed(t *testing.T) {
	for _, tt := range absorbers {
		w := absorbing(1, tt.use, false)
		w.scaler = amp.NewGradScaler(amp.InitScale(64))
		r := diagnose.Gradients(w.net, w.step)
		blamed := slices.ContainsFunc(r.Layers, func(l diagnose.LayerGradient) bool { return l.Outcome == diagnose.Absorbed })
		if tt.same {
			if blamed {
				t.Errorf("%s: got\n%s", tt.name, r)
			}
			continue
		}
		if tt.op == "eq" || strings.HasPrefix(tt.op, "gt") {
			continue // the result of that operation has no dtype that rounds
		}
		d := r.First
		if !blamed || d == nil || d.Outcome != diagnose.Absorbed || d.Op != tt.op || d.Inf.Op != "mul" || strings.Contains(r.String(), "GradScaler") {
			t.Errorf("%s: got\n%s", tt.name, r)
		}
	}
}

// TestDiagnosesAtOnce checks that diagnoses on two goroutines at the same time, of a right and of a wrong loop, each report their own
// findings and count their own steps.
func TestDiagnosesAtOnce(t *testing.T) {
	type bench struct {
		net    *nn.Linear
		opt    *optim.Optimizer
		scaler *amp.GradScaler
		x      *tensor.Tensor
	}
	step := func(b bench, right bool) func() {
		return func() {
			for range 4 {
				var loss *tensor.Tensor
				amp.Autocast(amp.Float16, func() { loss = b.net.Forward(b.x).Pow(2).Mean() })
				if right {
					b.opt.ZeroGrad()
				}
				b.scaler.Scale(loss).Backward()
				b.scaler.Step(b.opt)
				b.scaler.Update()
			}
		}
	}
	var wg sync.WaitGroup
	for i := range 6 {
		net := nn.NewLinear(64, 64)
		b := bench{net, optim.NewSGD(nn.Parameters(net), 0.01), amp.NewGradScaler(amp.InitScale(64)), tensor.Randn(64, 64)}
		wg.Go(func() {
			r := diagnose.Lint(net, step(b, i%2 == 0))
			if want := []string{"missing-zero-grad"}[:i%2]; !slices.Equal(r.Codes(), want) || r.Steps != 8 {
				t.Errorf("got findings %q and %d steps, want %q and 8", r.Codes(), r.Steps, want)
			}
			if o := diagnose.Overflow(net, step(b, true)); len(o.Steps) != 4 || o.Culprit != nil {
				t.Errorf("got %d steps: %s", len(o.Steps), o)
			}
			if g := diagnose.Gradients(net, step(b, true)); len(g.Layers) != 2 || g.Layers[1].Elements != 4*64 || g.Scale != 64 {
				t.Errorf("got %+v", g)
			}
		})
	}
	wg.Wait()
}

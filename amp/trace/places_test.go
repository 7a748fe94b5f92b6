package trace_test

import (
	"strings"
	"testing"

	"halfnote/amp"
	"halfnote/amp/trace"
	"halfnote/tensor"
	"halfnote/tensor/nn"
	"halfnote/tensor/optim"
)

// block is a user's module with a container inside.
type block struct {
	Body *nn.Sequential
	FC   *nn.Linear
}

func (b *block) Forward(x *tensor.Tensor) *tensor.Tensor { return b.FC.Forward(b.Body.Forward(x)) }

// twins is a user's model with parts of equal structure.
type twins struct{ Left, Right *block }

func (m *twins) Forward(x *tensor.Tensor) *tensor.Tensor {
	return m.Right.Forward(m.Left.Forward(x)).Tanh()
}

func newTwins() *twins {
	part := func() *block {
		return &block{nn.NewSequential(nn.NewLinear(4, 4), nn.NewReLU(), nn.NewSequential(nn.NewLinear(4, 4), nn.NewGELU())), nn.NewLinear(4, 4)}
	}
	return &twins{part(), part()}
}

// modules lists the operations of a phase with their modules.
func modules(rec *trace.Recorder, backward bool) string {
	var list []string
	for _, op := range rec.Ops() {
		if op.Backward == backward && !op.InPlace {
			list = append(list, op.Name+"@"+op.Module)
		}
	}
	return strings.Join(list, " ")
}

func TestNames(t *testing.T) {
	x := tensor.Randn(2, 4)
	for _, tt := range []struct {
		name  string
		net   nn.Module
		given []any
		want  string
	}{
		{"a struct in a struct", newTwins(), nil, "linear@left.body.0 relu@left.body.1 linear@left.body.2.0 gelu@left.body.2.1 linear@left.fc " +
			"linear@right.body.0 relu@right.body.1 linear@right.body.2.0 gelu@right.body.2.1 linear@right.fc tanh@"},
		{"a chain", nn.NewSequential(nn.NewLinear(4, 4), nn.NewReLU(), nn.NewSequential(nn.NewReLU())), nil, "linear@0 relu@1 relu@2.0"},
		{"a struct in a chain", nn.NewSequential(newTwins().Left, nn.NewReLU()), nil, "linear@0.body.0 relu@0.body.1 linear@0.body.2.0 gelu@0.body.2.1 linear@0.fc relu@1"},
		{"a chain that starts without parameters", &block{nn.NewSequential(nn.NewReLU(), nn.NewLinear(4, 4)), nn.NewLinear(4, 4)}, nil, "relu@body.0 linear@body.1 linear@fc"},
		{"without a model", nn.NewSequential(nn.NewLinear(4, 4), nn.NewReLU()), []any{}, "linear@0 relu@1"},
	} {
		if tt.given == nil {
			tt.given = []any{tt.net}
		}
		rec := trace.Start(trace.Models(tt.given...))
		amp.Autocast(amp.Float16, func() { tt.net.Forward(x) })
		rec.Stop()
		if got := modules(rec, false); got != tt.want {
			t.Errorf("%s: got\n%s\nwant\n%s", tt.name, got, tt.want)
		}
	}
}

// TestNamesBackward checks that operations of derivatives have the module of the operation that they
// differentiate, and that the cast of a parameter's gradient names the parameter.
func TestNamesBackward(t *testing.T) {
	net := newTwins()
	opt := optim.NewSGD(nn.Parameters(net), 0.1)
	rec := trace.Start(trace.Models(net))
	var loss *tensor.Tensor
	amp.Autocast(amp.Float16, func() { loss = net.Forward(tensor.Randn(2, 4)).Square().Mean() })
	loss.Backward()
	opt.Step()
	rec.Stop()
	for _, want := range []string{"matmul@right.fc matmul@right.fc sum@right.fc cast@right.fc cast@right.fc", " threshold_backward@left.body.1 "} {
		if got := modules(rec, true); !strings.Contains(got, want) {
			t.Errorf("got %s, want a text that contains %s", got, want)
		}
	}
	grads, changed := map[string]bool{}, map[string]bool{}
	for _, op := range rec.Ops() {
		if op.Backward && op.Name == "cast" && op.Param != "" {
			grads[op.Param] = true
		}
		if op.InPlace {
			changed[op.Param] = true
		}
	}
	for _, p := range nn.NamedParameters(net) {
		if !grads[p.Name] || !changed[p.Name] {
			t.Errorf("%s: got gradient seen %v and change seen %v, want both", p.Name, grads[p.Name], changed[p.Name])
		}
	}
}

func TestNamesWithSeveralModels(t *testing.T) {
	g, d := nn.NewSequential(nn.NewLinear(4, 4), nn.NewTanh()), nn.NewSequential(nn.NewLinear(4, 4), nn.NewReLU())
	rec := trace.Start(trace.Models(g, d))
	d.Forward(g.Forward(tensor.Ones(1, 4)))
	rec.Stop()
	if got, want := modules(rec, false), "linear@0.0 tanh@0.1 linear@1.0 relu@1.1"; got != want {
		t.Errorf("got %s, want %s", got, want)
	}
}

func TestSteps(t *testing.T) {
	for _, tt := range []struct {
		name   string
		passes int // number of backward passes in a step
		step   bool
		scaled bool
		want   int // number of steps in 6 passes
	}{
		{"backward only", 1, false, false, 6},
		{"an optimizer", 1, true, false, 6},
		{"a scaler", 1, true, true, 6},
		{"accumulation", 3, true, false, 2},
	} {
		net := nn.NewSequential(nn.NewLinear(4, 4), nn.NewLinear(4, 4))
		opt := optim.NewAdamW(nn.Parameters(net), 0.1, optim.Maximize()) // Maximize clones gradients
		scaler := amp.NewGradScaler(amp.ScalerEnabled(tt.scaled), amp.InitScale(0x1p126), amp.BackoffFactor(0.1))
		rec := trace.Start(trace.Models(net))
		for i := range 6 {
			scaler.Scale(net.Forward(tensor.Ones(2, 4)).Mean()).Backward()
			if (i+1)%tt.passes != 0 {
				continue
			}
			if tt.step {
				nn.ClipGradNorm(nn.Parameters(net), 1)
				if tt.scaled {
					scaler.Step(opt)
					scaler.Update()
				} else {
					opt.Step()
				}
			}
			opt.ZeroGrad()
		}
		rec.Stop()
		last, steps := 0, map[int]int{}
		for _, op := range rec.Ops() {
			if op.Step < last || op.Step > last+1 {
				t.Errorf("%s: got step %d after step %d", tt.name, op.Step, last)
			}
			last = op.Step
			if op.Name == "linear" {
				steps[op.Step]++
			}
		}
		for i := range tt.want {
			if steps[i] != 12/tt.want {
				t.Errorf("%s: got %d forward products in step %d, want %d: %v", tt.name, steps[i], i, 12/tt.want, steps)
			}
		}
	}
}

package diagnose_test

import (
	"math"
	"path/filepath"
	"strings"
	"testing"

	"halfnote/amp"
	"halfnote/amp/diagnose"
	"halfnote/amp/trace"
	"halfnote/tensor"
	"halfnote/tensor/nn"
	"halfnote/tensor/optim"
)

// variant is a training run that differs in one thing from another.
type variant struct {
	seed    int64
	policy  amp.Policy
	steps   int
	flip    bool    // whether the last bit of a weight differs
	rate    float64 // learning rate
	flipped bool    // whether the batch is summed from its end
}

func (v variant) record() *trace.Recorder {
	tensor.ManualSeed(3)
	net := nn.NewSequential(nn.NewLinear(6, 5), nn.NewTanh(), nn.NewLinear(5, 2))
	if v.flip {
		w := nn.Parameters(net)[2]
		bits := w.Detach().Clone()
		values := bits.Float64s()
		values[7] = float64(math.Float32frombits(math.Float32bits(float32(values[7])) ^ 1))
		tensor.NoGrad(func() { w.Assign(tensor.New(values, w.Shape()...)) })
	}
	tensor.ManualSeed(v.seed)
	x, y := tensor.Randn(30, 6), tensor.Randn(30, 2)
	opt := optim.NewSGD(nn.Parameters(net), v.rate)
	rec := trace.Start(trace.Models(net), trace.Hashes())
	defer rec.Stop()
	for range v.steps {
		opt.ZeroGrad()
		var loss *tensor.Tensor
		amp.Autocast(v.policy, func() {
			d := net.Forward(x).Sub(y).Square()
			if v.flipped {
				d = d.Flip(0)
			}
			loss = d.Sum(0).Sum(0)
		})
		loss.Backward()
		opt.Step()
	}
	return rec
}

func TestFirstDifference(t *testing.T) {
	usual := variant{seed: 1, policy: amp.Off, steps: 2, rate: 0.01}
	with := func(change func(*variant)) *trace.Recorder {
		v := usual
		change(&v)
		return v.record()
	}
	a := usual.record()
	for _, tt := range []struct {
		name string
		b    *trace.Recorder
		want string // beginning of the text
	}{
		{"the same", usual.record(), "no difference in"},
		{"seed", with(func(v *variant) { v.seed = 2 }), "operation 0, linear in module 0, step 0: operand 0 differs already: the first difference is from element [0, 0] to "},
		{"weight", with(func(v *variant) { v.flip = true }), "operation 2, linear in module 2, step 0: operand 1 differs already: element [1, 2] differs by "},
		{"dtypes", with(func(v *variant) { v.policy = amp.BFloat16 }), "operation 0, linear in module 0, step 0: computed in float32 with a result in float32 in the first recording, in bfloat16 with one in bfloat16 in the second"},
		{"order", with(func(v *variant) { v.flipped = true }), "operation 5, sum, step 0: sum in the first recording, flip in the second"},
		{"learning rate", with(func(v *variant) { v.rate = 0.02 }), "the optimizer"},
		{"steps", with(func(v *variant) { v.steps = 1 }), "the second recording has ended before"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			file := filepath.Join(t.TempDir(), "b.hnt")
			if err := tt.b.Save(file); err != nil {
				t.Fatal(err)
			}
			loaded, err := trace.Open(file)
			if err != nil {
				t.Fatal(err)
			}
			p, err := diagnose.FirstDifference(a, tt.b)
			if err != nil {
				t.Fatal(err)
			}
			q, err := diagnose.FirstDifference(a, loaded.Recorder)
			if err != nil || q.String() != p.String() {
				t.Errorf("from a file: got %v, %v, want %v", q, err, p)
			}
			back, err := diagnose.FirstDifference(tt.b, a)
			if err != nil || (back.Op < 0) != (p.Op < 0) || back.Op != p.Op {
				t.Errorf("the other way: got %v, %v, want operation %d", back, err, p.Op)
			}
			switch {
			case tt.name == "learning rate":
				if !p.A.InPlace || p.A.Step != 0 || !strings.Contains(p.Why, "equal operands, another result") {
					t.Errorf("got %v, want a step of the optimizer", p)
				}
			case tt.name == "steps":
				if p.Why != tt.want || p.A == nil || p.B != nil || p.A.Step != 1 {
					t.Errorf("got %v, want that the second one ends before step 1", p)
				}
			case !strings.HasPrefix(p.String(), tt.want):
				t.Errorf("got %v, want %v", p, tt.want)
			}
		})
	}
	plain := trace.Start()
	tensor.Ones(2).Exp()
	plain.Stop()
	if _, err := diagnose.FirstDifference(a, plain); err == nil || !strings.Contains(err.Error(), "recording 2 has no hash") {
		t.Errorf("without hashes: got %v", err)
	}
	if _, err := diagnose.FirstDifference(nil, a); err == nil {
		t.Error("nil: got no error")
	}
}

// BenchmarkHashes measures a step without a recording, with one, and with hashes.
func BenchmarkHashes(b *testing.B) {
	tensor.ManualSeed(1)
	net := nn.NewSequential(nn.NewLinear(256, 512), nn.NewReLU(), nn.NewLinear(512, 256))
	opt := optim.NewSGD(nn.Parameters(net), 1e-3)
	x, y := tensor.Randn(128, 256), tensor.Randn(128, 256)
	for name, options := range map[string][]trace.Option{"none": nil, "recording": {trace.CountAlways()}, "hashes": {trace.Hashes()}} {
		b.Run(name, func(b *testing.B) {
			if options != nil {
				defer trace.Start(options...).Stop()
			}
			for b.Loop() {
				opt.ZeroGrad()
				nn.MSELoss(net.Forward(x), y).Backward()
				opt.Step()
			}
		})
	}
}

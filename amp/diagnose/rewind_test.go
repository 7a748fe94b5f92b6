package diagnose

import (
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"halfnote/amp"
	"halfnote/tensor"
	"halfnote/tensor/data"
	"halfnote/tensor/nn"
	"halfnote/tensor/optim"
)

// training is a run with every kind of state: batch norm, dropout, two groups, moments, a schedule, a
// scaler that skips, two generators.
type training struct {
	net    *nn.Sequential
	opt    *optim.Optimizer
	rates  *optim.Scheduler
	scaler *amp.GradScaler
	noise  *tensor.Generator
	policy amp.Policy
	clip   float64
	bad    int // step whose batch contains an inf
	rw     *Rewind
}

func newTraining(seed int64, bad int) *training {
	tensor.ManualSeed(seed)
	r := &training{policy: amp.Float16, bad: bad, noise: tensor.NewGenerator(seed + 1)}
	frozen := nn.NewLinear(6, 12)
	r.net = nn.NewSequential(frozen, nn.NewBatchNorm1d(12), nn.NewTanh(), nn.NewDropout(0.2), nn.NewLinear(12, 2))
	head := nn.Parameters(r.net.Modules[4])
	r.opt = optim.NewAdamW(nn.Parameters(r.net.Modules[1]), 0.01).AddGroup(head, optim.LR(0.02))
	r.rates = optim.NewCosineAnnealingLR(r.opt, 40, 0.001)
	r.scaler = amp.NewGradScaler(amp.InitScale(1<<17), amp.GrowthInterval(4))
	r.rw = NewRewind(r.net, r.opt, r.rates, r.scaler, r.noise)
	return r
}

// train runs the steps from from to until. With record it calls Record and takes step numbers from the
// Rewind.
func (r *training) train(from, until int, record bool) {
	for step := from; step < until; step++ {
		x := r.noise.Randn(8, 6)
		if step == r.bad {
			x = x.Add(tensor.New([]float64{math.Inf(1)}, 1))
		}
		var loss *tensor.Tensor
		amp.Autocast(r.policy, func() { loss = nn.MSELoss(r.net.Forward(x), r.noise.Randn(8, 2)) })
		r.scaler.Scale(loss).Backward()
		if r.clip > 0 {
			r.scaler.Unscale(r.opt)
			nn.ClipGradNorm(nn.Parameters(r.net), r.clip)
		}
		r.scaler.Step(r.opt)
		r.scaler.Update()
		r.rates.Step()
		r.opt.ZeroGrad()
		if record {
			r.rw.Record(loss)
		}
	}
}

// end describes the final state of a run.
func (r *training) end() string {
	var parts []string
	for _, n := range slices.Concat(nn.NamedParameters(r.net), nn.NamedBuffers(r.net)) {
		parts = append(parts, fmt.Sprint(n.Name, n.Tensor.DType(), n.Tensor.Bits()))
		if g := n.Tensor.Grad(); g != nil {
			parts = append(parts, fmt.Sprint(g.Bits()))
		}
	}
	for name, v := range r.opt.StateDict() {
		if t, ok := v.(*tensor.Tensor); ok {
			v = t.Bits()
		}
		parts = append(parts, fmt.Sprint(name, v))
	}
	slices.Sort(parts)
	return fmt.Sprint(parts, r.rates.StateDict(), r.scaler.StateDict(), r.noise.State().Bits(), tensor.DefaultGenerator().State().Bits())
}

// TestRewindForks checks that a run with forks has the same bits as one without, for any step and any
// content of the forks.
func TestRewindForks(t *testing.T) {
	plain := newTraining(1, -1)
	plain.train(0, 40, false)
	want := plain.end()

	r := newTraining(1, -1)
	defer r.rw.Stop()
	r.train(0, 20, true)
	if !slices.Contains(r.rw.trunk.Skipped, true) || r.rw.trunk.Scales[0] != 1<<17 {
		t.Fatalf("got no skipped step in the run: %v", r.rw.trunk)
	}
	again := r.rw.Fork("nothing", 5, func() { r.train(r.rw.Step(), 20, true) })
	if !slices.Equal(again.Losses, r.rw.trunk.Losses[5:]) || !slices.Equal(again.Scales, r.rw.trunk.Scales[5:]) || !slices.Equal(again.Skipped, r.rw.trunk.Skipped[5:]) {
		t.Errorf("a fork that changes nothing: got losses %v, want %v", again.Losses, r.rw.trunk.Losses[5:])
	}
	for name, change := range map[string]func(){
		"lr/10":    func() { r.opt.SetLR(r.opt.LR() / 10) },
		"scale":    func() { r.scaler.UpdateTo(8) },
		"policy":   func() { r.policy = amp.Off },
		"clip":     func() { r.clip = 0.01 },
		"eval":     func() { tensor.ManualSeed(77) },
		"noise":    func() { r.noise.ManualSeed(5) },
		"float16":  func() { nn.Half(r.net.Modules[0]) },
		"settings": func() { r.opt.Groups()[1].WeightDecay = 0.5 },
	} {
		b := r.rw.Fork(name, 7, func() { change(); r.train(r.rw.Step(), 15, true) })
		r.policy, r.clip = amp.Float16, 0
		if b.From != 7 || len(b.Losses) != 8 || name != "float16" && slices.Equal(b.Losses, r.rw.trunk.Losses[7:15]) && slices.Equal(b.Scales, r.rw.trunk.Scales[7:15]) {
			t.Errorf("%s: got the fork %v", name, b)
		}
	}
	func() {
		defer func() {
			if p := recover(); p != "broken" {
				t.Errorf("got panic %v", p)
			}
		}()
		r.rw.Fork("broken", 3, func() {
			r.train(r.rw.Step(), 5, true)
			r.scaler.Scale(nn.Parameters(r.net)[0].Sum()).Backward()
			nn.Parameters(r.net)[3].SetGrad(nn.Parameters(r.net)[3].Detach())
			r.scaler.Unscale(r.opt)
			panic("broken")
		})
	}()
	r.train(r.rw.Step(), 40, true)
	if got := r.end(); got != want {
		t.Errorf("after forks: got the final state\n%.300s\nwant\n%.300s", got, want)
	}

	// Going back and continuing gives the same run too.
	losses := slices.Clone(r.rw.trunk.Losses)
	r.rw.To(11)
	r.rw.To(9)
	r.train(r.rw.Step(), 40, true)
	if got := r.end(); got != want || !slices.Equal(r.rw.trunk.Losses, losses) {
		t.Errorf("after going back: got the final state\n%.300s\nwant\n%.300s", got, want)
	}
	text := r.rw.String()
	for _, part := range []string{"run: 40 steps from step 0 on", "lr/10: 8 steps from step 7 on", "broken: 2 steps from step 3 on", "ended by a panic", "before going back to 11: 29 steps from step 11 on"} {
		if !strings.Contains(text, part) {
			t.Errorf("got text without %q:\n%s", part, text)
		}
	}
	if fig := r.rw.Loss().String(); !strings.HasPrefix(fig, "Loss after 40 steps: run ") {
		t.Errorf("got the chart %q", fig)
	}
	r.rw.Scales()
	r.rw.HTML()
}

// TestBeforeNaN plants an inf in the batch of a random step of a run without a scaler, which makes weights
// NaN. The state before it must be clean, and forks from there without that batch must stay clean.
func TestBeforeNaN(t *testing.T) {
	for seed := range int64(4) {
		bad := 5 + rand.New(rand.NewPCG(uint64(seed), 6)).IntN(20)
		r := newTraining(seed, bad)
		r.scaler = amp.NewGradScaler(amp.ScalerEnabled(false))
		r.train(0, 30, true)
		if at := r.rw.BeforeNaN(); at != bad {
			t.Errorf("seed %d: BeforeNaN: got step %d, want %d", seed, at, bad)
			continue
		}
		if loss := r.rw.trunk.Losses[bad]; loss-loss == 0 {
			t.Errorf("seed %d: loss of step %d: got %v", seed, bad, loss)
		}
		b := r.rw.Fork("without it", bad, func() { r.bad = -1; r.train(r.rw.Step(), 30, true) })
		if b.bad() != nil || len(b.Losses) != 30-bad {
			t.Errorf("seed %d: %v", seed, b)
		}
		if at := r.rw.BeforeFirst(func(step int, _ float64) bool { return step == 3 }); at != 3 {
			t.Errorf("BeforeFirst for step 3: got step %d", at)
		}
		r.rw.Stop()
	}
	r := newTraining(1, -1)
	defer r.rw.Stop()
	r.train(0, 5, true)
	if at := r.rw.BeforeNaN(); at != -1 {
		t.Errorf("run without NaN: got step %d", at)
	}
	// Weights become NaN before any loss.
	tensor.NoGrad(func() { nn.Parameters(r.net)[5].Fill(1); nn.Parameters(r.net)[5].MulScalarAssign(math.NaN()) })
	r.rw.Record(tensor.Scalar(1))
	if at := r.rw.BeforeNaN(); at != 5 {
		t.Errorf("with a weight of NaN: got step %d", at)
	}
}

// TestRewindMemory checks that unchanged tensors are stored once, and the number of states kept.
func TestRewindMemory(t *testing.T) {
	net := nn.NewSequential(nn.NewLinear(100, 100), nn.NewLinear(100, 1))
	opt := optim.NewSGD(nn.Parameters(net.Modules[1]), 0.1)
	rw := NewRewind(net, opt).KeepLast(10)
	defer rw.Stop()
	for range 500 {
		loss := net.Forward(tensor.Randn(4, 100)).Sum()
		loss.Backward()
		opt.Step()
		nn.ZeroGrad(net)
		rw.Record(loss)
	}
	kept := rw.Kept()
	if n := len(kept); n > 20 || n < 15 || kept[n-1] != 500 || kept[n-10] != 491 || fmt.Sprint(kept[:4]) != "[0 64 128 192]" {
		t.Errorf("got kept steps %v", kept)
	}
	if got, most := rw.Bytes(), 4*(100*100+100)+20*4*101; got > most {
		t.Errorf("got %d bytes for %d states, want at most %d", got, len(kept), most)
	}
	rw.To(rw.Near(450))
	if at := rw.Step(); at != 448 {
		t.Errorf("Near(450): got %d", at)
	}
}

func TestRewindErrors(t *testing.T) {
	r := newTraining(1, -1)
	defer r.rw.Stop()
	r.train(0, 3, true)
	for _, c := range []struct {
		want string
		call func()
	}{
		{
			"amp: NewRewind: argument 2 after the net is a int; give optimizers, schedulers, scalers, generators, epochs of a loader, or other values with StateDict and LoadStateDict",
			func() { NewRewind(r.net, r.opt, 3) },
		},
		{"amp: Rewind.To: step 7 does not exist; pass 3, the nearest kept step, or another step in Kept; KeepLast keeps more", func() { r.rw.To(7) }},
		{
			"amp: Rewind.Fork: the fork \"outer\" is running; call Fork outside other forks",
			func() { r.rw.Fork("outer", 1, func() { r.rw.Fork("inner", 1, func() {}) }) },
		},
		{
			"amp: Rewind.To: a fork is running; call To outside the fork, or call Fork with the step to start at",
			func() { r.rw.Fork("outer", 1, func() { r.rw.To(0) }) },
		},
		{"amp: Rewind.KeepLast: n is 0; pass at least 1", func() { r.rw.KeepLast(0) }},
		{
			"amp: Rewind.To: the state before step 2 is not kept; pass 0, the nearest kept step, or another step in Kept; KeepLast keeps more",
			func() { r.rw.KeepLast(1).To(2) },
		},
	} {
		func() {
			defer func() {
				if p := fmt.Sprint(recover()); p != c.want {
					t.Errorf("got %q, want %q", p, c.want)
				}
			}()
			c.call()
		}()
	}
}

// TestRewindEpoch checks that going back within a loader's epoch repeats the batches.
func TestRewindEpoch(t *testing.T) {
	tensor.ManualSeed(8)
	loader := data.NewLoader(data.NewTensorDataset(tensor.Randn(40, 4), tensor.Randn(40, 2)), 4, data.Shuffle(3), data.Workers(2))
	net := nn.NewLinear(4, 2)
	opt := optim.NewSGD(nn.Parameters(net), 0.1)
	epoch := loader.Epoch()
	rw := NewRewind(net, opt, epoch)
	defer rw.Stop()
	train := func() {
		for epoch.Next() {
			loss := nn.MSELoss(net.Forward(epoch.Batch().Input), epoch.Batch().Target)
			opt.ZeroGrad()
			loss.Backward()
			opt.Step()
			rw.Record(loss)
		}
	}
	train()
	first := slices.Clone(rw.Branches()[0].Losses)
	fork := rw.Fork("again", 6, train)
	if !slices.Equal(fork.Losses, first[6:]) || epoch.Position() != 10 {
		t.Errorf("got %v, want %v, with the epoch at position %d", fork.Losses, first[6:], epoch.Position())
	}
	rw.To(3)
	train()
	if got := rw.Branches()[0].Losses; len(first) != 10 || !slices.Equal(got, first) {
		t.Errorf("got %v, want %v", got, first)
	}
}

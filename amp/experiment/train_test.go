package experiment_test

import (
	"math"
	"testing"

	"halfnote/amp/experiment"
)

// TestAblation checks the claims of the paper's sections 3 and 4: loss scaling is needed if gradients are
// small, and float32 weights are always needed.
func TestAblation(t *testing.T) {
	for seed := range int64(1) {
		small, large := experiment.Ablation(600, 1e-4, seed), experiment.Ablation(200, 1, seed)
		end := func(r *experiment.RunsReport, name string) float64 { return r.Named(name).Final() }
		scaled := end(small, "float16, scaled")
		for _, run := range small.Runs {
			if run.Diverged() {
				t.Errorf("seed %d: %s diverged", seed, run.Name)
			}
		}
		if scaled > 10*end(small, "float32") {
			t.Errorf("seed %d: mixed precision differs too much from float32:\n%v", seed, small)
		}
		if end(small, "float16, no scaling") < 1e3*scaled || end(large, "float16, no scaling") > 2*end(large, "float16, scaled") {
			t.Errorf("seed %d: want an effect of scaling for small gradients, and none for large ones, got:\n%v\n%v", seed, small, large)
		}
		if end(small, "float16 weights") < 20*scaled {
			t.Errorf("seed %d: want a higher loss with float16 weights than with float32 ones, got:\n%v", seed, small)
		}
		if end(small, "bfloat16") > 1e-4 {
			t.Errorf("seed %d: bfloat16 did not learn without scaling:\n%v", seed, small)
		}
		shows(t, small, "float16 weights")
	}
}

// TestThreeLoops checks that the final losses of the three loops agree within 2 % of float32's.
func TestThreeLoops(t *testing.T) {
	s := experiment.LaptopLoops()
	s.Width, s.Batches = 64, 5
	r := experiment.ThreeLoops(s)
	for _, run := range r.Runs {
		if len(run.Losses) != 15 || run.Skipped > 1 || run.Peak == 0 {
			t.Errorf("%s: got %d losses, %d skipped steps and a peak of %d", run.Name, len(run.Losses), run.Skipped, run.Peak)
		}
		near(t, run.Name, run.Final(), r.Runs[0].Final(), 0.02*r.Runs[0].Final())
	}
	if s := experiment.FullLoops(); s.Batch != 512 || s.Width != 4096 || s.Layers != 3 || s.Batches*s.Epochs != 150 {
		t.Errorf("got full sizes %+v", s)
	}
	shows(t, r, "autocast + scaler")
	for _, c := range r.Predicted {
		if c.Speedup() > 1.5 {
			t.Errorf("%s: got a predicted speed-up of %.2f at sizes that are too small", c.GPU.Name, c.Speedup())
		}
	}
}

func TestNoBenefit(t *testing.T) {
	r := experiment.NoBenefit(20, 1)
	near(t, "mixed precision", r.Runs[1].Final(), r.Runs[0].Final(), 0.02*r.Runs[0].Final())
	shows(t, r, "433 parameters")
}

func TestTinyTextClassifierLearns(t *testing.T) {
	s := experiment.LaptopText()
	s.Model.Hidden, s.Model.Intermediate, s.LR = 32, 64, 3e-3
	r := experiment.TinyTextClassifier(s)
	for _, run := range r.Runs {
		if run.Score < 0.8 || run.Final() > 0.5*run.Losses[0] {
			t.Errorf("%s did not learn: got score %v, and loss %v at the start and %v at the end", run.Name, run.Score, run.Losses[0], run.Final())
		}
	}
	if d := math.Abs(r.Runs[0].Score - r.Runs[1].Score); d > 0.1 {
		t.Errorf("got scores that differ by %v:\n%v", d, r)
	}
	shows(t, r, "score")
}

func TestTinyResNetLearns(t *testing.T) {
	s := experiment.LaptopVision()
	s.Images, s.Batch, s.LR = 16, 8, 0.02
	r := experiment.TinyResNet(s)
	if len(r.Runs) != 5 {
		t.Fatalf("got %d runs", len(r.Runs))
	}
	for _, run := range r.Runs {
		if run.Diverged() || run.Skipped > 2 || run.Final() >= run.Losses[0] {
			t.Errorf("%s: got loss %v at the start and %v at the end, and %d skipped steps", run.Name, run.Losses[0], run.Final(), run.Skipped)
		}
	}
	shows(t, r, "Apex O3")
}

package experiment_test

import (
	"math"
	"testing"

	"halfnote/amp/experiment"
)

// TestTraining takes a few steps with each network: 16-bit losses must be close to float32's, and the
// MLP must learn its batch.
func TestTraining(t *testing.T) {
	small := experiment.MLPSize{Batch: 8, Width: 32, Layers: 3}
	full := experiment.NewMLPTraining(small, "float32")
	first := full.Step()
	if second := full.Step(); !(second < first) {
		t.Errorf("mlp: got loss %v, then %v, want a decrease", first, second)
	}
	for _, c := range []struct {
		full, half *experiment.Training
		gap        float64
	}{
		{experiment.NewMLPTraining(small, "float32"), experiment.NewMLPTraining(small, "bfloat16"), .05},
		{experiment.NewMLPTraining(small, "float32"), experiment.NewMLPTraining(small, "float16"), .05},
		{experiment.NewResNetTraining(1, "float32"), experiment.NewResNetTraining(1, "bfloat16"), .05},
		{experiment.NewBERTTraining(experiment.BERTMini(2, 8), "float32"), experiment.NewBERTTraining(experiment.BERTMini(2, 8), "bfloat16"), .5}, // dropout draws different masks
	} {
		if full, half := c.full.Step(), c.half.Step(); !(math.Abs(half-full) < c.gap*full) {
			t.Errorf("%s in %s: first loss: got %v, want about %v as in float32", c.half.Work, c.half.DType, half, full)
		}
	}
	defer func() {
		if recover() == nil {
			t.Error("training in float64: got no panic")
		}
	}()
	experiment.NewMLPTraining(small, "float64")
}

package experiment_test

import (
	"math"
	"testing"

	"halfnote/amp/experiment"
)

// TestTraining trains each network a little: halves follow float32, and the MLP learns its
// batch.
func TestTraining(t *testing.T) {
	small := experiment.MLPSize{Batch: 8, Width: 32, Layers: 3}
	full := experiment.NewMLPTraining(small, "float32")
	first := full.Step()
	if second := full.Step(); !(second < first) {
		t.Errorf("mlp: the loss goes from %v to %v", first, second)
	}
	for _, c := range []struct {
		full, half *experiment.Training
		gap        float64
	}{
		{experiment.NewMLPTraining(small, "float32"), experiment.NewMLPTraining(small, "bfloat16"), .05},
		{experiment.NewMLPTraining(small, "float32"), experiment.NewMLPTraining(small, "float16"), .05},
		{experiment.NewResNetTraining(1, "float32"), experiment.NewResNetTraining(1, "bfloat16"), .05},
		{experiment.NewBERTTraining(experiment.BERTMini(2, 8), "float32"), experiment.NewBERTTraining(experiment.BERTMini(2, 8), "bfloat16"), .5}, // dropout draws other masks
	} {
		if full, half := c.full.Step(), c.half.Step(); !(math.Abs(half-full) < c.gap*full) {
			t.Errorf("%s in %s: the first loss is %v, in float32 %v", c.half.Work, c.half.DType, half, full)
		}
	}
	defer func() {
		if recover() == nil {
			t.Error("a training in float64 does not panic")
		}
	}()
	experiment.NewMLPTraining(small, "float64")
}

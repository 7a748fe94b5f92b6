package experiment_test

import (
	"math"
	"testing"

	"halfnote/amp/experiment"
	"halfnote/internal/testenv"
)

// TestTraining takes a few steps with each network: 16-bit losses must be close to float32's, and the
// MLP must learn its batch. A default run has the MLP only: initial values of the others take seconds.
func TestTraining(t *testing.T) {
	share := testenv.Share(t, 2)
	small := experiment.MLPSize{Batch: 8, Width: 32, Layers: 3}
	full := experiment.NewMLPTraining(small, "float32")
	first := full.Step()
	if second := full.Step(); !(second < first) {
		t.Errorf("mlp: got loss %v, then %v, want a decrease", first, second)
	}
	mlp := func(dtype string) *experiment.Training { return experiment.NewMLPTraining(small, dtype) }
	resnet := func(dtype string) *experiment.Training { return experiment.NewResNetTraining(1, dtype) }
	bert := func(dtype string) *experiment.Training {
		return experiment.NewBERTTraining(experiment.BERTMini(2, 8), dtype)
	}
	for i, c := range []struct {
		network func(dtype string) *experiment.Training
		dtype   string
		gap     float64
	}{
		{mlp, "bfloat16", .05}, {mlp, "float16", .05}, {resnet, "bfloat16", .05},
		{bert, "bfloat16", .5}, // dropout draws different masks
	} {
		if i > 1 && share > 1 {
			break
		}
		full, half := c.network("float32"), c.network(c.dtype)
		if want, got := full.Step(), half.Step(); !(math.Abs(got-want) < c.gap*want) {
			t.Errorf("%s in %s: first loss: got %v, want about %v as in float32", half.Work, c.dtype, got, want)
		}
	}
	defer func() {
		if recover() == nil {
			t.Error("training in float64: got no panic")
		}
	}()
	experiment.NewMLPTraining(small, "float64")
}

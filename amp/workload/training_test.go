package workload_test

import (
	"math"
	"testing"

	"halfnote/amp/workload"
)

// TestTraining trains each network a little: halves follow float32, and what is learnt is
// the batch.
func TestTraining(t *testing.T) {
	for name, build := range map[string]func(dtype string) *workload.Training{
		"mlp": func(d string) *workload.Training {
			return workload.NewMLP(workload.MLPSize{Batch: 8, Width: 32, Layers: 3}, d)
		},
		"resnet": func(d string) *workload.Training { return workload.NewResNet(2, d) },
		"bert":   func(d string) *workload.Training { return workload.NewBERT(2, 8, d) },
	} {
		full := build("float32")
		first, second := full.Step(), full.Step()
		if !(second < first) && name == "mlp" {
			t.Errorf("%s: the loss goes from %v to %v", name, first, second)
		}
		for _, dtype := range []string{"bfloat16", "float16"} {
			if got := build(dtype).Step(); !(math.Abs(got-first) < 0.05*first) {
				t.Errorf("%s in %s: the first loss is %v, in float32 %v", name, dtype, got, first)
			}
		}
	}
}

func TestCompare(t *testing.T) {
	size := workload.MLPSize{Batch: 4, Width: 16, Layers: 2}
	rows := workload.Compare(3, workload.NewMLP(size, "float32"), workload.NewMLP(size, "bfloat16"), workload.NewMLP(size, "float16"))
	if len(rows) != 2 || rows[0].PeerName != "own float32" || rows[1].DType != "float16" || !(rows[0].Ours > 0 && rows[0].Peer > 0) {
		t.Errorf("got %+v", rows)
	}
}

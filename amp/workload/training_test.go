package workload_test

import (
	"math"
	"strings"
	"testing"

	"halfnote/amp/workload"
)

// TestTraining trains each network a little: halves follow float32, and the MLP learns its
// batch.
func TestTraining(t *testing.T) {
	small := workload.MLPSize{Batch: 8, Width: 32, Layers: 3}
	full := workload.NewMLP(small, "float32")
	first := full.Step()
	if second := full.Step(); !(second < first) {
		t.Errorf("mlp: the loss goes from %v to %v", first, second)
	}
	for _, c := range []struct {
		full, half *workload.Training
		gap        float64
	}{
		{workload.NewMLP(small, "float32"), workload.NewMLP(small, "bfloat16"), .05},
		{workload.NewMLP(small, "float32"), workload.NewMLP(small, "float16"), .05},
		{workload.NewResNet(1, "float32"), workload.NewResNet(1, "bfloat16"), .05},
		{workload.NewBERT(workload.BERTMini(2, 8), "float32"), workload.NewBERT(workload.BERTMini(2, 8), "bfloat16"), .5}, // dropout draws other masks
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
	workload.NewMLP(small, "float64")
}

func TestCompare(t *testing.T) {
	size := workload.MLPSize{Batch: 4, Width: 16, Layers: 2}
	rows := workload.Compare(3, workload.NewMLP(size, "float32"), workload.NewMLP(size, "bfloat16"), workload.NewMLP(size, "float16"))
	if len(rows) != 2 || rows[0].PeerName != "own float32" || rows[1].DType != "float16" || !(rows[0].Ours > 0 && rows[0].Peer > 0) {
		t.Errorf("got %+v", rows)
	}
	if got, want := rows.Throughput().String(), "Against halfnote, mlp step, float32, "; !strings.HasPrefix(got, want) || strings.Count(got, "float32") != 1 {
		t.Errorf("the chart says %q, want it to begin with %q and to name the peer once", got, want)
	}
}

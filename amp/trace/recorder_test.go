package trace_test

import (
	"math"
	"strings"
	"testing"

	"halfnote/amp"
	"halfnote/amp/trace"
	"halfnote/tensor"
	"halfnote/tensor/nn"
)

// twoLayers records one step of linear, relu, linear, mse_loss.
func twoLayers(t *testing.T) *trace.Recorder {
	t.Helper()
	x, w1, w2 := tensor.Ones(4, 8), tensor.Ones(8, 8).RequireGrad(), tensor.Ones(2, 8).RequireGrad()
	rec := trace.Start()
	var loss *tensor.Tensor
	amp.Autocast(amp.Float16, func() {
		h := tensor.Linear(x, w1, nil).ReLU()
		loss = nn.MSELoss(tensor.Linear(h, w2, nil), tensor.Ones(4, 2))
	})
	loss.Backward()
	rec.Stop()
	x.Add(x) // not recorded
	return rec
}

func TestOps(t *testing.T) {
	rec := twoLayers(t)
	type row struct {
		name   string
		dtype  tensor.DType
		casts  int
		module string
	}
	want := []row{
		{"linear", tensor.Float16, 2, ""},
		{"relu", tensor.Float16, 0, ""},
		{"linear", tensor.Float16, 1, ""},
		{"mse_loss", tensor.Float32, 1, ""},
	}
	var forward, backward []trace.OpRecord
	for _, op := range rec.Ops() {
		if op.Backward {
			backward = append(backward, op)
		} else {
			forward = append(forward, op)
		}
	}
	if len(forward) != len(want) {
		t.Fatalf("got %d forward operations, want %d: %+v", len(forward), len(want), forward)
	}
	for i, w := range want {
		if got := (row{forward[i].Name, forward[i].Computed, forward[i].Casts, forward[i].Module}); got != w {
			t.Errorf("operation %d: got %+v, want %+v", i, got, w)
		}
	}
	half, leaves := 0, 0
	for _, op := range backward {
		if op.Name == "matmul" && op.Computed == tensor.Float16 {
			half++
		}
		if op.Name == "cast" && op.Out == tensor.Float32 {
			leaves++
		}
	}
	if half != 3 || leaves != 2 {
		t.Errorf("backward: got %d products in float16 and %d casts to float32, want 3 and 2", half, leaves)
	}
	if text := rec.DTypes().String(); !strings.Contains(text, "float16") || !strings.Contains(text, "casts") {
		t.Errorf("got the chart %q", text)
	}
	if n := strings.Count(rec.Table().Data["text/plain"].(string), "linear"); n < 2 {
		t.Errorf("got a table that names linear %d times", n)
	}
}

// opt is an optimizer of one weight.
type opt struct{ w *tensor.Tensor }

func (o opt) Params() []*tensor.Tensor { return []*tensor.Tensor{o.w} }
func (o opt) Step()                    {}
func (o opt) ZeroGrad()                { o.w.SetGrad(nil) }

func TestLossScale(t *testing.T) {
	o := opt{tensor.Ones(1).RequireGrad()}
	rec := trace.Start()
	s := amp.NewGradScaler(amp.GrowthInterval(2))
	for i := range 5 {
		s.Scale(o.w.Sum()).Backward()
		if i == 3 {
			o.w.SetGrad(tensor.New([]float64{math.Inf(1)}, 1))
		}
		s.Step(o)
		s.Update()
		o.ZeroGrad()
	}
	rec.Stop()
	want := []struct {
		scale, after float64
		skipped      bool
	}{{65536, 65536, false}, {65536, 131072, false}, {131072, 131072, false}, {131072, 65536, true}, {65536, 65536, false}}
	steps := rec.Steps()
	if len(steps) != len(want) {
		t.Fatalf("got %d steps, want %d", len(steps), len(want))
	}
	for i, w := range want {
		if got := steps[i]; got.Scale != w.scale || got.After != w.after || got.Skipped != w.skipped {
			t.Errorf("step %d: got %+v, want %+v", i, got, w)
		}
	}
	if text := rec.LossScale().String(); !strings.Contains(text, "1 skipped") && !strings.Contains(text, "1 of") {
		t.Errorf("got the chart %q, want the skipped step in it", text)
	}
	if !strings.Contains(rec.String(), "5 scaled steps, 1 skipped") {
		t.Errorf("got %q for the recording", rec)
	}
}

func TestEmptyRecording(t *testing.T) {
	rec := trace.Start()
	rec.Stop()
	rec.Stop()
	if rec.String() != "nothing recorded" {
		t.Errorf("got %q for an empty recording", rec)
	}
	rec.DTypes()
	rec.LossScale()
}

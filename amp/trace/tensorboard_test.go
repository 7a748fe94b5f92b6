package trace_test

import (
	"encoding/json"
	"math"
	"os"
	"os/exec"
	"path/filepath"
	"testing"
	"time"

	"halfnote/amp"
	"halfnote/amp/trace"
	"halfnote/internal/testenv"
	"halfnote/tensor"
	"halfnote/tensor/nn"
	"halfnote/tensor/optim"
)

// TestTensorBoardReads checks what TensorBoard reads from an event file of a training run.
func TestTensorBoardReads(t *testing.T) {
	python, err := exec.LookPath("python3")
	if err != nil || exec.Command(python, "-c", "import tensorboard").Run() != nil {
		testenv.Missing(t, "tensorboard", "needs python3 with tensorboard")
	}
	begun := time.Now()
	dir := filepath.Join(t.TempDir(), "runs", "fp16")
	tb, err := trace.TensorBoard(dir)
	if err != nil {
		t.Fatal(err)
	}
	net := nn.NewLinear(4, 2)
	opt := optim.NewSGD(nn.Parameters(net), 0.1)
	scaler := amp.NewGradScaler(amp.InitScale(1 << 20))
	x, y := tensor.Randn(8, 4).MulScalar(100), tensor.Randn(8, 2)
	rec := trace.Start(trace.Models(net), trace.CountAlways())
	var losses []float64
	var gradient []float64
	for step := range 3 {
		opt.ZeroGrad()
		var loss *tensor.Tensor
		amp.Autocast(amp.Float16, func() { loss = nn.MSELoss(net.Forward(x), y) })
		scaler.Scale(loss).Backward()
		scaler.Unscale(opt)
		tb.AddScalar("loss", loss.Item(), step)
		tb.AddGradients(net, step)
		losses = append(losses, loss.Item())
		rec.Log("accuracy", 0.25*float64(step))
		gradient = net.Weight.Grad().Float64s()
		scaler.Step(opt)
		scaler.Update()
	}
	rec.Stop()
	tb.AddRecording(rec)
	if err := tb.Flush(); err != nil {
		t.Fatal(err)
	}
	found := filepath.Join(t.TempDir(), "found") // with what the recording finds by itself
	if tb, err := trace.TensorBoard(found); err != nil {
		t.Fatal(err)
	} else if tb.AddRecording(rec); tb.Close() != nil {
		t.Fatal(tb.Close())
	}
	tb.AddHistogram("values", tensor.New([]float64{-2, -1e-30, 0, 0, 0.5, 0.5, math.Inf(1), math.NaN()}), 7)
	tb.AddHistogram("none", tensor.New([]float64{math.NaN()}), 0)
	if err := tb.Close(); err != nil {
		t.Fatal(err)
	}

	got, alone := readEvents(t, python, dir), readEvents(t, python, found)
	if got.Version != 2 {
		t.Errorf("version: got %v, want 2", got.Version)
	}
	for i, e := range got.Scalars["loss"] {
		if e[0] != float64(i) || e[1] != float64(float32(losses[i])) || math.Abs(e[2]-float64(begun.Unix())) > 3600 {
			t.Errorf("loss, event %d: got step %v, %v at %v; want step %d, %v, at %d", i, e[0], e[1], e[2], i, losses[i], begun.Unix())
		}
	}
	for i, loss := range losses {
		for tag, want := range map[string]float64{"loss": loss, "accuracy": 0.25 * float64(i)} {
			if list := alone.Scalars[tag]; len(list) != 3 || list[i][0] != float64(i) || list[i][1] != float64(float32(want)) || math.Abs(list[i][2]-float64(begun.Unix())) > 3600 {
				t.Errorf("%s without AddScalar: got %v, want %v in step %d", tag, list, want, i)
			}
		}
	}
	steps := rec.Steps()
	if len(steps) != 3 {
		t.Fatalf("got %d steps, want 3", len(steps))
	}
	for tag, want := range map[string]func(int) float64{
		"loss":           func(i int) float64 { return float64(float32(losses[i])) },
		"amp/loss_scale": func(i int) float64 { return steps[i].Scale },
		"amp/skipped": func(i int) float64 {
			if steps[i].Skipped {
				return 1
			}
			return 0
		},
		"amp/flushed_share": func(i int) float64 { return float64(float32(rec.By("step").Rows[i].FlushedShare())) },
		"amp/bad_share":     func(i int) float64 { return float64(float32(rec.By("step").Rows[i].BadShare())) },
	} {
		list := got.Scalars[tag]
		if len(list) != 3 {
			t.Errorf("%s: got %d events, want 3", tag, len(list))
			continue
		}
		for i, e := range list {
			if e[0] != float64(i) || e[1] != want(i) {
				t.Errorf("%s, event %d: got step %v, %v; want step %d, %v", tag, i, e[0], e[1], i, want(i))
			}
		}
	}
	if !steps[0].Skipped || got.Scalars["grad_bad/weight"][0][1] == 0 {
		t.Errorf("got a first step without overflow, want one: %+v, %v", steps[0], got.Scalars["grad_bad/weight"])
	}
	for i, e := range got.Scalars["amp/steps_per_second"] {
		if !(e[1] > 0) || math.IsInf(e[1], 0) {
			t.Errorf("steps per second, event %d: got %v, want a positive number", i, e[1])
		}
	}
	weights := got.Histograms["grad/weight"]
	if len(weights) != 3 {
		t.Fatalf("grad/weight: got %d histograms, want 3", len(weights))
	}
	finite, sum, counted := 0., 0., 0.
	for _, v := range gradient {
		if !math.IsInf(v, 0) && !math.IsNaN(v) {
			finite++
			sum += v
		}
	}
	for _, n := range weights[2].Counts {
		counted += n
	}
	if last := weights[2]; last.Num != finite || counted != finite || math.Abs(last.Sum-sum) > 1e-9*math.Abs(sum) {
		t.Errorf("grad/weight, last: got %v values, %v in buckets, sum %v; want %v and %v", last.Num, counted, last.Sum, finite, sum)
	}
	h := got.Histograms["values"][0]
	if h.Step != 7 || h.Min != -2 || h.Max != 0.5 || h.Num != 6 || h.Sum != -1e-30-2+1 || h.Squares != 4.5 {
		t.Errorf("values: got %+v", h)
	}
	at := map[float64]float64{-2: 1, -1e-30: 1, 0: 2, 0.5: 2}
	for i, n := range h.Counts {
		for v, want := range at {
			low := math.Inf(-1)
			if i > 0 {
				low = h.Limits[i-1]
			}
			if low <= v && v < h.Limits[i] && n != want {
				t.Errorf("values: the bucket of %v, [%v, %v), has %v values, want %v", v, low, h.Limits[i], n, want)
			}
		}
	}
	if none := got.Histograms["none"]; len(none) != 1 || none[0].Num != 0 {
		t.Errorf("none: got %+v, want an empty histogram", none)
	}
}

// events is what TensorBoard reads from an event file.
type events struct {
	Version    float64
	Scalars    map[string][][3]float64 // step, value and time
	Histograms map[string][]struct {
		Step                        int
		Min, Max, Num, Sum, Squares float64
		Limits, Counts              []float64
	}
}

func readEvents(t *testing.T, python, dir string) (got events) {
	t.Helper()
	cmd := exec.Command(python, filepath.Join("testdata", "eventfile.py"), dir)
	cmd.Stderr = os.Stderr
	out, err := cmd.Output()
	if err == nil {
		err = json.Unmarshal(out, &got)
	}
	if err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	return got
}

// TestTensorBoardErrors checks the errors of folders and of a closed writer.
func TestTensorBoardErrors(t *testing.T) {
	if _, err := trace.TensorBoard(""); err == nil {
		t.Error("empty folder: got no error")
	}
	file := filepath.Join(t.TempDir(), "file")
	if err := os.WriteFile(file, nil, 0o666); err != nil {
		t.Fatal(err)
	}
	if _, err := trace.TensorBoard(file); err == nil {
		t.Error("a file in place of the folder: got no error")
	}
	tb, err := trace.TensorBoard(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	if err := tb.Close(); err != nil {
		t.Fatal(err)
	}
	tb.AddScalar("loss", 1, 0)
	if err := tb.Close(); err == nil {
		t.Error("a scalar after Close: got no error")
	}
}

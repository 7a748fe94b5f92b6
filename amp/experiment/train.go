package experiment

import (
	"fmt"
	"math"
	"runtime"
	"slices"
	"time"

	"halfnote/amp"
	"halfnote/amp/apex"
	"halfnote/amp/roofline"
	"halfnote/display/chart"
	"halfnote/tensor"
	"halfnote/tensor/nn"
	"halfnote/tensor/optim"
)

// Run is a training run.
type Run struct {
	Name    string
	DType   string // dtype of most of the work, for example "float16"
	Losses  []float64
	Skipped int
	Scale   float64 // final loss scale; 0 without a scaler
	Seconds float64 // time of all steps except the first, which warms up
	Peak    int     // largest number of bytes of tensors
	Score   float64 // score on data not used for training, if the experiment has such data
}

// Final returns the mean of the last tenth of the losses.
func (r Run) Final() float64 {
	last := r.Losses[len(r.Losses)-max(len(r.Losses)/10, 1):]
	sum := 0.0
	for _, x := range last {
		sum += x
	}
	return sum / float64(len(last))
}

// Diverged reports whether a loss was not finite or the last are above the first.
func (r Run) Diverged() bool {
	f := r.Final()
	return f != f || math.IsInf(f, 0) || f > 2*r.Losses[0] || slices.ContainsFunc(r.Losses, func(x float64) bool { return x != x })
}

// runSpec specifies a run.
type runSpec struct {
	name, dtype string
	policy      amp.Policy
	scale       float64 // 0 for no scaler
	apex        *apex.OptLevel
	half        bool // parameters are float16
	steps       int
}

// run trains a model. loss returns the loss of step i, computed with forward.
func (t runSpec) run(net nn.Module, optimizer func(params []*tensor.Tensor) *optim.Optimizer, loss func(i int, forward func(x *tensor.Tensor) *tensor.Tensor) *tensor.Tensor) Run {
	if t.half {
		nn.Half(net)
	}
	opt := optimizer(nn.Parameters(net))
	scaler := amp.NewGradScaler(amp.ScalerEnabled(t.scale > 0), amp.InitScale(max(t.scale, 1)))
	forward := net.Forward
	if t.half {
		forward = func(x *tensor.Tensor) *tensor.Tensor { return net.Forward(x.Half()).Float() }
	}
	r := Run{Name: t.name, DType: t.dtype}
	step := func(i int) {
		var l *tensor.Tensor
		amp.Autocast(t.policy, func() { l = loss(i, forward) })
		r.Losses = append(r.Losses, l.Item())
		scaler.Scale(l).Backward()
		if scaler.Step(opt).Skipped {
			r.Skipped++
		}
		scaler.Update()
		opt.ZeroGrad()
	}
	if t.apex != nil {
		model, prepared := apex.Initialize(net, opt, *t.apex)
		step = func(i int) {
			l := loss(i, model.Forward)
			r.Losses = append(r.Losses, l.Item())
			apex.ScaleLoss(l, prepared, func(scaled *tensor.Tensor) { scaled.Backward() })
			if prepared.Step(); prepared.LastStep().Skipped {
				r.Skipped++
			}
			prepared.ZeroGrad()
		}
	}
	runtime.GC()
	d := tensor.DefaultDevice()
	d.ResetPeakMemory()
	step(0)
	d.Synchronize()
	start := time.Now()
	for i := 1; i < t.steps; i++ {
		step(i)
	}
	d.Synchronize()
	r.Seconds, r.Peak = time.Since(start).Seconds(), d.Memory().Peak
	if t.scale > 0 {
		r.Scale = scaler.CurrentScale()
	}
	return r
}

// RunsReport compares runs.
type RunsReport struct {
	Report
	Runs []Run
	// Predicted holds predicted minimum times of a step on GPUs, if the experiment has
	// them. They are from a roofline model, not measured.
	Predicted []roofline.Comparison
}

// predict adds predicted times of a workload on GPUs.
func (r *RunsReport) predict(w roofline.Workload, steps int) {
	r.Predicted = w.Predict("T4", "V100", "A100").Rows
	for _, c := range r.Predicted {
		row := make([]string, len(r.Header))
		row[0] = "predicted, " + c.GPU.Name + ": float32, autocast"
		row[4] = fmt.Sprintf("%.4f, %.4f", c.Full.Total.Seconds()*float64(steps), c.Mixed.Total.Seconds()*float64(steps))
		row[5] = fmt.Sprintf("%.2f", c.Speedup())
		r.Rows = append(r.Rows, row)
	}
}

// Named returns the run of that name. It panics if the name is unknown.
func (r *RunsReport) Named(name string) Run {
	for _, run := range r.Runs {
		if run.Name == name {
			return run
		}
	}
	panic(fmt.Sprintf("experiment: named: unknown run %q", name))
}

// Difference shows how far the losses of the run of that name are from those of the first run, step by step. It
// panics if the name is unknown.
func (r *RunsReport) Difference(name string) *chart.Figure {
	run := r.Named(name)
	return chart.Difference(r.Runs[0].Name, run.Name, []chart.Pair{{Name: "loss", First: r.Runs[0].Losses, Second: run.Losses}})
}

// compare makes the table and the chart of the losses.
func (r *RunsReport) compare() {
	r.Header = []string{"run", "first loss", "final loss", "skipped", "seconds", "against the first", "peak bytes"}
	score := slices.ContainsFunc(r.Runs, func(run Run) bool { return run.Score != 0 })
	if score {
		r.Header = append(r.Header, "score")
	}
	var series []chart.Series
	for _, run := range r.Runs {
		cells := []any{run.Name, fmt.Sprintf("%.4g", run.Losses[0]), fmt.Sprintf("%.4g", run.Final()), run.Skipped,
			fmt.Sprintf("%.3f", run.Seconds), fmt.Sprintf("%.2f", r.Runs[0].Seconds/run.Seconds), run.Peak}
		if score {
			cells = append(cells, percent(run.Score))
		}
		r.row(cells...)
		series = append(series, chart.Series{Name: run.Name, DType: run.DType, Values: run.Losses})
	}
	r.Figure = chart.Loss(series)
}

package experiment

import (
	"fmt"

	"halfnote/amp"
	"halfnote/amp/roofline"
	"halfnote/tensor"
	"halfnote/tensor/data"
	"halfnote/tensor/nn"
	"halfnote/tensor/nn/models"
	"halfnote/tensor/optim"
)

// Loops are the sizes of [ThreeLoops].
type Loops struct {
	Batch, Width, Layers, Batches, Epochs int
	LR                                    float64
	Seed                                  int64
}

// LaptopLoops returns sizes that take seconds on two cores.
func LaptopLoops() Loops {
	return Loops{Batch: 64, Width: 256, Layers: 3, Batches: 10, Epochs: 3, LR: 0.1, Seed: 1}
}

// FullLoops returns the sizes of the R torch vignette and of the PyTorch recipe: 137 GFLOP per
// step and 150 steps per run, which take long on a CPU. The vignette's learning rate is 0.1, the
// recipe's 0.001.
func FullLoops() Loops {
	return Loops{Batch: 512, Width: 4096, Layers: 3, Batches: 50, Epochs: 3, LR: 0.1, Seed: 1}
}

// ThreeLoops trains an MLP on noise three times from the same parameters: in float32, under
// autocast, and under autocast with a gradient scaler. It compares losses and times. The first step of
// each run warms up and is not timed. On the GPU of the R torch vignette the runs took 5.621, 2.462
// and 3.550 s: the scaler's pass over all gradients costs time. Rows labelled as predictions are
// minimum times of steps on GPUs, without the scaler.
func ThreeLoops(s Loops) *RunsReport {
	within("ThreeLoops", "Layers", s.Layers, 1, mostLayers)
	within("ThreeLoops", "Batches", s.Batches, 1, mostBatches)
	within("ThreeLoops", "Epochs", s.Epochs, 1, mostSteps)
	r := &RunsReport{}
	tensor.ManualSeed(s.Seed)
	batches := data.RandomBatches(s.Batches, s.Batch, s.Width, s.Width)
	sizes := make([]int, s.Layers+1)
	for i := range sizes {
		sizes[i] = s.Width
	}
	for _, t := range []runSpec{
		{name: "float32", dtype: "float32", policy: amp.Off},
		{name: "autocast", dtype: "float16", policy: amp.Float16},
		{name: "autocast + scaler", dtype: "float16", policy: amp.Float16, scale: 65536},
	} {
		t.steps = s.Batches * s.Epochs
		net := models.NewMLP(sizes, nn.InitFrom(tensor.NewGenerator(s.Seed)))
		r.Runs = append(r.Runs, t.run(net, sgd(s.LR), func(i int, forward func(x *tensor.Tensor) *tensor.Tensor) *tensor.Tensor {
			b := batches[i%len(batches)]
			return nn.MSELoss(forward(b.Input), b.Target)
		}))
	}
	r.compare()
	r.predict(roofline.Dense(s.Batch, sizes...), s.Batches*s.Epochs-1)
	r.Says = fmt.Sprintf("Measured here: autocast takes %.2f times as long as float32, with a scaler %.2f times; the final losses are %.6g, %.6g and %.6g.",
		r.Runs[1].Seconds/r.Runs[0].Seconds, r.Runs[2].Seconds/r.Runs[0].Seconds, r.Runs[0].Final(), r.Runs[1].Final(), r.Runs[2].Final())
	return r
}

// timedRuns is the number of runs of which [NoBenefit] takes the fastest: other programs can only make a run slower.
const timedRuns = 9

func sgd(lr float64) func(params []*tensor.Tensor) *optim.Optimizer {
	return func(params []*tensor.Tensor) *optim.Optimizer { return optim.NewSGD(params, lr) }
}

// NoBenefit trains the network 8-16-16-1 of a blog post with batches of 512 in float32, and with
// autocast and a scaler. Products over 8 and 16 numbers with one output do not gain from half
// precision, and autocast and the scaler add their own cost. Each is trained several times, and the fastest run counts.
func NoBenefit(batches int, seed int64) *RunsReport {
	r := &RunsReport{}
	within("NoBenefit", "batches", batches, 1, mostBatches)
	tensor.ManualSeed(seed)
	list := data.RandomBatches(batches, 512, 8, 1)
	for _, t := range []runSpec{
		{name: "float32", dtype: "float32", policy: amp.Off},
		{name: "autocast + scaler", dtype: "float16", policy: amp.Float16, scale: 65536},
	} {
		t.steps = batches
		var fastest Run
		for k := range timedRuns {
			net := models.NewSmall(nn.InitFrom(tensor.NewGenerator(seed)))
			run := t.run(net, sgd(0.001), func(i int, forward func(x *tensor.Tensor) *tensor.Tensor) *tensor.Tensor {
				return nn.MSELoss(forward(list[i].Input), list[i].Target)
			})
			if k == 0 || run.Seconds < fastest.Seconds {
				fastest = run
			}
		}
		r.Runs = append(r.Runs, fastest)
	}
	r.compare()
	work := roofline.Dense(512, 8, 16, 16, 1)
	r.predict(work, batches-1)
	r.Says = fmt.Sprintf("With autocast and scaler a network of %d parameters runs at %.2f times the speed of float32 here, by the fastest of %d runs each. It is too small to gain on a GPU: predicted for a T4, %.2f times the speed.",
		nn.NumParameters(models.NewSmall()), r.Runs[0].Seconds/r.Runs[1].Seconds, timedRuns, work.On(roofline.GPUByName("T4")).Speedup())
	return r
}

package amp_test

import (
	"encoding/json"
	"math"
	"os"
	"testing"

	"halfnote/amp"
	"halfnote/tensor"
	"halfnote/tensor/nn"
	"halfnote/tensor/optim"
)

// training is a run of testdata/trajectories.py.
type training struct {
	policy   amp.Policy
	scale    float64 // 0 for no scaler
	interval int     // 0 for a growth interval that is not reached
	bad      []int   // steps with a spoiled gradient; a negative one stands for all
	value    float64 // what spoils it, if not inf
}

var trainings = map[string]training{
	"float32":                            {},
	"autocast float16":                   {policy: amp.Float16},
	"autocast bfloat16":                  {policy: amp.BFloat16},
	"float16, scaler":                    {policy: amp.Float16, scale: 65536, interval: 5},
	"float16, scaler, inf at 7":          {policy: amp.Float16, scale: 65536, interval: 5, bad: []int{7}},
	"float16, scaler, inf at 0":          {policy: amp.Float16, scale: 65536, interval: 5, bad: []int{0}},
	"float16, scaler, inf at 2":          {policy: amp.Float16, scale: 65536, interval: 2, bad: []int{2}},
	"float16, scaler, inf at 3, 4, 5":    {policy: amp.Float16, scale: 65536, interval: 2, bad: []int{3, 4, 5}},
	"float16, scaler, NaN at 7":          {policy: amp.Float16, scale: 65536, interval: 5, bad: []int{7}, value: math.NaN()},
	"float16, scaler, always inf":        {policy: amp.Float16, scale: 65536, interval: 5, bad: []int{-1}},
	"float16, scaler, growth every step": {policy: amp.Float16, scale: 128, interval: 1},
	"float16, static scale 8":            {policy: amp.Float16, scale: 8},
	"float16, static scale 128":          {policy: amp.Float16, scale: 128},
	"float16, static scale 1024":         {policy: amp.Float16, scale: 1024},
	"bfloat16, scaler":                   {policy: amp.BFloat16, scale: 65536, interval: 5},
	"float32, scaler":                    {scale: 65536, interval: 5, bad: []int{7}},
}

// row is what a step of a run shows.
type row struct {
	loss, scale            float64
	tracker, skipped, zero int
}

// TestTrainingUnderAutocast trains an MLP as testdata/trajectories.py does. Scales,
// trackers, skips and the zeros among the gradients are equal; losses agree to 1e-5.
func TestTrainingUnderAutocast(t *testing.T) {
	text, err := os.ReadFile("testdata/trajectories.json")
	if err != nil {
		t.Fatal(err)
	}
	var file struct{ Runs map[string][][]float64 }
	if err := json.Unmarshal(text, &file); err != nil {
		t.Fatal(err)
	}
	if len(file.Runs) != len(trainings) {
		t.Errorf("%d runs in the file, want %d", len(file.Runs), len(trainings))
	}
	for name, c := range trainings {
		t.Run(name, func(t *testing.T) {
			got := c.run()
			worst := 0.0
			for k, w := range file.Runs[name] {
				want := row{w[0], w[1], int(w[2]), int(w[3]), int(w[4])}
				off := math.Abs(got[k].loss-want.loss) / want.loss
				worst = max(worst, off)
				if got[k].scale != want.scale || got[k].tracker != want.tracker || got[k].skipped != want.skipped || got[k].zero != want.zero || !(off <= 1e-5) {
					t.Fatalf("step %d: got %+v, want %+v", k, got[k], want)
				}
			}
			t.Logf("losses apart by at most %.2g", worst)
		})
	}
}

func (c training) run() (rows []row) {
	tensor.ManualSeed(1)
	var layers []*nn.Linear
	for _, size := range [][2]int{{16, 32}, {32, 32}, {32, 4}} {
		in, out := size[0], size[1]
		w := tensor.Randn(out, in).Scale(1 / math.Sqrt(float64(in))).RequireGrad()
		layers = append(layers, &nn.Linear{Weight: w, Bias: tensor.Zeros(out).RequireGrad()})
	}
	net := nn.Sequential(layers[0], nn.ReLU(), layers[1], nn.ReLU(), layers[2])
	x, y := tensor.Randn(64, 16), tensor.Randn(64, 4)
	opt := optim.NewSGD(nn.Parameters(net), 0.1)
	interval := c.interval
	if interval == 0 {
		interval = 2000
	}
	scaler := amp.NewGradScaler(amp.Enabled(c.scale != 0), amp.InitScale(c.scale), amp.GrowthInterval(interval))
	for k := range 40 {
		opt.ZeroGrad()
		var loss *tensor.Tensor
		amp.Autocast(c.policy, func() { loss = nn.MSELoss(net.Forward(x), y) })
		r := row{loss: loss.Item(), scale: scaler.CurrentScale()}
		scaler.Scale(loss).Backward()
		for _, bad := range c.bad {
			if bad == k || bad < 0 {
				value := c.value
				if value == 0 {
					value = inf
				}
				layers[0].Weight.Grad().Fill(value)
			}
		}
		scaler.Unscale(opt)
		for _, p := range opt.Params() {
			for _, g := range p.Grad().Float64s() {
				if g == 0 {
					r.zero++
				}
			}
		}
		if scaler.Step(opt).Skipped {
			r.skipped = 1
		}
		scaler.Update()
		r.tracker = scaler.GrowthTracker()
		rows = append(rows, r)
	}
	return rows
}

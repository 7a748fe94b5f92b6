package amp_test

import (
	"encoding/json"
	"math"
	"os"
	"slices"
	"strconv"
	"strings"
	"testing"

	"halfnote/amp"
	"halfnote/internal/testenv"
	"halfnote/tensor"
	"halfnote/tensor/nn"
	"halfnote/tensor/optim"
)

// trajectory is a run of testdata/trajectories.py.
type trajectory struct {
	Model, Name string
	Settings    struct {
		DType             string
		Init              *float64
		Interval          int
		Bad               []int
		Value             string
		Optimizers, Parts int
	}
	Rows    [][5]float64 // loss, scale, tracker, skipped, zeros
	Weights float64
}

// TestTrajectoriesMatchPyTorch compares training runs with those of testdata/trajectories.py, which
// uses torch.amp.GradScaler and PyTorch's optimizers. Scales, trackers and skips must be equal.
// Losses must agree to 1e-3 for ten steps, or 2e-3 in bfloat16, whose rounding is eight times as
// coarse, and to 2e-2 afterwards. The number of zeros in the gradients may differ a little, since
// the order of sums decides which round to 0.
func TestTrajectoriesMatchPyTorch(t *testing.T) {
	text, err := os.ReadFile("testdata/trajectories.json")
	if err != nil {
		t.Fatal(err)
	}
	var file struct{ Runs []trajectory }
	if err := json.Unmarshal(text, &file); err != nil {
		t.Fatal(err)
	}
	worst, zeros := map[string]float64{}, map[string]float64{}
	share := testenv.Share(t, 2)
	for i, c := range file.Runs {
		if i%share != 0 {
			continue
		}
		t.Run(c.Model+"/"+c.Name, func(t *testing.T) {
			rows, weights := c.train()
			for k, want := range c.Rows {
				got := rows[k]
				if !slices.Equal(got[1:4], want[1:4]) {
					t.Fatalf("step %d: scale, tracker and skips: got %v, want %v", k, got[1:4], want[1:4])
				}
				off := math.Abs(got[0]-want[0]) / want[0]
				worst[c.Model] = max(worst[c.Model], off)
				zeros[c.Model] = max(zeros[c.Model], math.Abs(got[4]-want[4]))
				if zeros[c.Model] > 6 {
					t.Fatalf("step %d: got %v zeros, want %v", k, got[4], want[4])
				}
				if limit := c.lossLimit(k); !(off <= limit) {
					t.Fatalf("step %d: loss: got %v, want %v within %v", k, got[0], want[0], limit)
				}
			}
			if off := math.Abs(weights-c.Weights) / c.Weights; !(off <= 1e-3) {
				t.Errorf("sum of the weights: got %v, want %v", weights, c.Weights)
			}
		})
	}
	t.Log("largest difference of losses:", worst, "of zeros:", zeros)
}

func (c trajectory) lossLimit(step int) float64 {
	switch {
	case step >= 10:
		return 2e-2
	case c.Settings.DType == "bfloat16":
		return 2e-3
	}
	return 1e-3
}

func (c trajectory) policy() amp.Policy {
	switch c.Settings.DType {
	case "float16":
		return amp.Float16
	case "bfloat16":
		return amp.BFloat16
	}
	return amp.Off
}

func (c trajectory) scaler() *amp.GradScaler {
	switch s := c.Settings; {
	case s.Init == nil:
		return amp.NewGradScaler(amp.ScalerEnabled(false))
	case strings.HasPrefix(c.Name, "static"):
		return amp.NewGradScaler(amp.StaticScale(*s.Init))
	default:
		return amp.NewGradScaler(amp.InitScale(*s.Init), amp.GrowthInterval(s.Interval))
	}
}

func (c trajectory) train() (rows [][]float64, weights float64) {
	tensor.ManualSeed(1)
	net := learners[c.Model].model()
	params := nn.Parameters(net)
	owned := [][]*tensor.Tensor{params}
	if c.Settings.Optimizers == 2 {
		half := len(params) / 2 / 2 * 2
		owned = [][]*tensor.Tensor{params[:half], params[half:]}
	}
	var opts []*optim.Optimizer
	for _, p := range owned {
		opts = append(opts, learners[c.Model].optimizer(p))
	}
	scaler, policy := c.scaler(), c.policy()
	parts := max(1, c.Settings.Parts)
	spoiled, _ := strconv.ParseFloat(c.Settings.Value, 64)
	x, y := net.data()
	for k := range c.Rows {
		nn.ZeroGrad(net)
		total := 0.0
		for part := range parts {
			n := x.Shape()[0] / parts
			from, to := part*n, part*n+n
			var loss *tensor.Tensor
			amp.Autocast(policy, func() { loss = net.loss(x.Slice(0, from, to), y.Slice(0, from, to)) })
			if parts > 1 {
				loss = loss.MulScalar(1 / float64(parts))
			}
			total += loss.Item()
			scaler.Scale(loss).Backward()
			if part == 0 && slices.Contains(c.Settings.Bad, k) {
				owned[len(owned)-1][0].Grad().Fill(spoiled)
			}
		}
		scale := scaler.CurrentScale()
		for _, opt := range opts {
			scaler.Unscale(opt)
		}
		zeros := 0
		for _, p := range params {
			zeros += p.Grad().Stats().Zeros
		}
		skipped := 0
		for i, opt := range opts {
			if scaler.Step(opt).Skipped {
				skipped |= 1 << i
			}
		}
		scaler.Update()
		tracker := float64(scaler.GrowthTracker())
		if strings.HasPrefix(c.Name, "static") {
			tracker = float64(k + 1) // torch's tracker counts up to an interval that it never reaches
		}
		rows = append(rows, []float64{total, scale, tracker, float64(skipped), float64(zeros)})
	}
	for _, p := range params {
		weights += p.Detach().Double().Abs().Sum().Item()
	}
	return rows, weights
}

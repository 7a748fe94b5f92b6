package models_test

import (
	"encoding/json"
	"math"
	"os"
	"slices"
	"testing"

	"halfnote/internal/testenv"
	"halfnote/tensor"
	"halfnote/tensor/nn"
	"halfnote/tensor/nn/models"
)

// step is the record of a network's first step that testdata/resnet.py wrote.
type step struct {
	Scores, Used, Sums, Grads []float64
	Loss                      float64
	Names                     []string
	Parameters                int
}

// TestResNets compares networks made from the same seed with PyTorch's: parameters, scores, gradients, and
// the scores in evaluation after one batch.
func TestResNets(t *testing.T) {
	text, err := os.ReadFile("testdata/resnet.json")
	if err != nil {
		t.Fatal(err)
	}
	var want map[string]step
	if err := json.Unmarshal(text, &want); err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct {
		name string
		make func() *models.ResNet
		size int
		tol  float64 // tolerance of gradients: rounding grows through fifty layers of statistics over 16 numbers
	}{
		{"resnet8", func() *models.ResNet { return models.NewCIFARResNet(8, models.ResNetOptions{}) }, 32, 1e-3},
		{"resnet18", func() *models.ResNet { return models.NewResNet18(models.ResNetOptions{Classes: 7}) }, 48, 1e-3},
		{"resnet50", func() *models.ResNet { return models.NewResNet50(models.ResNetOptions{Classes: 10, SmallStem: true}) }, 16, 1e-2},
	} {
		t.Run(c.name, func(t *testing.T) {
			if c.name == "resnet50" {
				testenv.Long(t)
			}
			want := want[c.name]
			tensor.ManualSeed(1)
			net := c.make()
			if got := nn.NumParameters(net); got != want.Parameters {
				t.Errorf("got %d numbers, want %d", got, want.Parameters)
			}
			state := nn.StateDict(net)
			for _, name := range want.Names {
				if state[name] == nil {
					t.Errorf("%s is missing", name)
				}
			}
			if len(state) != len(want.Names) {
				t.Errorf("got %d names, want %d", len(state), len(want.Names))
			}
			params := nn.Parameters(net)
			for i, p := range params {
				near(t, "sum", i, p.Detach().Double().Sum().Item(), want.Sums[i], 1e-5*math.Sqrt(float64(p.Numel())))
			}
			x, y := tensor.Randn(4, 3, c.size, c.size), []int{0, 3, 5, 2}
			scores := net.Forward(x)
			compare(t, "score", scores, want.Scores)
			loss := crossEntropy(scores, y)
			near(t, "loss", 0, loss.Item(), want.Loss, 1e-4*want.Loss)
			loss.Backward()
			for i, p := range params {
				near(t, "gradient", i, p.Grad().Double().Norm().Item(), want.Grads[i], c.tol*want.Grads[i]+1e-6)
			}
			nn.Eval(net)
			tensor.NoGrad(func() { compare(t, "score in evaluation", net.Forward(x), want.Used) })
		})
	}
}

// crossEntropy is the negated mean log-probability of the target classes.
func crossEntropy(scores *tensor.Tensor, classes []int) *tensor.Tensor {
	index := tensor.FromInts(classes, len(classes), 1)
	return scores.LogSoftmax(1).Gather(1, index).Mean().Neg()
}

func compare(t *testing.T, what string, got *tensor.Tensor, want []float64) {
	t.Helper()
	most := slices.MaxFunc(want, func(a, b float64) int { return int(math.Copysign(1, math.Abs(a)-math.Abs(b))) })
	for i, x := range got.Float64s() {
		near(t, what, i, x, want[i], 1e-3*math.Abs(most))
	}
}

func near(t *testing.T, what string, i int, got, want, within float64) {
	t.Helper()
	if !(math.Abs(got-want) <= within) {
		t.Errorf("%s %d: got %v, want %v", what, i, got, want)
	}
}

func TestSizes(t *testing.T) {
	for depth, want := range map[int]int{8: 75290, 14: 172506, 20: 269722, 32: 464154, 44: 658586, 56: 853018} {
		if got := nn.NumParameters(models.NewCIFARResNet(depth, models.ResNetOptions{})); got != want {
			t.Errorf("ResNet-%d: got %d parameters, want %d", depth, got, want)
		}
	}
	if got := nn.NumParameters(models.NewResNet34(models.ResNetOptions{InitFrom: tensor.NewGenerator(1)})); got != 21797672 {
		t.Errorf("ResNet-34: got %d parameters, want 21797672, as in torchvision", got)
	}
	if err := tensor.Try(func() { models.NewCIFARResNet(10, models.ResNetOptions{}) }); err == nil {
		t.Error("10 layers: got no error")
	}
}

func TestMLP(t *testing.T) {
	net := models.NewMLP([]int{4, 5, 3})
	if got := net.Forward(tensor.Ones(2, 4)).Shape(); !slices.Equal(got, []int{2, 3}) || len(net.Modules) != 3 {
		t.Errorf("got shape %v of %d modules, want (2, 3) of 3", got, len(net.Modules))
	}
	small := models.NewSmall()
	x := tensor.Randn(5, 8)
	want := tensor.Linear(tensor.Linear(tensor.Linear(x, small.FC1.Weight, small.FC1.Bias).ReLU(), small.FC2.Weight, small.FC2.Bias).ReLU(), small.FC3.Weight, small.FC3.Bias)
	if !tensor.Equal(small.Forward(x), want) || nn.NumParameters(small) != 8*16+16+16*16+16+16+1 {
		t.Error("the small network is not three layers with ReLU after two")
	}
}

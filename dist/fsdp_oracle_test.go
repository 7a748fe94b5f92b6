package dist

import (
	"fmt"
	"math"
	"os"
	"os/exec"
	"path/filepath"
	"testing"

	"halfnote/amp"
	"halfnote/internal/testenv"
	"halfnote/tensor"
	"halfnote/tensor/data"
	"halfnote/tensor/nn"
	"halfnote/tensor/optim"
)

// oraclePolicies holds the policies of fsdp.py, and how far losses and gradients may be from PyTorch's, relative to the largest.
var oraclePolicies = map[string]struct {
	policy    MixedPrecisionPolicy
	tolerance float64
}{
	"float32":          {MixedPrecisionPolicy{}, 1e-5},
	"bfloat16":         {MixedPrecisionPolicy{ParamDType: tensor.BFloat16, OutputDType: tensor.Float32}, 3e-2},
	"bfloat16-float32": {MixedPrecisionPolicy{ParamDType: tensor.BFloat16, ReduceDType: tensor.Float32, OutputDType: tensor.Float32}, 3e-2},
	"float16":          {MixedPrecisionPolicy{ParamDType: tensor.Float16, OutputDType: tensor.Float32}, 5e-3},
}

// TestTorchFullyShard takes the steps of PyTorch's fully_shard on two ranks: losses, gradients and the last state must be near, the
// scaler's decisions and scales equal. With PYTHON set, PyTorch runs now; otherwise its recorded steps are in testdata/fsdp.
func TestTorchFullyShard(t *testing.T) {
	folder := "testdata/fsdp"
	if python := os.Getenv("PYTHON"); python != "" {
		folder = t.TempDir()
		if out, err := exec.Command(python, "testdata/fsdp.py", folder).CombinedOutput(); err != nil {
			testenv.Missing(t, "torch", fmt.Sprintf("%v\n%s", err, out))
			folder = "testdata/fsdp"
		}
	}
	for name, test := range oraclePolicies {
		value, err := data.LoadTorch(filepath.Join(folder, name+".pt"))
		if err != nil {
			t.Fatal(err)
		}
		s := steps{}
		for key, x := range value.(map[string]any) {
			s[key] = x.(*tensor.Tensor)
		}
		t.Run(name, func(t *testing.T) {
			succeed(t, 2, func(g *group) { replaySharded(t, g, s, test.policy, test.tolerance) })
		})
	}
}

func replaySharded(t *testing.T, g *group, s steps, policy MixedPrecisionPolicy, tolerance float64) {
	net := nn.NewSequential(nn.NewLinear(6, 12), nn.NewReLU(), nn.NewLinear(12, 3))
	if err := nn.LoadStateDict(net, s.under("before.")); err != nil {
		panic(err)
	}
	model := shardBlocks(g, net, policy)
	params := nn.NamedParameters(model)
	opt := optim.NewSGD(nn.Parameters(model), 0.1, optim.Momentum(0.9))
	scaler := g.NewScaler(amp.InitScale(1024), amp.GrowthInterval(2), amp.ScalerEnabled(policy.ParamDType == tensor.Float16))
	for step := range 3 {
		rank := fmt.Sprintf("%d.%d.", step, g.rank)
		loss := nn.MSELoss(model.Forward(s[rank+"x"]), s[rank+"y"])
		if got, want := loss.Item(), s[rank+"loss"].Item(); got != want && !(math.Abs(got-want) <= tolerance*want) {
			t.Errorf("step %d: the loss of rank %d is %v, want %v", step, g.rank, got, want)
		}
		scaler.Scale(loss).Backward()
		gradients := s.under(fmt.Sprintf("%d.grad.", step))
		for _, p := range params {
			want := gradients[p.Name]
			got := tensor.New(joined(g, p.Tensor.Grad(), want.Numel())).Reshape(want.Shape()...)
			compareGradient(t, fmt.Sprintf("step %d, gradient of %s", step, p.Name), got, want, true, tolerance*largest(gradients))
		}
		r := scaler.Step(opt)
		scaler.Update()
		if want := s[fmt.Sprintf("%d.skipped", step)].Item() != 0; r.Skipped != want {
			t.Errorf("step %d: skipped is %v, want %v", step, r.Skipped, want)
		}
		if want := s[fmt.Sprintf("%d.scale", step)].Item(); scaler.CurrentScale() != want {
			t.Errorf("step %d: the scale is %v, want %v", step, scaler.CurrentScale(), want)
		}
		opt.ZeroGrad()
	}
	last := s.under("after.")
	for name, x := range StateDict(model) {
		compareGradient(t, name+" after the steps", x, last[name], true, tolerance*largest(last))
	}
}

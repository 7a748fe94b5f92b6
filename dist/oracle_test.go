package dist

import (
	"fmt"
	"math"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"halfnote/amp"
	"halfnote/internal/testenv"
	"halfnote/tensor"
	"halfnote/tensor/data"
	"halfnote/tensor/nn"
	"halfnote/tensor/optim"
)

// head is Head of ddp.py.
type head struct {
	Encoder *nn.TransformerEncoderLayer
	Head    *nn.Linear
}

func (h *head) Forward(x *tensor.Tensor) *tensor.Tensor {
	return h.Head.Forward(h.Encoder.Forward(x).Mean(1))
}

// oracleModels holds the models of ddp.py.
var oracleModels = map[string]func() nn.Module{
	"mlp": func() nn.Module { return nn.NewSequential(nn.NewLinear(6, 12), nn.NewReLU(), nn.NewLinear(12, 3)) },
	"cnn": func() nn.Module {
		return nn.NewSequential(nn.NewConv2d(1, 4, 3, nn.Padding(1)), nn.NewBatchNorm2d(4), nn.NewReLU(), nn.NewMaxPool2d(2), nn.NewFlatten(), nn.NewLinear(36, 3))
	},
	"transformer": func() nn.Module {
		return &head{nn.NewTransformerEncoderLayer(8, 2, nn.DimFeedforward(16), nn.DropoutP(0), nn.BatchFirst()), nn.NewLinear(8, 3)}
	},
}

var oracleHooks = map[string]CommHook{"float16-hook": FP16CompressHook, "bfloat16-hook": BF16CompressHook}

// steps holds what PyTorch's two ranks did.
type steps map[string]*tensor.Tensor

func (s steps) under(prefix string) map[string]*tensor.Tensor {
	part := map[string]*tensor.Tensor{}
	for name, x := range s {
		if rest, ok := strings.CutPrefix(name, prefix); ok {
			part[rest] = x
		}
	}
	return part
}

// TestTorchDDP replays PyTorch's steps on two ranks of each MPI library. Given PyTorch's gradients of each rank, the
// reduced gradients must have PyTorch's bits; with gradients computed here they must be near. Decisions and scales are equal in both. With
// PYTHON set, PyTorch runs now; otherwise its recorded steps are in testdata.
func TestTorchDDP(t *testing.T) {
	folder := os.Getenv("HALFNOTE_DIST_STEPS")
	if folder == "" {
		folder = "testdata"
		if python := os.Getenv("PYTHON"); python != "" {
			folder = t.TempDir()
			if out, err := exec.Command(python, "testdata/ddp.py", folder).CombinedOutput(); err != nil {
				testenv.Missing(t, "torch", fmt.Sprintf("%v\n%s", err, out))
				folder = "testdata"
			}
		}
		t.Setenv("HALFNOTE_DIST_STEPS", folder)
	}
	files, err := filepath.Glob(filepath.Join(folder, "*.pt"))
	if err != nil || len(files) == 0 {
		t.Fatal("there are no recorded steps: ", err)
	}
	onRanks(t, 2, func(t *testing.T) {
		for _, file := range files {
			value, err := data.LoadTorch(file)
			if err != nil {
				t.Fatal(err)
			}
			s := steps{}
			for name, x := range value.(map[string]any) {
				s[name] = x.(*tensor.Tensor)
			}
			kind, mode, _ := strings.Cut(strings.TrimSuffix(filepath.Base(file), ".pt"), "-")
			for _, own := range []bool{false, true} {
				t.Run(fmt.Sprintf("%s-%s-own=%v", kind, mode, own), func(t *testing.T) { replay(t, s, kind, mode, own) })
			}
		}
	})
}

// replay takes the steps of a file with gradients that it computes, or with those of PyTorch.
func replay(t *testing.T, s steps, kind, mode string, own bool) {
	dtype, _, _ := strings.Cut(mode, "-")
	net := oracleModels[kind]()
	ddp := NewDistributedDataParallel(net, BucketCapMB(0.0005))
	if hook := oracleHooks[mode]; hook != nil {
		ddp.RegisterCommHook(hook)
	}
	opt := optim.NewSGD(nn.Parameters(net), 0.1)
	scaler := amp.NewGradScaler(amp.InitScale(1024), amp.GrowthInterval(2), amp.ScalerEnabled(dtype == "float16"))
	policy := map[string]amp.Policy{"float32": amp.Off, "float16": amp.CPUFloat16, "bfloat16": amp.CPUBFloat16}[dtype]
	for step := range 3 {
		if err := nn.LoadStateDict(net, s.under(fmt.Sprintf("%d.state.", step))); err != nil {
			t.Fatal(err)
		}
		rank := fmt.Sprintf("%d.%d.", step, Rank())
		var loss *tensor.Tensor
		opt.ZeroGrad()
		if own {
			amp.Autocast(policy, func() { loss = nn.MSELoss(ddp.Forward(s[rank+"x"]).Float(), s[rank+"y"]) })
		} else {
			// The gradient of the sum of p·g is g. PyTorch's gradients are scaled, and the scale is a power of two.
			loss = tensor.Scalar(0)
			for _, p := range nn.NamedParameters(net) {
				loss = loss.Add(p.Tensor.Mul(s[rank+"local."+p.Name].DivScalar(scaler.CurrentScale())).Sum())
			}
		}
		scaler.Scale(loss).Backward()
		gradients := s.under(fmt.Sprintf("%d.grad.", step))
		for _, p := range nn.NamedParameters(net) {
			compareGradient(t, fmt.Sprintf("step %d, gradient of %s", step, p.Name), p.Tensor.Grad(), gradients[p.Name], own, tolerances[dtype]*largest(gradients))
		}
		r := scaler.Step(opt)
		scaler.Update()
		if want := s[fmt.Sprintf("%d.skipped", step)].Item() != 0; r.Skipped != want {
			t.Errorf("step %d: skipped is %v, want %v", step, r.Skipped, want)
		}
		if want := s[fmt.Sprintf("%d.scale", step)].Item(); scaler.CurrentScale() != want {
			t.Errorf("step %d: the scale is %v, want %v", step, scaler.CurrentScale(), want)
		}
	}
}

// tolerances are relative to the largest element of a step's gradients.
var tolerances = map[string]float64{"float32": 1e-5, "float16": 1e-2, "bfloat16": 6e-2}

// largest returns the largest finite element.
func largest(list map[string]*tensor.Tensor) (most float64) {
	for _, x := range list {
		for _, v := range x.Float64s() {
			if !math.IsInf(v, 0) && !math.IsNaN(v) {
				most = max(most, math.Abs(v))
			}
		}
	}
	return most
}

// compareGradient compares a reduced gradient with PyTorch's: its bits, or its values if the terms are our own. NaNs are equal.
func compareGradient(t *testing.T, what string, got, want *tensor.Tensor, own bool, tolerance float64) {
	t.Helper()
	a, b := got.Float64s(), want.Float64s()
	wrong := 0
	for i := range a {
		finite := !math.IsInf(b[i]-b[i], 0) && !math.IsNaN(b[i]-b[i])
		switch {
		case own && !finite: // inf or NaN in some order
			if !math.IsInf(a[i], 0) && !math.IsNaN(a[i]) && !math.IsNaN(b[i]) {
				wrong++
			}
		case own:
			if !(math.Abs(a[i]-b[i]) <= tolerance) {
				wrong++
			}
		case math.IsNaN(b[i]):
			if !math.IsNaN(a[i]) {
				wrong++
			}
		case math.Float64bits(a[i]) != math.Float64bits(b[i]):
			wrong++
		}
	}
	if wrong > 0 {
		t.Errorf("%s: %d of %d elements differ: got %v, want %v", what, wrong, len(a), got, want)
	}
}

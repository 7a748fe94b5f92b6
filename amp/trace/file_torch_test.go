package trace_test

import (
	"fmt"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"halfnote/amp"
	"halfnote/amp/trace"
	"halfnote/tensor"
	"halfnote/tensor/nn"
	"halfnote/tensor/optim"
)

// pattern returns the numbers that testdata/recipe.py has.
func pattern(shape ...int) *tensor.Tensor {
	n := 1
	for _, s := range shape {
		n *= s
	}
	list := make([]float64, n)
	for i := range list {
		list[i] = float64(i*7919%33-16) / 32
	}
	return tensor.New(list, shape...)
}

// recipe runs a program of testdata/recipe.py.
func recipe(sizes []int, clip bool, scale float64) *trace.Recorder {
	var layers []nn.Module
	for i := range len(sizes) - 1 {
		if i > 0 {
			layers = append(layers, nn.NewReLU())
		}
		layers = append(layers, nn.NewLinear(sizes[i], sizes[i+1]))
	}
	net := nn.NewSequential(layers...)
	params := nn.Parameters(net)
	for _, p := range params {
		p.SetData(pattern(p.Shape()...))
	}
	opt, scaler := optim.NewSGD(params, 0.001), amp.NewGradScaler(amp.InitScale(scale))
	x, y := pattern(16, sizes[0]), pattern(16, sizes[len(sizes)-1]).MulScalar(4)
	rec := trace.Start(trace.Models(net), trace.CountAlways())
	for range 6 {
		var loss *tensor.Tensor
		amp.Autocast(amp.CPUFloat16, func() { loss = nn.MSELoss(net.Forward(x), y) })
		scaler.Scale(loss).Backward()
		if clip {
			scaler.Unscale(opt)
			nn.ClipGradNorm(params, 0.1)
		}
		scaler.Step(opt)
		scaler.Update()
		opt.ZeroGrad()
	}
	rec.Stop()
	return rec
}

// TestTorchAndGo compares recordings of three programs in PyTorch with recordings of the same programs in Go: operations, dtypes, casts and
// modules of the forward pass and of the layers' derivatives, loss scales and skipped steps. docs/pytorch.md lists what has no counterpart.
func TestTorchAndGo(t *testing.T) {
	for _, p := range []struct {
		name  string
		sizes []int
		clip  bool
		scale float64
	}{
		{"r", []int{32, 32, 32, 32}, false, 1 << 16},
		{"recipe", []int{64, 64, 64, 64}, true, 1 << 24},
		{"blog", []int{8, 16, 16, 1}, false, 1 << 22},
	} {
		t.Run(p.name, func(t *testing.T) {
			rec, err := trace.Open(filepath.Join("testdata", p.name+".hnt.gz"))
			if err != nil {
				t.Fatal(err)
			}
			ours := recipe(p.sizes, p.clip, p.scale)
			for _, f := range []func(r *trace.Recorder) []string{forwardOf, productsOf, scalesOf} {
				got, want := f(rec.Recorder), f(ours)
				if len(want) == 0 || !slices.Equal(got, want) {
					t.Errorf("PyTorch's is\n%s\nGo's is\n%s", strings.Join(got, "\n"), strings.Join(want, "\n"))
				}
			}
		})
	}
}

// forwardOf lists the forward operations of modules and losses, without the norms of clipping.
func forwardOf(r *trace.Recorder) (list []string) {
	for _, op := range r.Ops() {
		if op.Name != "norm" && !op.Backward && !op.InPlace && (op.Module != "" || strings.HasSuffix(op.Name, "_loss")) {
			list = append(list, fmt.Sprint(op.Step, " ", op.Name, " ", op.Module, " ", op.Computed, " ", op.Out, " ", op.Shape, " ", op.Casts, " ", op.Cached, " ", op.Counts.Infs, " ", op.Counts.NaNs, " ", op.Category))
		}
	}
	return list
}

// productsOf lists the products of derivatives, by module: the order of those of a layer is not the same.
func productsOf(r *trace.Recorder) (list []string) {
	for _, op := range r.Ops() {
		if op.Backward && op.Of == "linear" && op.Name == "matmul" {
			list = append(list, fmt.Sprint(op.Step, " ", op.Module, " ", op.Computed, " ", op.Out, " ", op.Counts.Count))
		}
	}
	slices.Sort(list)
	return list
}

// scalesOf lists the steps.
func scalesOf(r *trace.Recorder) (list []string) {
	for _, s := range r.Steps() {
		list = append(list, fmt.Sprint(s.Of, " ", s.Scale, " ", s.After, " ", s.Skipped))
	}
	return list
}

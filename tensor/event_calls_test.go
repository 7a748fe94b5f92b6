package tensor_test

import (
	"fmt"
	"slices"
	"testing"

	"halfnote/internal/plumbing"
	"halfnote/tensor"
	"halfnote/tensor/nn"
	"halfnote/tensor/optim"
)

// TestCalls checks the order and the contents of the calls of a training step.
func TestCalls(t *testing.T) {
	l := nn.NewLinear(2, 1)
	opt := optim.NewSGD(nn.Parameters(l), 0.1)
	schedule := optim.NewStepLR(opt, 2, 0.5)
	step := func() {
		loss := l.Forward(tensor.Ones(3, 2)).Mean()
		loss.Backward()
		nn.ClipGradNorm(nn.Parameters(l), 0.25)
		nn.ClipGradValue(nn.Parameters(l), 0.5)
		opt.Step()
		schedule.Step()
		loss.Item()
		opt.ZeroGrad()
		nn.ZeroGrad(l)
	}
	var got []string
	stop := tensor.Internal(plumbing.Token{}).Calls.Observe(func(m plumbing.Call[*tensor.Tensor]) {
		if m.Name != "item" || m.Module == "" { // GradNorm's calls are those of clip_grad_norm_
			got = append(got, fmt.Sprintf("%s %d %g", m.Name, len(m.Tensors), m.Number))
		}
	})
	stopOps := tensor.Observe(func(tensor.Event) {}) // modules are tracked only while operations are observed
	step()
	stop()
	stopOps()
	step()
	want := []string{
		"backward 1 0", "clip_grad_norm_ 2 0.25", "clip_grad_value_ 2 0.5", "optimizer.step 2 0", "optimizer.stepped 0 0",
		"lr_scheduler.step 2 0", "item 1 0", "zero_grad 2 0", "zero_grad 2 0",
	}
	if !slices.Equal(got, want) {
		t.Errorf("got  %q\nwant %q", got, want)
	}
}

package amp_test

import (
	"errors"
	"testing"

	"halfnote/amp"
	"halfnote/tensor"
)

// TestPlainFunction checks that a function without CustomFwd runs forward under the enclosing
// region and backward without autocast, as in torch if backward is called outside the region.
func TestPlainFunction(t *testing.T) {
	var forward, backward amp.Policy
	f := tensor.Function{
		Forward: func(c *tensor.Context, in []ten) ten {
			forward = amp.Active()
			c.Save(in...)
			return in[0].MM(in[0])
		},
		Backward: func(c *tensor.Context, dy ten) []ten {
			backward = amp.Active()
			return []ten{dy.MM(c.Saved()[0].T().To(dy.DType())).MulScalar(2)}
		},
	}
	x := tensor.Eye(4).RequireGrad()
	amp.Autocast(amp.Float16, func() {
		y := f.Apply(x)
		if y.DType() != tensor.Float16 {
			t.Errorf("got result of %v, want float16", y.DType())
		}
		y.Sum().Backward()
	})
	if forward != amp.Float16 || backward != amp.Off || x.Grad().DType() != tensor.Float32 {
		t.Errorf("got forward under %v, backward under %v, gradient of %v", forward, backward, x.Grad().DType())
	}
	var e *amp.Error
	if err := try(func() { amp.CustomBwd(f).Apply(x).Sum().Backward() }); !errors.As(err, &e) || e.Code != "no_custom_fwd" {
		t.Errorf("CustomBwd without CustomFwd: got error %v", err)
	}
}

// TestCheckpointUnderAutocast checks that after the end of the region Checkpoint recomputes under the
// original policy and with the same random numbers, and that the gradients are those without Checkpoint.
func TestCheckpointUnderAutocast(t *testing.T) {
	for _, p := range []amp.Policy{amp.Float16, amp.BFloat16, amp.Off, amp.Float16.WithCache(false)} {
		run := func(through func(f func(in ...ten) ten, in ...ten) ten) (y, gx, gw ten) {
			g := tensor.NewGenerator(3)
			tensor.ManualSeed(4)
			x, w := g.Randn(8, 8).RequireGrad(), g.Randn(8, 8).RequireGrad()
			amp.Autocast(p, func() {
				y = through(func(in ...ten) ten {
					return tensor.Linear(tensor.Dropout(tensor.Linear(in[0], w, nil).ReLU(), .5, true), w, nil)
				}, x)
			})
			y.Float().Sum().Backward()
			return y, x.Grad(), w.Grad()
		}
		y, gx, gw := run(func(f func(in ...ten) ten, in ...ten) ten { return f(in...) })
		cy, cgx, cgw := run(tensor.Checkpoint)
		if !sameBits(y, cy) || !sameBits(gx, cgx) || !sameBits(gw, cgw) {
			t.Errorf("%v: got result %v and gradients %v, %v; want %v and %v, %v", p, cy, cgx, cgw, y, gx, gw)
		}
	}
}

// TestRegisterAutocastErrors checks that a registration cannot change torch's lists.
func TestRegisterAutocastErrors(t *testing.T) {
	for want, f := range map[string]func(){
		`amp: RegisterAutocast: softmax is an operation of package tensor; move it in one policy, for example amp.Float16.With("softmax", amp.FP32)`: func() { amp.RegisterAutocast("softmax", amp.FP32) },
		"amp: RegisterAutocast: the name is empty; pass the Name in the operation's Info":                                                            func() { amp.RegisterAutocast("", amp.FP32) },
		"amp: RegisterAutocast: mine cannot be moved to category 77; want amp.Unlisted, LowerPrecision, FP32, Promote or Banned":                     func() { amp.RegisterAutocast("mine", 77) },
		`amp: With: unknown operation "mine"; amp.Ops() lists all operations`:                                                                        func() { amp.Float16.With("mine", amp.FP32) },
	} {
		if err := try(f); err == nil || err.Error() != want {
			t.Errorf("got error %v, want %s", err, want)
		}
	}
}

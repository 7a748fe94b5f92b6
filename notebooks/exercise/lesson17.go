package exercise

import (
	"fmt"

	"halfnote/amp"
	"halfnote/tensor"
)

var lesson17 = lesson{
	number: "17", title: "What went wrong?",
	predictions: []prediction{{id: "17", question: "Which operation of the normalisation makes the first infinity in float16?", guess: choice("mul", "mean", "sub", "sqrt", "div")}},
	exercises: []exercise{
		{
			id: "17.1", kind: warmUp, task: "the value of 1e-8 in float16",
			accept: exact(0),
			why:    "The smallest float16 number above 0 is 2^-24, about 6e-8. 1e-8 is below half of it and becomes 0.",
			hints:  []string{"What is the smallest float16 number above 0?", "`tensor.Scalar(1e-8).Half().Item()` tells."},
			mistakes: []mistake{
				{near(5.96e-8, 0.01), "1e-8 is below half of the smallest number, so it is rounded to the other neighbour."},
				{exact(1e-8), "float16 has no number there: its smallest number above 0 is about 6e-8."},
			},
		},
		{
			id: "17.2", kind: change, task: "the share of gradients flushed to 0 at scale 16, in percent",
			accept:   near(2.3, 0.03),
			why:      "At scale 16 the gradients are 16 times as large, and 2.3 % still become 0, in place of 23.8 %.",
			hints:    []string{"Change the first argument of WhatIf and run the cell again.", "The table of the chart has the same number, at 2⁴."},
			mistakes: []mistake{{near(23.8, 0.01), "That is the share at scale 1."}, {near(0.023, 0.03), "Answer in percent: multiply by 100."}},
		},
		{
			id: "17.3", kind: design, task: "a policy",
			accept: satisfies("a policy such as amp.Float16", func(given any) error { return normalises(given, tensor.Float16) }),
			why:    "Only the squares leave float16's range. With mul in float32 all that follows from them is float32 too, and the linear layers keep their speed.",
			hints:  []string{"Which operation makes the first infinity?", "amp.Float16.With(operation, amp.FP32) moves one operation to float32."},
			mistakes: []mistake{
				{satisfies("", func(given any) error { return normalises(given, tensor.Float32) }), "The linear layers then run in float32. Move only the operation that overflows."},
				{satisfies("", func(given any) error { return normalises(given, tensor.BFloat16) }), "bfloat16 has the range, but the linear layers must run in float16 here."},
			},
		},
		{
			id: "17.4", kind: findBug, task: "the missing line",
			accept:   code("wrongScaler.Unscale(wrongOpt)", "scaler.Unscale(opt)"),
			why:      "Clipping needs the true gradients. Without Unscale they are 65536 times too long, and clipping reduces them to almost nothing.",
			hints:    []string{"The linter calls it clip-before-unscale.", "Which method of the scaler divides the gradients?"},
			mistakes: []mistake{{code("wrongOpt.ZeroGrad()", "opt.ZeroGrad()"), "ZeroGrad is missing too, but before Backward or after Step. Here it would delete the gradients."}},
		},
		{
			id: "17.5", kind: findBug, task: "the module that must leave the network",
			accept:   text("Sigmoid", "nn.NewSigmoid()", "nn.NewSigmoid"),
			why:      "The loss with logits applies a sigmoid itself. With two of them the loss cannot fall to 0.",
			hints:    []string{"What does the loss do with logits before it compares them?", "The linter calls it double-sigmoid."},
			mistakes: []mistake{{text("ReLU", "nn.NewReLU()"), "The ReLU belongs between the two linear layers."}},
		},
	},
}

// normalises tests that the normalisation of the lesson is finite under a policy, and that linear layers run in want.
func normalises(given any, want tensor.DType) error {
	policy, ok := given.(amp.Policy)
	if !ok {
		return fmt.Errorf("want a policy such as amp.Float16, not %T", given)
	}
	x, w := tensor.New([]float64{3000, 2999, 2000, 0}, 1, 4), tensor.Ones(1, 4)
	var finite bool
	var linear tensor.DType
	amp.Autocast(policy, func() {
		linear = tensor.Linear(x, w, nil).DType()
		h := x.To(linear)
		mean := h.KeepDim().Mean(-1)
		variance := h.Mul(h).KeepDim().Mean(-1).Sub(mean.Mul(mean))
		finite = h.Sub(mean).Div(variance.AddScalar(1e-8).Sqrt()).IsFinite().All().Item() == 1 && variance.IsFinite().All().Item() == 1
	})
	switch {
	case linear != want:
		return fmt.Errorf("linear layers run in %v", linear)
	case !finite:
		return fmt.Errorf("the normalisation is not finite for activations of 3000")
	}
	return nil
}

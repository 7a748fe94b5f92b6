package exercise

import (
	"errors"
	"fmt"
	"math"

	"halfnote/tensor"
)

var lesson07 = lesson{
	number: "07", title: "Build GradScaler in 20 lines",
	predictions: []prediction{{id: "07", question: "How many of the 300 steps are skipped?", guess: count(0, 300)}},
	exercises: []exercise{
		{
			id: "07.1", kind: warmUp, task: "the scale after 4200 steps",
			accept: number(65536),
			why:    "Step 500 halves the scale to 32768 and sets the count back to 0. 2000 good steps later, at step 2500, it doubles to 65536. The next time would be step 4500.",
			hints:  []string{"What happens to the count of good steps when a step overflows?", "After step 500 the count starts at 0 again. At which steps does the scale double?"},
			mistakes: []mistake{
				{number(131072), "You let the scale double at steps 2000 and 4000. But step 500 sets the count of good steps back to 0."},
				{number(262144), "The scale also halves once, and the count of good steps starts again there."},
				{number(32768), "32768 is the scale right after step 500. 3700 good steps follow."},
			},
		},
		{
			id: "07.2", kind: change, task: "the share of skipped steps as a formula in n",
			accept: formula("1/(n+1)", "n"),
			why:    "n good steps, then one that is skipped at twice the scale, and again from the start: one of n + 1.",
			hints:  []string{"Write down one round: good steps, doubling, and then?", "A round has n good steps and one that is skipped."},
			mistakes: []mistake{
				{formula("1/n", "n"), "Almost: the skipped step is a step too. How many steps has a whole round?"},
				{formula("n/(n+1)", "n"), "That is the share of the good steps."},
				{formula("1/(2*n)", "n"), "After each doubling the very next step overflows: how many steps lie between two of them?"},
			},
		},
		{
			id: "07.3", kind: design, task: "the function",
			accept: function(func(f func(x *tensor.Tensor) *tensor.Tensor) error {
				for _, norm := range []float64{0.5, 5} {
					if got := clippedNorm(f, norm); math.Abs(got-min(norm, 1)) > 1e-3 {
						return fmt.Errorf("a true gradient of norm %g comes back with norm %.3g, want %g", norm, got, min(norm, 1))
					}
				}
				if g := gradient07(0.5); !tensor.AllClose(f(g.MulScalar(65536)), g, 1e-5, 1e-6) {
					return errors.New("a gradient that is short enough changes its direction")
				}
				return nil
			}),
			why:   "Unscale first, then clip: the limit is meant for true gradients. `scaler.Unscale(opt)` before `nn.ClipGradNorm` does the same.",
			hints: []string{"Divide by 65536 first. Then look at the norm.", "If the norm of the true gradient is at most 1, return it as it is; otherwise divide it by its norm."},
			mistakes: []mistake{
				{function(func(f func(x *tensor.Tensor) *tensor.Tensor) error { return closeTo(clippedNorm(f, 5), 0) }), "It returns 0. In Go `1/65536` is a quotient of whole numbers, which is 0: write `1.0/65536`, or use `DivScalar`."},
				{function(func(f func(x *tensor.Tensor) *tensor.Tensor) error { return closeTo(clippedNorm(f, 5), 1.0/65536) }), "You clipped the scaled gradient to 1 and divided afterwards. What is left has a norm of 1/65536: the network would hardly move."},
				{function(func(f func(x *tensor.Tensor) *tensor.Tensor) error { return closeTo(clippedNorm(f, 0.5), 1) }), "A true gradient of norm 0.5 is below the limit and must stay as it is, but yours comes back with norm 1. Compare the norm of the *true* gradient with 1, and divide only if it is larger."},
				{function(func(f func(x *tensor.Tensor) *tensor.Tensor) error { return closeTo(clippedNorm(f, 5), 5) }), "The gradient is unscaled now. The clipping is missing."},
			},
		},
		{
			id: "07.4", kind: findBug, task: "the number of the line that must move in front of the loop",
			accept: exact(3),
			why:    "A new scaler in each step forgets what the last one learned: it starts at 2⁴⁰ again and again.",
			hints:  []string{"The scaler halves its scale in each step. Which scale does the next step use?", "Which object must survive from one step to the next?"},
			mistakes: []mistake{
				{exact(7), "`Update` belongs into the loop: it sets the scale for the next step. But for which scaler?"},
				{exact(4), "The loss must be computed in each step, with the current weights."},
			},
		},
	},
}

// gradient07 returns a gradient with the given norm.
func gradient07(norm float64) *tensor.Tensor {
	g := tensor.NewGenerator(7).Randn(32)
	return g.MulScalar(norm / g.Norm().Item())
}

// clippedNorm returns the norm of what f makes of a gradient with the given norm, multiplied by 65536.
func clippedNorm(f func(x *tensor.Tensor) *tensor.Tensor, norm float64) float64 {
	return f(gradient07(norm).MulScalar(65536)).Norm().Item()
}

// closeTo returns nil for numbers that differ by at most 0.1 %.
func closeTo(got, want float64) error { return near(want, 1e-3).check(got) }

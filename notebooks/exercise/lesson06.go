package exercise

import (
	"errors"
	"fmt"
	"math"

	"halfnote/tensor"
)

var lesson06 = lesson{
	number: "06", title: "Vanishing gradients",
	predictions: []prediction{{id: "06", question: "Which share of the gradients, in percent, becomes 0 in float16?", guess: percentage(0.1)}},
	exercises: []exercise{
		{
			id: "06.1", kind: warmUp, task: "the largest power of two that float16 rounds to 0",
			accept: number(math.Exp2(-25)),
			why:    "2⁻²⁵ lies halfway between 0 and 2⁻²⁴, the smallest number. A tie goes to the even neighbour, and that is 0.",
			hints:  []string{"The smallest number above 0 is 2⁻²⁴. What is rounded to it, and what to 0?", "Try `tensor.Scalar(math.Exp2(-25)).Half().Item()` with several powers."},
			mistakes: []mistake{
				{near(math.Exp2(-24), 0.01), "2⁻²⁴ is the smallest number of float16, so it is kept. Look below it."},
				{near(math.Exp2(-14), 0.01), "2⁻¹⁴ is the smallest *normal* number. Subnormal numbers reach further down."},
				{near(math.Exp2(-26), 0.01), "2⁻²⁶ becomes 0, but it is not the largest power that does."},
			},
		},
		{
			id: "06.2", kind: change, task: "the smallest power of two that is a good loss scale here",
			accept: exact(32),
			why:    "At 32 the last loss is 0.6 % above that of float32. Larger scales are as good, up to the one at which the first gradient overflows.",
			hints:  []string{"Try the powers of two one after the other: the last loss falls towards that of float32.", "The number that the cell prints last must be at most 1.01."},
			mistakes: []mistake{
				{exact(16), "At 16 the last loss is 2.4 % above that of float32."},
				{exact(64), "64 is good, but a smaller one is too."},
				{exact(65536), "65536 is good, and it is what PyTorch starts with. But how small can a good scale be?"},
			},
		},
		{
			id: "06.3", kind: design, task: "the function",
			accept: function(checkRescue),
			why:    "A scale that lifts the largest magnitude close to 65504 leaves the most room for the small ones.",
			hints: []string{
				"The largest magnitude times the scale must stay below 65504, and the small ones want the scale as large as possible.",
				"`math.Exp2(math.Floor(math.Log2(65504 / largest)))` is the largest power of two that fits.",
			},
			mistakes: []mistake{{
				function(func(f func(g *tensor.Tensor) *tensor.Tensor) error {
					if rescued(f, 1) == nil && checkRescue(f) != nil {
						return nil
					}
					return errWrong
				}),
				"Gradients around 1 arrive well, but not those around 10⁻⁹ or 10⁶. A fixed scale cannot fit all of them: compute it from `g`.",
			}},
		},
		{
			id: "06.4", kind: findBug, task: "the learning rate of an ordinary loop that changes the weights alike",
			accept: number(102.4),
			why:    "The gradients stay 1024 times as large, so every step is 1024 times as long: 0.1 · 1024.",
			hints:  []string{"After `Backward` the gradients carry the scale. What should happen to them before `Step`?", "A step is the learning rate times the gradient, and the gradient is 1024 times as large."},
			mistakes: []mistake{
				{number(0.1), "0.1 is what the author wrote. But the gradients are multiplied by 1024 and never divided."},
				{number(0.1 / 1024), "It is the other way round: the steps are too long, as the loss shows."},
				{number(1024), "Almost: the factor is 1024, and the learning rate is 0.1."},
			},
		},
		{
			id: "06.5", kind: findBug, task: "the name of the missing class",
			accept: text("GradScaler", "amp.GradScaler", "NewGradScaler", "amp.NewGradScaler"),
			why:    "Without a scaler the loss is not multiplied, and the small gradients of float16 flush to zero at `Backward`.",
			hints:  []string{"The loss goes into `Backward` as it is.", "The next lesson builds this class in 20 lines."},
			mistakes: []mistake{
				{text("Autocast", "amp.Autocast"), "Autocast is in the loop. What should happen to the loss before `Backward`?"},
				{text("Backward", "loss.Backward()", "loss.Backward"), "That is the line in which the gradients are lost. Which class should multiply the loss before it?"},
			},
		},
	},
}

func checkRescue(f func(g *tensor.Tensor) *tensor.Tensor) error {
	for _, size := range []float64{1e-9, 1, 1e6} {
		if err := rescued(f, size); err != nil {
			return err
		}
	}
	return nil
}

// rescued returns an error unless f returns gradients of the given size with at most the error of float16.
func rescued(f func(g *tensor.Tensor) *tensor.Tensor, size float64) error {
	r := tensor.NewGenerator(6)
	g := r.Uniform(0.01, 1, 16, 16).Mul(r.Randn(16, 16).Sign()).MulScalar(size)
	got := f(g.Clone())
	switch counts := got.Counts(); {
	case counts.Infs+counts.NaNs > 0:
		return fmt.Errorf("of gradients around %g, %d of %d came back infinite or NaN", size, counts.Infs+counts.NaNs, counts.Count)
	case counts.Zeros > 0:
		return fmt.Errorf("of gradients around %g, %d of %d came back as 0", size, counts.Zeros, counts.Count)
	case !tensor.AllClose(got.To(tensor.Float32), g, math.Exp2(-11), 0):
		return fmt.Errorf("gradients around %g came back with a larger error than that of float16", size)
	}
	for _, v := range got.Float64s() {
		if m, _ := math.Frexp(v); math.Ldexp(m, 11) != math.Trunc(math.Ldexp(m, 11)) {
			return errors.New("a gradient came back with more digits than float16 has: it did not go through float16, or the scale is not a power of two")
		}
	}
	return nil
}

package exercise

import (
	"fmt"
	"math"

	"halfnote/tensor"
)

var lesson22 = lesson{
	number: "22", title: "Which sixteen bits for reinforcement learning?",
	predictions: []prediction{{id: "22", question: "How many times smaller is the KL divergence in float16?", guess: size(0.5)}},
	exercises: []exercise{
		{
			id: "22.1", kind: warmUp, task: "how many times larger the gap after 1 is in bfloat16 than in float16",
			accept: exact(8),
			why:    "float16 has ten bits of fraction and bfloat16 seven. Three bits are a factor of 8.",
			hints:  []string{"`tensor.FInfo(tensor.Float16).Eps` is the gap after 1.", "Divide the two gaps."},
			mistakes: []mistake{
				{exact(3), "Three is the number of bits. Each of them halves the gap."},
				{exact(0.125), "That is the gap of float16 in units of bfloat16's. Turn the quotient round."},
			},
		},
		{
			id: "22.2", kind: change, task: "a formula for the factor by which a KL divergence shrinks if the differences of logarithms become e times smaller",
			accept: formula("e^2", "e"),
			why:    "For small differences d the divergence is the mean of d²/2. Errors that are 8 times smaller make it 64 times smaller.",
			hints:  []string{"Look at the formula with the exponential: what is left of it for a small d?", "e^d is about 1 + d + d²/2."},
			mistakes: []mistake{
				{formula("e", "e"), "That is the factor of the differences. The first-order terms cancel in a divergence."},
				{formula("e^2/2", "e"), "The 2 divides both divergences, so it is not part of their ratio."},
			},
		},
		{
			id: "22.3", kind: design, task: "a function of differences d = log q - log p that returns e^d - 1 - d for each",
			accept: function(estimatesKL),
			why:    "Its mean over samples from p is the divergence of p from q, as that of -d is, but no term is negative, and it varies much less. It is the estimator k3 of J. Schulman, *Approximating KL Divergence*, 2020.",
			hints:  []string{"`d.Exp()` is e^d for each element.", "`.SubScalar(1)` and `.Sub(d)` do the rest."},
			mistakes: []mistake{
				{klGives(func(d float64) float64 { return -d }), "The mean of -d is right, but a single term may be negative. Add e^d - 1, whose mean is 0."},
				{klGives(func(d float64) float64 { return d * d / 2 }), "That is right for small differences only."},
				{klGives(func(d float64) float64 { return math.Exp(d) - 1 }), "The mean of e^d - 1 is 0. Subtract d."},
			},
		},
	},
}

// logRatios are differences of logarithms, small and large.
var logRatios = []float64{0, 0.5, -0.5, 2, -3}

// estimatesKL reports what is wrong with a function that estimates a divergence.
func estimatesKL(f func(x *tensor.Tensor) *tensor.Tensor) error {
	y := f(tensor.New(logRatios))
	if y == nil || y.Numel() != len(logRatios) {
		return fmt.Errorf("want a tensor of the same shape")
	}
	for i, d := range logRatios {
		if got, want := y.At(i), math.Exp(d)-1-d; math.Abs(got-want) > 1e-5 {
			return fmt.Errorf("for d = %g it returns %.4g, want %.4g", d, got, want)
		}
	}
	return nil
}

// klGives accepts functions that return want(d) for each difference, for a mistake.
func klGives(want func(d float64) float64) answer {
	return function(func(f func(x *tensor.Tensor) *tensor.Tensor) error {
		y := f(tensor.New(logRatios))
		if y == nil || y.Numel() != len(logRatios) {
			return errWrong
		}
		for i, d := range logRatios {
			if math.Abs(y.At(i)-want(d)) > 1e-5 {
				return errWrong
			}
		}
		return nil
	})
}

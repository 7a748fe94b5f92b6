package exercise

import (
	"fmt"
	"math"

	"halfnote/tensor"
)

var lesson08 = lesson{
	number: "08", title: "Master weights",
	predictions: []prediction{{id: "08", question: "What is the float16 weight of 1 after ten thousand updates of 0.0001?", guess: anyNumber()}},
	exercises: []exercise{
		{
			id: "08.1", kind: warmUp, task: "the largest power of two that leaves 1 as it is",
			accept: number(math.Exp2(-11)),
			why:    "The gap above 1 is 2⁻¹⁰. Half of it, 2⁻¹¹, is a tie, and the even neighbour is 1.",
			hints:  []string{"The next number after 1 is 1 + 2⁻¹⁰. Which sums are rounded to it, and which to 1?", "A tie goes to the even neighbour, the one whose last bit is 0."},
			mistakes: []mistake{
				{number(math.Exp2(-10)), "1 + 2⁻¹⁰ is the next number after 1, so the sum is exact and the weight moves."},
				{number(math.Exp2(-24)), "2⁻²⁴ is the smallest number of float16. It is lost next to 1, but much larger numbers are too."},
				{number(math.Exp2(-12)), "2⁻¹² is lost, but it is not the largest power that is."},
			},
		},
		{
			id: "08.2", kind: change, task: "the smallest power of two that an update of 0.00002 does not change",
			accept: number(1.0 / 16),
			why:    "From 1/16 to 1/8 the gap is 2⁻¹⁴, or 0.00006, and half of it is more than the update. Every larger weight stays as it is too.",
			hints:  []string{"Add 1/2, 1/4, 1/8 … to the list.", "The gap at a weight of 2^e is 2^(e-10). The update is lost if it is at most half of it."},
			mistakes: []mistake{
				{number(1.0 / 32), "At 1/32 the gap is 0.00003, and the update is more than half of it: the weight is rounded up."},
				{number(1), "1 does not change, but smaller weights do not either. How small?"},
				{number(1.0 / 1024), "The cell prints that 1/1024 changes. Try larger weights."},
			},
		},
		{
			id: "08.3", kind: design, task: "the function",
			accept: function(checkMaster),
			why:    "A float32 master takes every update, and the network gets its float16 copy. Adding the updates first, or keeping the rounding error for the next addition, works too.",
			hints:  []string{"Which dtype should `w` have while the updates are added?", "Cast once, at the end: `w.Half()`."},
			mistakes: []mistake{
				{
					function(func(f func(updates *tensor.Tensor) *tensor.Tensor) error {
						if f(tensor.Full(1e-4, 512)).DType() == tensor.Float32 {
							return nil
						}
						return errWrong
					}),
					"The weight is float32 now, and no update is lost. The network wants a float16 copy of it.",
				},
				{
					function(func(f func(updates *tensor.Tensor) *tensor.Tensor) error {
						return exact(1).check(f(tensor.Full(1e-4, 512)))
					}),
					"The weight is still 1. Each update alone is too small for it: where can small numbers add up?",
				},
			},
		},
		{
			id: "08.4", kind: findBug, task: "the number of the line",
			accept: exact(4),
			why:    "Each step makes a new master from the float16 copy, and what the last update added is gone with the old master. The line belongs in front of the loop.",
			hints:  []string{"What does the master know of the step before?", "Follow one update: it is added in float32, then cast, then cast back. When is it lost?"},
			mistakes: []mistake{
				{exact(6), "The copy must be made in each step: the network computes with it. But what does the master start from?"},
				{exact(5), "The update itself is added in float32, which is right."},
				{exact(1), "The network needs a float16 copy, and this is the first one."},
			},
		},
	},
}

func checkMaster(f func(updates *tensor.Tensor) *tensor.Tensor) error {
	for _, update := range []float64{1e-4, -1e-4} {
		const n = 2048
		got, want := f(tensor.Full(update, n)), 1+n*update
		if got.DType() != tensor.Float16 {
			return fmt.Errorf("the result is %s, want float16", got.DType())
		}
		if math.Abs(got.Item()-want) > 1e-3 {
			return fmt.Errorf("%d updates of %g make %.5g, want about %.5g", n, update, got.Item(), want)
		}
	}
	return nil
}

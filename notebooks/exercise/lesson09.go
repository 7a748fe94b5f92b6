package exercise

import (
	"fmt"

	"halfnote/tensor"
)

var lesson09 = lesson{
	number: "09", title: "Clip, accumulate, penalise",
	predictions: []prediction{{id: "09", question: "Gradients of norm 0.6 carry the scale 1024, are clipped to 0.1, and are then unscaled. What is their norm?", guess: size(0.02)}},
	exercises: []exercise{
		{
			id: "09.1", kind: warmUp, task: "the largest norm of gradients that are clipped to 1 while they carry the scale 65536, after Unscale",
			accept: number(1.0 / 65536),
			why:    "Clipping cuts the scaled gradients to 1, and Unscale divides this by 65536: 2^-16 is left.",
			hints:  []string{"Which norm do the *scaled* gradients have after clipping?", "Unscale divides by the scale."},
			mistakes: []mistake{
				{number(1), "1 is the norm of the scaled gradients. Unscale divides them afterwards."},
				{number(65536), "The gradients become shorter, not longer: Unscale divides."},
			},
		},
		{
			id: "09.2", kind: change, task: "the numbers of the batches after which the loop steps",
			accept:   list(number(3), number(7), number(9)),
			why:      "Full effective batches end after batches 3 and 7. The last two batches make a smaller one, which ends with the epoch. Their losses are divided by 2.",
			hints:    []string{"The batches are numbered from 0, so the first four are 0, 1, 2 and 3.", "What happens to the gradients of batches 8 and 9?"},
			mistakes: []mistake{{list(number(3), number(7)), "Batches 8 and 9 get no step, and their gradients leak into the next epoch."}},
		},
		{
			id: "09.3", kind: design, task: "a function that returns the gradient which the optimizer should apply",
			accept: function(func(f func(x *tensor.Tensor) *tensor.Tensor) error { return clipsAfter(f, 1024, 1) }),
			why:    "The gradient is divided by the scale first. Then its norm is the true one, and is limited to 1; a shorter gradient stays as it is.",
			hints:  []string{"Which comes first, the division by 1024 or the limit?", "A gradient whose true norm is below 1 must not change. Above it, multiply by 1 / norm."},
			mistakes: []mistake{
				{function(func(f func(x *tensor.Tensor) *tensor.Tensor) error { return clipsAfter(f, 1024, 1.0/1024) }), "You limit the scaled gradient to 1 and divide afterwards, so that the result is 1024 times too short."},
				{function(func(f func(x *tensor.Tensor) *tensor.Tensor) error {
					if x := scaledGradient(50); !tensor.Equal(f(x), x) {
						return errWrong
					}
					return nil
				}), "The gradient still carries the scale: divide by 1024 first."},
				{function(func(f func(x *tensor.Tensor) *tensor.Tensor) error {
					if f(scaledGradient(50)).Norm().Item() != 0 {
						return errWrong
					}
					return nil
				}), "It returns 0. In Go `1/1024` is a quotient of whole numbers, which is 0: write `1.0/1024`, or use `DivScalar`."},
			},
		},
		{
			id: "09.4", kind: findBug, task: "the line that must move into the if",
			accept:   code("scaler.Update()"),
			why:      "The scale must stay the same for all gradients of an effective batch. Update belongs next to Step.",
			hints:    []string{"Which line may change the scale?", "Step, Update and ZeroGrad come once for each effective batch."},
			mistakes: []mistake{{code("scaler.Scale(loss).Backward()"), "Backward must run for every batch: it adds the gradients of this batch to the sum."}},
		},
		{
			id: "09.5", kind: findBug, task: "the number of batches whose gradients leak into the second epoch",
			accept:   number(2),
			why:      "50 is 12 times 4 and 2 more. The last two batches of the epoch get no step and no ZeroGrad.",
			hints:    []string{"How many full effective batches are in 50?", "What is left of 50 after the last step?"},
			mistakes: []mistake{{number(12), "12 is the number of steps. How many batches come after the last of them?"}, {number(0), "50 is not a multiple of 4."}},
		},
		{
			id: "09.6", kind: findBug, task: "the factor by which the accumulated gradients are too long",
			accept:   number(4),
			why:      "Each loss is a mean over its own batch. Their sum is 4 times the mean over all rows, and so are the gradients.",
			hints:    []string{"Each loss is a mean over 16 rows. Which number should the gradients of 64 rows belong to?", "A mean of four means is their sum divided by 4."},
			mistakes: []mistake{{number(0.25), "The gradients are added and never divided, so they become longer."}},
		},
		{
			id: "09.7", kind: findBug, task: "the corrected line of Python",
			accept:   code("for epoch in range(epochs):", "for epoch in range(epochs)", "for _ in range(epochs):", "for epoch in range(3):"),
			why:      "In Python a number is not a list: range(epochs) makes one. Go's `for epoch := range epochs` counts by itself.",
			hints:    []string{"`epochs` is a number, and Python cannot loop over a number.", "Which function makes the list 0, 1, 2 from 3?"},
			mistakes: []mistake{{code("for epoch in epochs:"), "This is the line of the notes. Python calls it an error: an int object is not iterable."}},
		},
	},
}

func scaledGradient(norm float64) *tensor.Tensor {
	return tensor.New([]float64{0.6, 0.8}).MulScalar(norm * 1024)
}

// clipsAfter tests a function that clips gradients of the given scale to a norm of 1: it must return limit for a
// long gradient and keep the direction; a short one must become the true gradient if limit is 1.
func clipsAfter(f func(x *tensor.Tensor) *tensor.Tensor, scale, limit float64) error {
	got := f(scaledGradient(50))
	if norm := got.Norm().Item(); !(norm > 0.99*limit && norm < 1.01*limit) {
		return fmt.Errorf("for a true gradient of norm 50 the result has norm %.4g", norm)
	}
	if limit != 1 {
		return nil
	}
	got, want := f(scaledGradient(0.5)), scaledGradient(0.5).MulScalar(1/scale)
	if !tensor.AllClose(got, want, 1e-3, 1e-6) {
		return fmt.Errorf("for a true gradient of norm 0.5 the result has norm %.4g", got.Norm().Item())
	}
	return nil
}

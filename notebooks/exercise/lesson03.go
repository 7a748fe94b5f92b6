package exercise

import (
	"fmt"
	"math"

	"halfnote/tensor"
)

var lesson03 = lesson{
	number: "03", title: "Overflow lab",
	predictions: []prediction{{id: "03", question: "What is the smallest whole number x for which exp(x) is infinite in float16?", guess: anyNumber()}},
	exercises: []exercise{
		{
			id: "03.1", kind: warmUp, task: "the largest whole number whose square is finite in float16",
			accept: exact(255),
			why:    "255² = 65025 is stored as 65024. 256² = 65536 is beyond 65520, from which point on numbers are infinite.",
			hints:  []string{"The square must be less than 65520.", "The root of 65520 is about 255.97."},
			mistakes: []mistake{
				{exact(256), "256² = 65536 is too large, though only just: infinity begins at 65520."},
				{exact(65504), "That is the largest number. Its *square* is about 4 billion."},
				{exact(181), "181² = 32761 is far from the end. float16 reaches 65504, as its exponent goes up to 2¹⁵ and the fraction adds almost as much again."},
			},
		},
		{
			id: "03.2", kind: change, task: "a function that returns the norm of a float16 vector",
			accept: function(func(f func(x *tensor.Tensor) *tensor.Tensor) error {
				if usesOperation("norm").check(f) == nil {
					return errWrong
				}
				return agrees(f, []example{
					{[]float64{300, 400}, 500, 1e-3}, {[]float64{30000, 40000}, 50000, 1e-3}, {[]float64{3e-4, 4e-4}, 5e-4, 5e-3}, {[]float64{0, 0}, 0, 0}, {[]float64{-300, -400}, 500, 1e-3},
				})
			}),
			why:   "Divided by the largest magnitude, all numbers are at most 1, and so are their squares. A wider format inside the function does the same, and is what the library does.",
			hints: []string{"Divide by the largest magnitude, `x.Abs().Amax()`, before you square, and multiply at the end. Or square in float32.", "If the largest magnitude is 0, the division gives NaN. What is the norm then?"},
			mistakes: []mistake{
				{usesOperation("norm"), "`Norm` is the library's own repair. Write it yourself."},
				{function(func(f func(x *tensor.Tensor) *tensor.Tensor) error { return returns(f, -500, -300, -400) }), "For (-300, -400) it returns -500. The largest *magnitude* is 400: take `x.Abs()` first."},
				{function(func(f func(x *tensor.Tensor) *tensor.Tensor) error { return returns(f, math.NaN(), 0, 0) }), "For (0, 0) it returns NaN: 0 divided by 0. A largest magnitude of 0 needs care, for example `.ClampMin(1e-7)`."},
				{function(func(f func(x *tensor.Tensor) *tensor.Tensor) error { return returns(f, math.Inf(1), 300, 400) }), "For (300, 400) it is infinite: the squares still overflow. Make the numbers small before you square them."},
			},
		},
		{
			id: "03.3", kind: design, task: "a function that returns the log-sum-exp of a float16 vector",
			accept: function(func(f func(x *tensor.Tensor) *tensor.Tensor) error {
				if usesOperation("logsumexp").check(f) == nil {
					return errWrong
				}
				return agrees(f, []example{
					{[]float64{1, 2, 3}, 3.4076, 2e-3}, {[]float64{12, 13}, 13.3133, 2e-3}, {[]float64{-20, -21}, -19.6867, 2e-3}, {[]float64{60000, 0}, 60000, 1e-3},
				})
			}),
			why:   "The largest score m comes out of the sum: log(Σ exp(xᵢ)) = m + log(Σ exp(xᵢ − m)). The largest exponential is then exp(0) = 1.",
			hints: []string{"Subtract the largest score, as in the softmax. What must you add at the end?", "log(exp(m)·s) = m + log(s)."},
			mistakes: []mistake{
				{usesOperation("logsumexp"), "`LogSumExp` is the library's own. Write it with `Exp`, `Sum` and `Log`."},
				{function(func(f func(x *tensor.Tensor) *tensor.Tensor) error { return returns(f, 0.3133, 12, 13) }), "For (12, 13) it returns 0.313. You subtracted the largest score, but did not add it at the end."},
				{function(func(f func(x *tensor.Tensor) *tensor.Tensor) error { return returns(f, math.Inf(1), 12, 13) }), "For (12, 13) it is infinite: `exp` overflows. What did `shifted` do before `exp`?"},
				{function(func(f func(x *tensor.Tensor) *tensor.Tensor) error { return returns(f, math.Inf(1), 60000, 0) }), "It works for scores up to 88, where `exp` overflows in float32 too. A wider format only moves the limit. What did `shifted` do before `exp`?"},
			},
		},
		{
			id: "03.4", kind: findBug, task: "a function that returns the variance of a float16 vector",
			accept: function(func(f func(x *tensor.Tensor) *tensor.Tensor) error {
				return agrees(f, []example{
					{[]float64{1000, 1002, 1004, 1006}, 5, 1e-3}, {[]float64{1, 2, 3, 4}, 1.25, 1e-3}, {[]float64{299, 301}, 1, 1e-3},
				})
			}),
			why:   "The bug is the order: both squares overflow, and infinity minus infinity is NaN. Subtract the mean first, then square what is left.",
			hints: []string{"The squares of numbers near 1000 are near a million. Which numbers near 0 say the same?", "The variance is the mean of the squares of `x.Sub(x.Mean())`."},
			mistakes: []mistake{
				{function(func(f func(x *tensor.Tensor) *tensor.Tensor) error {
					return returns(f, math.NaN(), 1000, 1002, 1004, 1006)
				}), "It still returns NaN: it squares numbers near 1000."},
				{function(func(f func(x *tensor.Tensor) *tensor.Tensor) error { return returns(f, 20./3, 1000, 1002, 1004, 1006) }), "It returns 6.67: it divides by 3, the number of elements less one. The formula of the exercise divides by all 4."},
				{function(func(f func(x *tensor.Tensor) *tensor.Tensor) error { return returns(f, 0, 1, 2, 3, 4) }), "It returns 0: the mean of the differences is 0. Square them first."},
				{function(func(f func(x *tensor.Tensor) *tensor.Tensor) error { return returns(f, 0, 1000, 1002, 1004, 1006) }), "It returns 0: you subtract two numbers that are almost equal, and float16 keeps only three digits of each. Subtract the mean before you square."},
			},
		},
	},
}

// example is a vector and the number that a function must return for it, up to a share of it.
type example struct {
	x              []float64
	want, relative float64
}

// agrees reports what f returns instead for float16 vectors.
func agrees(f func(x *tensor.Tensor) *tensor.Tensor, examples []example) error {
	for _, e := range examples {
		y := f(tensor.New(e.x).Half())
		if y == nil || y.Numel() != 1 {
			return fmt.Errorf("want a tensor of one element")
		}
		if got := y.Item(); !(math.Abs(got-e.want) <= e.relative*math.Abs(e.want)) {
			return fmt.Errorf("for %v it returns %.5g, not %.5g", e.x, got, e.want)
		}
	}
	return nil
}

// returns is nil if f returns a number near want for a float16 vector, for a mistake.
func returns(f func(x *tensor.Tensor) *tensor.Tensor, want float64, x ...float64) error {
	y := f(tensor.New(x).Half())
	if y == nil || y.Numel() != 1 {
		return errWrong
	}
	got := y.Item()
	if got == want || math.IsNaN(got) && math.IsNaN(want) || math.Abs(got-want) <= 2e-3*math.Abs(want) && !math.IsInf(want, 0) {
		return nil
	}
	return errWrong
}

package exercise

import (
	"fmt"
	"math"

	"halfnote/tensor"
)

var lesson00 = lesson{
	number: "00", title: "Hello, kernel",
	predictions: []prediction{{id: "00", question: "What is quadruple(5) after double is declared again, so that it triples?", guess: anyNumber()}},
	exercises: []exercise{
		{
			id: "00.1", kind: warmUp, task: "the largest number of ones whose sum is finite in float16",
			accept: exact(65519),
			why:    "Sums up to 65519 are rounded down to 65504. From 65520 on, halfway to the next step, the result is infinite.",
			hints:  []string{"The sum is computed in float32, and then rounded to float16. Which numbers are rounded to 65504?", "Steps are 32 apart here. Half a step above 65504 is 65520."},
			mistakes: []mistake{
				{exact(65504), "65504 is the largest *number*. But a sum that is a little larger is rounded down to it. Try 65505 ones."},
				{exact(65520), "Nearly: the sum of 65520 ones is the first that is infinite."},
				{exact(65535), "Try it: the sum of 65535 ones is infinite already."},
				{exact(65536), "That is the sum in the lesson, which is infinite."},
			},
		},
		{
			id: "00.2", kind: change, task: "quadruple(5) after double adds 3",
			accept: exact(11),
			why:    "double adds 3, and quadruple calls it twice: 5 + 3 + 3.",
			hints:  []string{"`func double(n int) int { return n + 3 }` declares it.", "quadruple calls double twice, in its new version."},
			mistakes: []mistake{
				{exact(8), "That is double(5). quadruple calls it twice."},
				{exact(45), "That is the result while double triples. Is your declaration of double in a cell that has run?"},
				{exact(20), "That was the result of the first double. Functions call the newest version."},
			},
		},
		{
			id: "00.3", kind: design, task: "a function that sums up a float16 tensor and does not overflow for 65,536 ones",
			accept: function(func(f func(x *tensor.Tensor) *tensor.Tensor) error {
				for _, n := range []int{65536, 100000} {
					if got := sumOfOnes(f, n); got != float64(n) {
						return fmt.Errorf("for %d ones it returns %g", n, got)
					}
				}
				if y := f(tensor.New([]float64{1.5, 2.25}).Half()); y.Item() != 3.75 {
					return fmt.Errorf("for (1.5, 2.25) it returns %g, not 3.75", y.Item())
				}
				return nil
			}),
			why:   "The result needs a dtype that can hold it. Converted before the sum, or with `SumAs(tensor.Float32)`, it is float32.",
			hints: []string{"Which dtype can hold 65536? The lesson computes the sum in it, too.", "`.To(tensor.Float32)` converts a tensor."},
			mistakes: []mistake{
				{function(func(f func(x *tensor.Tensor) *tensor.Tensor) error {
					if y := f(tensor.Ones(65536).Half()); y == nil || y.DType() != tensor.Float32 || !math.IsInf(y.Item(), 1) {
						return errWrong
					}
					return nil
				}), "You convert after the sum. It is infinite by then, and infinity stays infinite. Convert first."},
				{function(func(f func(x *tensor.Tensor) *tensor.Tensor) error {
					if !math.IsInf(sumOfOnes(f, 65536), 1) {
						return errWrong
					}
					return nil
				}), "The result is float16, which ends at 65504."},
			},
		},
	},
}

// sumOfOnes returns what f returns for n float16 ones, or NaN for a result that is not a number.
func sumOfOnes(f func(x *tensor.Tensor) *tensor.Tensor, n int) float64 {
	if y := f(tensor.Ones(n).Half()); y != nil && y.Numel() == 1 {
		return y.Item()
	}
	return math.NaN()
}

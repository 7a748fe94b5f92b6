package exercise

import (
	"fmt"
	"math"

	"halfnote/tensor"
)

var lesson18 = lesson{
	number: "18", title: "Eight bits",
	predictions: []prediction{{id: "18", question: "Which number does E4M3 store for 17?", guess: anyNumber()}},
	exercises: []exercise{
		{
			id: "18.1", kind: warmUp, task: "the smallest whole number above 0 that E5M2 cannot store",
			accept: exact(9),
			why:    "With two bits of fraction there are four steps from 8 to 16: 8, 10, 12 and 14.",
			hints:  []string{"Two bits of fraction make four steps from 4 to 8, and four from 8 to 16.", "Use `stored` with 8, 9 and 10."},
			mistakes: []mistake{
				{exact(17), "17 is E4M3's, which has three bits of fraction. E5M2 has two."},
				{exact(5), "The four steps from 4 to 8 are 4, 5, 6 and 7."},
				{exact(57345), "There are gaps long before the largest number."},
			},
		},
		{
			id: "18.2", kind: change, task: "a formula for the scale that moves a magnitude a to the largest number of E5M2",
			accept: formula("57344/a", "a"),
			why:    "a times 57344/a is 57344. For the amax of 0.0042 in the table of the scaler, the scale is about 14 million.",
			hints:  []string{"a times the scale must be the largest number of E5M2.", "The largest number of E5M2 is in the table of both formats."},
			mistakes: []mistake{
				{formula("448/a", "a"), "448 is the largest number of E4M3. Gradients use E5M2."},
				{formula("a/57344", "a"), "This is what you multiply by *afterwards*. The scale is applied before the tensor is stored."},
				{formula("57344*a", "a"), "a times the scale must be 57344. What is a times your scale?"},
			},
		},
		{
			id: "18.3", kind: design, task: "a function that stores a tensor as E4M3 with the best scale, and returns it as float32",
			accept: function(storesInE4M3),
			why:    "The error of each number is now at most a sixteenth of it, whatever the size of the tensor.",
			hints:  []string{"The cell with `scaled` does this for one tensor.", "For a tensor of zeros, amax is 0, and 448 divided by 0 is infinite. `.ClampMin(1e-30)` keeps amax above 0."},
			mistakes: []mistake{
				{e4m3Gives(func(x, _ float64) float64 { return e4m3(x) }), "It returns 0 for small numbers and 448 for large ones: the scale is missing."},
				{e4m3Gives(func(x, _ float64) float64 { return x }), "It returns the numbers unchanged. They must pass through E4M3, which has only eight steps between powers of two."},
				{e4m3Gives(func(x, amax float64) float64 { return e4m3(448 * x / amax) }), "It returns 448 for every largest number. Divide by the scale after the tensor is stored."},
				{function(func(f func(x *tensor.Tensor) *tensor.Tensor) error {
					if y := f(tensor.Zeros(3)); y == nil || y.Numel() != 3 || !math.IsNaN(y.At(0)) {
						return errWrong
					}
					return nil
				}), "For a tensor of zeros it returns NaN: amax is 0, the scale is infinite, and 0 times infinity is NaN."},
			},
		},
		{
			id: "18.4", kind: findBug, task: "the scale in the last step of the repaired loop",
			accept: exact(64),
			why:    "`fp8.New` must stand before the loop: a scaler keeps the history, and one made in each step has none. 448/7 is 64.",
			hints:  []string{"Where does a delayed scale come from?", "A new scaler has no history. How many scalers does the loop make?"},
			mistakes: []mistake{
				{exact(1), "That is the scale without a history. The loop makes a new scaler in each step, which does not know the steps before."},
				{exact(448), "448 is the largest number of E4M3. The inputs are 7, so the scale is smaller."},
			},
		},
	},
}

// storesInE4M3 reports what is wrong with a function that stores tensors in E4M3 with a scale.
func storesInE4M3(f func(x *tensor.Tensor) *tensor.Tensor) error {
	for _, size := range []float64{1e-6, 1, 1e6} {
		values := []float64{1, -0.9, 0.3, 0.11, 0}
		x := tensor.New(values).MulScalar(size)
		y := f(x)
		if y == nil || y.Numel() != len(values) || y.DType() != tensor.Float32 {
			return fmt.Errorf("want a float32 tensor of the same shape")
		}
		scaled := y.MulScalar(448 / size)
		if stored := scaled.To(tensor.Float8E4M3).Float(); !tensor.AllClose(scaled, stored, 1e-5, 0) {
			return fmt.Errorf("for a tensor with amax %g it returns numbers that E4M3 does not hold at the scale 448/amax", size)
		}
		for i := range values {
			if got, want := y.At(i), x.At(i); !(math.Abs(got-want) <= math.Abs(want)/16) {
				return fmt.Errorf("for %.3g in a tensor with amax %g it returns %.3g, which is off by more than a sixteenth", want, size, got)
			}
		}
	}
	if zeros := f(tensor.Zeros(3)); zeros == nil || zeros.Numel() != 3 || zeros.Counts().Zeros != 3 {
		return fmt.Errorf("for a tensor of zeros it does not return zeros")
	}
	return nil
}

// e4m3Gives accepts functions that return want(x, amax) for the elements of tensors of three sizes, for a mistake.
func e4m3Gives(want func(x, amax float64) float64) answer {
	return function(func(f func(x *tensor.Tensor) *tensor.Tensor) error {
		for _, amax := range []float64{1.1e-6, 1.1, 1.1e6} {
			x := tensor.New([]float64{amax, -0.3 * amax})
			y := f(x)
			if y == nil || y.Numel() != x.Numel() {
				return errWrong
			}
			for i := range x.Numel() {
				if w := want(x.At(i), amax); !(math.Abs(y.At(i)-w) <= 1e-5*math.Abs(w)) {
					return errWrong
				}
			}
		}
		return nil
	})
}

// e4m3 returns the number that E4M3 stores for x.
func e4m3(x float64) float64 { return tensor.Scalar(x).To(tensor.Float8E4M3).Item() }

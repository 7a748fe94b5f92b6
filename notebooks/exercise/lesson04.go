package exercise

import (
	"errors"
	"fmt"
	"math"

	"halfnote/amp"
	"halfnote/tensor"
)

var lesson04 = lesson{
	number: "04", title: "Which operation, which dtype?",
	predictions: []prediction{{id: "04", question: "What are the dtypes of the product, ReLU, softmax and mean in the region?", guess: each(dtype04, dtype04, dtype04, dtype04)}},
	exercises: []exercise{
		{
			id: "04.1", kind: warmUp, task: "the dtypes of the ten results, in order",
			accept: tenDTypes("float16", "float32"),
			why:    "`sum`, `reciprocal` and `exp` are on the list fp32. `mean`, `relu`, `add`, `div` and `cat` are unlisted: they run in the widest dtype of their operands, and `x` is float32.",
			hints: []string{
				"Which of the ten are on the list fp32? `amp.Float16.Why(\"reciprocal\")` tells you about one.",
				"The unlisted ones run in the dtype of their operands. If one operand is float32, so is the result.",
			},
			mistakes: []mistake{
				{tenDTypes("float32", "float32"), "Only the third one is wrong: `mean` is unlisted, although `sum` is on the list fp32."},
				{tenDTypes("float16", "float16"), "Only the fifth one is wrong: ReLU is unlisted, and its operand `x` is float32."},
			},
		},
		{
			id: "04.2", kind: change, task: "the function",
			accept: function(checkSquares),
			why:    "The inner region with `amp.Off` casts nothing, so the float32 operands stay as they are.",
			hints: []string{
				"A cast of the operands does not help: autocast casts them to float16 again. A cast of the result comes too late.",
				"Put the product in a separate region: `amp.Autocast(amp.Off, func() { … })`.",
			},
			mistakes: []mistake{{
				function(func(f func(x *tensor.Tensor) *tensor.Tensor) error {
					x := squaresInput()
					inside := inRegion(f, x)
					if inside != nil && inside.DType() == tensor.Float32 && !tensor.Equal(inside, x.MatMul(x.T())) {
						return nil
					}
					return errWrong
				}),
				"The result is float32, but the product ran in float16 before that: its digits are lost already.",
			}},
		},
		{
			id: "04.3", kind: design, task: "the policy",
			accept: satisfies("an amp.Policy", checkVariancePolicy),
			why:    "`mul` in float32 keeps the squares below infinity, and `mean` in float32 keeps the digits that the subtraction needs.",
			hints: []string{
				"`With` can be called twice: `amp.Float16.With(…).With(…)`.",
				"Which two operations of the function are unlisted and see large numbers?",
			},
			mistakes: []mistake{
				{variancePolicy(func(v float64) bool { return math.IsInf(v, 0) || math.IsNaN(v) }, true), "The variance is still not finite. The squares of numbers around 300 exceed 65504: which operation makes them?"},
				{variancePolicy(func(v float64) bool { return v > 60 && v < 100 }, true), "The variance is finite now, but wrong. `x.Mean()` is rounded to float16 before it is squared, and an error of 0.07 in 300 becomes 45."},
				{variancePolicy(func(float64) bool { return true }, false), "With this policy matrix products no longer run in float16: the whole region is slow."},
			},
		},
		{
			id: "04.4", kind: findBug, task: "the word that must go",
			accept: text("Half", ".Half()", "Half()"),
			why:    "`sum` did run in float32, and its result was 70000. `Half` then cast that to float16, where it is infinite.",
			hints:  []string{"The sum runs in float32. What happens to its result?", "Which call makes a tensor float16?"},
			mistakes: []mistake{
				{text("Sum", ".Sum()", "Sum()"), "The sum itself is right: it is 70000, in float32."},
				{text("Autocast", "amp.Autocast"), "Without the region, the result would be the same: look at what happens to it after the sum."},
			},
		},
	},
}

// tenDTypes accepts the results of 04.1, with the given dtypes of the mean and of ReLU of a float32 tensor.
func tenDTypes(mean, relu string) answer {
	half, single := text("float16", "half"), text("float32", "float")
	as := map[string]answer{"float16": half, "float32": single}
	return list(half, single, as[mean], half, as[relu], single, single, half, single, single)
}

func squaresInput() *tensor.Tensor { return tensor.NewGenerator(4).Randn(16, 16) }

// inRegion returns the result of f in a region of amp.Float16.
func inRegion(f func(x *tensor.Tensor) *tensor.Tensor, x *tensor.Tensor) (y *tensor.Tensor) {
	amp.Autocast(amp.Float16, func() { y = f(x) })
	return y
}

func checkSquares(f func(x *tensor.Tensor) *tensor.Tensor) error {
	x := squaresInput()
	want := x.MatMul(x.T())
	got := f(x)
	if got == nil {
		return errors.New("it returns nil: inside the region, assign the product to the variable that you return, y = …")
	}
	if !tensor.Equal(got, want) {
		return errors.New("outside of a region the result is not x·xᵀ")
	}
	inside := inRegion(f, x)
	if inside.DType() != tensor.Float32 {
		return fmt.Errorf("in a region the result is %s", inside.DType())
	}
	if !tensor.Equal(inside, want) {
		return errWrong
	}
	return nil
}

// varianceUnder returns the variance of 04.3 under a policy, and whether products run in float16.
func varianceUnder(p amp.Policy) (variance float64, products bool) {
	x := tensor.Linspace(290.05, 310.1, 1000).To(tensor.Float16)
	amp.Autocast(p, func() {
		variance = x.Mul(x).Mean().Sub(x.Mean().Mul(x.Mean())).Item()
		square := tensor.Ones(2, 2)
		products = square.MatMul(square).DType() == tensor.Float16
	})
	return variance, products
}

// variancePolicy accepts the policies under which the variance is as wrong as given, and products do or do not run
// in float16.
func variancePolicy(wrong func(variance float64) bool, products bool) answer {
	return satisfies("an amp.Policy", func(given any) error {
		p, ok := given.(amp.Policy)
		if !ok {
			return errWrong
		}
		if v, half := varianceUnder(p); half == products && wrong(v) {
			return nil
		}
		return errWrong
	})
}

func checkVariancePolicy(given any) error {
	p, ok := given.(amp.Policy)
	if !ok {
		return fmt.Errorf("want an amp.Policy such as amp.Float16.With(\"relu\", amp.FP32), not %T", given)
	}
	v, products := varianceUnder(p)
	switch {
	case !products:
		return errors.New("matrix products do not run in float16 under this policy")
	case !(math.Abs(v-33.57) < 0.5):
		return fmt.Errorf("the variance is %.4g, want about 33.6", v)
	}
	return nil
}

var dtype04 = choice("float16", "bfloat16", "float32")

package exercise

import (
	"fmt"
	"math"
	"slices"

	"halfnote/tensor"
)

var lesson02 = lesson{
	number: "02", title: "Sums that stop",
	predictions: []prediction{{id: "02", question: "A float16 sum starts at 0, and 1 is added 5000 times. Where does it end?", guess: size(0)}},
	exercises: []exercise{
		{
			id: "02.1", kind: warmUp, task: "the smallest even number n for which n + 2 is n in float16",
			accept: exact(4096),
			why:    "From 4096 on the gap is 4. 4096 + 2 lies halfway, and is rounded to 4096, whose last bit is 0.",
			hints:  []string{"The term must be at most half of the gap. From which number on is the gap 4?", "The gap doubles when the number doubles. From 2048 on it is 2."},
			mistakes: []mistake{
				{exact(2048), "From 2048 on the gap is 2, so 2048 + 2 is the next number. A term of 1 stops there, not one of 2."},
				{exact(1024), "A larger term gets *further* than 2048, not less far."},
			},
		},
		{
			id: "02.2", kind: change, task: "a formula for where the float16 sum of terms 2⁻ᵏ stops",
			accept: formula("2^(11-k)", "k"),
			why:    "The gap at 2ⁿ is 2ⁿ⁻¹⁰. The sum stops where half of the gap is the term: 2ⁿ⁻¹¹ = 2⁻ᵏ, so n is 11 − k.",
			hints:  []string{"For k = 0 the sum stops at 2048, which is 2¹¹.", "With each step of k it stops at half of the number before."},
			mistakes: []mistake{
				{formula("2^(11+k)", "k"), "A smaller term stops earlier. For k = 1 the loop prints 1024, and your formula gives 4096."},
				{formula("2048-1024*k", "k"), "It fits k = 0 and k = 1. What does it give for k = 2, and what does the loop print?"},
				{formula("2^11-k", "k"), "A power comes before a difference: `2^11-k` is 2048 − k. Put the exponent in parentheses."},
				{formula("2^11", "k"), "That is where it stops for k = 0 only."},
			},
		},
		{
			id: "02.3", kind: design, task: "a function that sums up a vector with float16 additions only",
			accept: function(sumsInFloat16),
			why:    "The operands of every addition have about the same size, so nothing is lost. Added as two halves of a vector at a time, 4096 terms take 12 calls of `Add`.",
			hints:  []string{"One by one, the sum stops at 2048. Which of the three repairs stays in float16?", "`x.Slice(0, 0, n)` holds the first n elements. Add the two halves of the vector, then the halves of the result."},
			mistakes: []mistake{
				{usesOperation("sum", "mean", "dot", "matmul", "mm", "mv", "cumsum"), "This operation adds in float32 inside, which is the repair by a wider sum. Use `Add` only."},
				{usesFloat32(), "A result in your function is float32. Can you do it without a wider sum?"},
				{function(stops), "It returns 2048 for 4096 ones: the sum is much larger than the next term. Which additions have operands of the same size?"},
			},
		},
		{
			id: "02.4", kind: findBug, task: "the sum of 65,536 ones, added in float16 one by one",
			accept: exact(2048),
			why:    "It would print 2048. It prints infinity because it adds in float32, and 65536 is too large for the float16 result.",
			hints:  []string{"You counted to 5000. Does counting on change anything?", "Look at the result of your first experiment."},
			mistakes: []mistake{
				{exact(math.Inf(1)), "That is what the GPU prints, because it does *not* add in float16. Can a sum that cannot leave 2048 reach infinity?"},
				{exact(65504), "65504 is the largest number. The sum stops long before it."},
				{exact(65536), "That is the exact sum. A float16 sum stops earlier."},
			},
		},
	},
}

// sumsInFloat16 reports what is wrong with a function that adds in float16 only.
func sumsInFloat16(f func(x *tensor.Tensor) *tensor.Tensor) error {
	if usesFloat32().check(f) == nil || usesOperation("sum", "mean", "dot", "matmul", "mm", "mv", "cumsum").check(f) == nil {
		return errWrong
	}
	for _, c := range []struct {
		n          int
		term, want float64
		within     float64
	}{{4096, 1, 4096, 0}, {1024, 3, 3072, 0}, {4096, 0.1, 409.5, 0.25}} {
		y := f(tensor.Full(c.term, c.n).Half())
		if y == nil || y.Numel() != 1 || y.DType() != tensor.Float16 {
			return fmt.Errorf("want a float16 tensor of one element")
		}
		if got := y.Item(); !(math.Abs(got-c.want) <= c.within) {
			return fmt.Errorf("for %d terms of %g it returns %g, not %g", c.n, c.term, got, c.want)
		}
	}
	return nil
}

// stops accepts functions whose sum stops at 2048, for a mistake.
func stops(f func(x *tensor.Tensor) *tensor.Tensor) error {
	if y := f(tensor.Ones(4096).Half()); y == nil || y.Numel() != 1 || y.Item() != 2048 {
		return errWrong
	}
	return nil
}

// usesOperation accepts functions that run one of the operations on a float16 vector.
func usesOperation(names ...string) answer {
	return function(func(f func(x *tensor.Tensor) *tensor.Tensor) error {
		return observed(f, func(e tensor.EventInfo) bool { return slices.Contains(names, e.Op.Name) })
	})
}

// usesFloat32 accepts functions that make a float32 tensor of a float16 vector.
func usesFloat32() answer {
	return function(func(f func(x *tensor.Tensor) *tensor.Tensor) error {
		return observed(f, func(e tensor.EventInfo) bool { return e.Out.DType == tensor.Float32 || e.Out.DType == tensor.Float64 })
	})
}

// observed returns nil if f runs an operation for which found returns true.
func observed(f func(x *tensor.Tensor) *tensor.Tensor, found func(e tensor.EventInfo) bool) error {
	x, seen := tensor.Ones(64).Half(), false
	stop := tensor.Observe(func(e tensor.Event) { seen = seen || found(e.EventInfo) })
	defer stop()
	if f(x); seen {
		return nil
	}
	return errWrong
}

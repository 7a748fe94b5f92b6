package exercise

import (
	"fmt"
	"math"

	"halfnote/tensor"
)

var lesson21 = lesson{
	number: "21", title: "Blocks and scales",
	predictions: []prediction{{id: "21", question: "How many of the 31 ones become 0?", guess: count(0, 31)}},
	exercises: []exercise{
		{
			id: "21.1", kind: warmUp, task: "the largest number that a block of MXFP4 with the scale 16 holds",
			accept: exact(96),
			why:    "FP4's largest number is 6, and the scale multiplies it. The 100 of the first cell became 96.",
			hints:  []string{"Which is the largest number of FP4?", "The scale multiplies each number of the block."},
			mistakes: []mistake{
				{exact(6), "That is FP4's largest number. In this block it is multiplied by the scale."},
				{exact(100), "100/16 is 6.25, which FP4 does not have."},
			},
		},
		{
			id: "21.2", kind: change, task: "a formula for the bits of a number in FP4 with a scale of 8 bits for each block of n numbers",
			accept: formula("4+8/n", "n"),
			why:    "The 8 bits of the scale are shared by n numbers: 4.25 bits for n = 32, and 4.5 for n = 16.",
			hints:  []string{"How many bits has a block of n numbers with its scale?", "Divide by n."},
			mistakes: []mistake{
				{formula("4*n+8", "n"), "Those are the bits of the whole block."},
				{formula("4+8*n", "n"), "The scale is stored once for the block, not once for each number."},
				{formula("12/n", "n"), "Each number has 4 bits; only the scale is shared."},
			},
		},
		{
			id: "21.3", kind: design, task: "a function that stores one block in FP4 with the smallest power of two with which nothing saturates",
			accept: function(storesInFP4),
			why:    "This is the rule RCeil. Floor may take a scale that is half as large: it saturates a few numbers, and keeps more of the small ones.",
			hints:  []string{"The largest magnitude, divided by the scale, must be at most 6.", "`math.Exp2(math.Ceil(math.Log2(amax/6)))` is such a power of two. A block of zeros needs none."},
			mistakes: []mistake{
				{fp4Gives(func(x, amax float64) float64 { return fp4(x) }), "The scale is missing: large numbers become 6."},
				{fp4Gives(func(x, amax float64) float64 { return x }), "It returns the numbers unchanged. They must pass through FP4."},
				{fp4Gives(func(x, amax float64) float64 {
					s := math.Exp2(math.Floor(math.Log2(amax)) - 2)
					return s * fp4(x/s)
				}), "With that scale the largest number saturates: it is the rule Floor, which ignores how much of the last factor of two is used."},
				{fp4Gives(func(x, amax float64) float64 { return fp4(x*6/amax) * amax / 6 }), "amax/6 is not a power of two."},
			},
		},
		{
			id: "21.4", kind: findBug, task: "the count that the repaired cell prints",
			accept: exact(361),
			why:    "The product sums over the rows, so its blocks run along the rows: `act.T().Contiguous()`. The large numbers of channel 7 then share blocks with each other.",
			hints:  []string{"The gradient of a weight sums over the rows of the batch. Along which dimension do its blocks run?", "Quantise the transpose."},
			mistakes: []mistake{
				{exact(2174), "That is the count of the cell as it is. Its blocks run along the channels, and channel 7 takes 31 others with it."},
				{exact(0), "Nothing becomes 0 only if each number has a scale for itself."},
			},
		},
	},
}

// fp4 returns the number that FP4 stores for x.
func fp4(x float64) float64 {
	a, best := math.Abs(x), 0.
	for i, v := range []float64{0, 0.5, 1, 1.5, 2, 3, 4, 6} {
		if d, old := math.Abs(a-v), math.Abs(a-best); d < old || d == old && i%2 == 0 {
			best = v
		}
	}
	return math.Copysign(best, x)
}

// fp4Block is a block with numbers on both sides of ties; its largest magnitude needs the next power of two.
var fp4Block = []float64{7, -0.9, 0.3, 2.6, 0, 4.9, -1.24, 0.26}

// storesInFP4 reports what is wrong with a function that stores blocks in FP4.
func storesInFP4(f func(x *tensor.Tensor) *tensor.Tensor) error {
	for _, size := range []float64{1, 0x1p-10, 1.5, 100} {
		x := tensor.New(fp4Block).MulScalar(size)
		y := f(x)
		if y == nil || y.Numel() != x.Numel() {
			return fmt.Errorf("want a tensor of the same shape")
		}
		s := math.Exp2(math.Ceil(math.Log2(x.Counts().AbsMax / 6)))
		for i := range fp4Block {
			if got, want := y.At(i), s*fp4(x.At(i)/s); got != want {
				return fmt.Errorf("for %.4g in a block up to %.4g it returns %.4g; with the scale %g FP4 stores %.4g", x.At(i), x.Counts().AbsMax, got, s, want)
			}
		}
	}
	if zeros := f(tensor.Zeros(4)); zeros == nil || zeros.Numel() != 4 || zeros.Counts().Zeros != 4 {
		return fmt.Errorf("for a block of zeros it does not return zeros")
	}
	return nil
}

// fp4Gives accepts functions that return want(x, amax) for the elements of blocks of two sizes, for a mistake.
func fp4Gives(want func(x, amax float64) float64) answer {
	return function(func(f func(x *tensor.Tensor) *tensor.Tensor) error {
		for _, size := range []float64{1, 100} {
			x := tensor.New(fp4Block).MulScalar(size)
			y := f(x)
			if y == nil || y.Numel() != x.Numel() {
				return errWrong
			}
			for i := range fp4Block {
				if w := want(x.At(i), x.Counts().AbsMax); !(math.Abs(y.At(i)-w) <= 1e-5*math.Abs(w)) {
					return errWrong
				}
			}
		}
		return nil
	})
}

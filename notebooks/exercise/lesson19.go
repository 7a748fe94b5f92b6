package exercise

import (
	"fmt"
	"math"

	"halfnote/tensor"
)

// meanOfRanks returns the largest error of a learner's mean over ranks whose sum exceeds the range of float16.
func meanOfRanks(f func(x *tensor.Tensor) *tensor.Tensor) (float64, error) {
	grads := tensor.FromFloat32s([]float32{60000, 1, 50000, 3, 40000, -5, 30000, 7}, 4, 2).Half()
	mean := f(grads)
	if mean == nil || mean.Numel() != 2 {
		return 0, fmt.Errorf("want a tensor of 2 numbers for gradients (4, 2)")
	}
	got := mean.Float64s()
	return max(math.Abs(got[0]/45000-1), math.Abs(got[1]/1.5-1)), nil
}

var lesson19 = lesson{
	number: "19", title: "Mixed precision on many machines",
	predictions: []prediction{{id: "19", question: "What is the sum of 512 ones in bfloat16, added one after the other?", guess: size(0)}},
	exercises: []exercise{
		{
			id: "19.1", kind: warmUp, task: "the sum of 512 ones in bfloat16, added in a tree",
			accept:   exact(512),
			why:      "A tree adds equal numbers: 1 + 1, 2 + 2, up to 256 + 256. All of them are powers of two, which bfloat16 holds exactly.",
			hints:    []string{"What does the first level of the tree add, and what the last?", "Use the function `tree` with 512 tensors of bfloat16."},
			mistakes: []mistake{{exact(256), "256 is where the sum in a row stops, because 256 + 1 rounds back. The tree never adds 1 to 256."}},
		},
		{
			id: "19.2", kind: change, task: "the largest number of ranks with a finite sum",
			accept: exact(9),
			why:    "0.1 times 65536 is 6552 in float16. Nine of them are below 65504; ten are 65520, which rounds to infinity.",
			hints:  []string{"What is 0.1 times 65536? And what is the largest float16 number?", "Ten times 6552 is 65520. Does it round down to 65504, or to infinity?"},
			mistakes: []mistake{
				{exact(10), "Ten times 6552 is 65520. That is the first number that rounds to infinity."},
				{exact(655040), "That is without the loss scale. The gradients are multiplied by 65536 when they are added."},
			},
		},
		{
			id: "19.3", kind: design, task: "the function from gradients (ranks, n) to their mean (n)",
			accept: function(func(f func(x *tensor.Tensor) *tensor.Tensor) error {
				switch off, err := meanOfRanks(f); {
				case err != nil:
					return err
				case !(off < 1e-2):
					return fmt.Errorf("the mean of 60000, 50000, 40000 and 30000 is wrong; want 45000")
				}
				return nil
			}),
			why:   "Either the sum is computed in float32, or every gradient is divided by the number of ranks before it is added. The second also works where only float16 is sent; small gradients lose bits.",
			hints: []string{"The sum exceeds 65504. Which dtype has room for it?", "Or divide first and add then."},
			mistakes: []mistake{{function(func(f func(x *tensor.Tensor) *tensor.Tensor) error {
				if off, err := meanOfRanks(f); err != nil || !math.IsInf(off, 1) {
					return errWrong
				}
				return nil
			}), "The sum overflowed before it was divided: infinity divided by 4 is infinity."}},
		},
		{
			id: "19.4", kind: findBug, task: "the number of the line in which a rank can wait forever",
			accept: exact(4),
			why:    "Line 4 waits for all ranks, but line 3 lets a rank with an infinite gradient leave it out. The others wait. Without line 3 the infinity would travel with the sum, and all ranks would skip the step.",
			hints:  []string{"Which line waits for other ranks?", "Does every rank reach it?"},
			mistakes: []mistake{
				{exact(3), "Line 3 is the cause, but no rank waits there. In which line do the *others* wait?"},
				{exact(5), "Step looks only at the rank's own gradients and waits for no other rank."},
			},
		},
	},
}

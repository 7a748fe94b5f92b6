package exercise

import (
	"fmt"

	"halfnote/tensor"
)

var lesson15 = lesson{
	number: "15", title: "Many workers",
	predictions: []prediction{{id: "15", question: "How many of the four copies of the weights are still finite numbers after the step?", guess: count(0, 4)}},
	exercises: []exercise{
		{
			id: "15.1", kind: warmUp, task: "the number of rows of the effective batch",
			accept: number(512),
			why:    "16 rows × 4 accumulated batches × 8 ranks.",
			hints:  []string{"How many rows does one rank see before a step?", "All ranks step together."},
			mistakes: []mistake{
				{number(128), "This leaves out one of the three factors: rows, accumulated batches, ranks."},
				{number(64), "These are the rows of one rank. There are 8 ranks."},
			},
		},
		{
			id: "15.2", kind: change, task: "the largest float16 gradient that four ranks can add before they divide",
			accept: number(16376),
			why:    "Four times 16384 is 65536, which is infinite. The number before 16384 is 16376, because float16's gap is 8 there; four of them make 65504.",
			hints:  []string{"The largest finite number is 65504.", "A quarter of it is a float16 number."},
			mistakes: []mistake{
				{number(16384), "Four times 16384 is 65536, which float16 rounds to infinity."},
				{number(65504), "65504 is the largest number of float16. Here four gradients are added first."},
			},
		},
		{
			id: "15.3", kind: design, task: "a function that averages the four rows of a float16 tensor",
			accept: function(averages),
			why:    "In float32 the sum neither overflows nor loses bits, and only the result is rounded to float16. The mean computes its sum in float32 too.",
			hints:  []string{"Where does the sum of four large gradients overflow, and where not?", "Dividing first saves the large gradients. What does it do to the smallest?"},
			mistakes: []mistake{
				{function(sumsFirst), "The sum of the large gradients overflows in float16 before you divide."},
				{function(dividesFirst), "Divided first, the smallest gradients become 0."},
			},
		},
		{
			id: "15.4", kind: findBug, task: "the line that must move down",
			accept:   code("scaler.Unscale(opt)"),
			why:      "Unscale records whether a gradient is infinite. After the all-reduce all ranks hold the same gradients, so all find the same and decide alike.",
			hints:    []string{"Which line looks for infinite gradients?", "At that moment each rank still has only its own gradients."},
			mistakes: []mistake{{code("allReduce(ranks)"), "Then clipping would come before the average, each rank with another norm. It is the check that comes too early."}},
		},
	},
}

// rows returns four equal rows of large, ordinary and small gradients in float16.
func rows() *tensor.Tensor {
	row := tensor.New([]float64{30000, 1, 6e-8}, 1, 3)
	return tensor.Cat(0, row, row, row, row).Half()
}

func averages(f func(x *tensor.Tensor) *tensor.Tensor) error {
	got := f(rows())
	if got.DType() != tensor.Float16 || got.Dim() != 1 || got.Size(0) != 3 {
		return fmt.Errorf("for a float16 tensor of shape (4, 3) the result is %v of shape %v; want float16 of shape (3,)", got.DType(), got.Shape())
	}
	if want := rows().Index(0); !tensor.Equal(got, want) {
		return fmt.Errorf("the average of four rows %v is %v", want, got)
	}
	mixed := tensor.New([]float64{1, 2, 3, 6}, 4, 1).Half()
	if got := f(mixed); got.Numel() != 1 || got.Sum().Item() != 3 {
		return fmt.Errorf("the average of 1, 2, 3 and 6 is %v", got)
	}
	return nil
}

func sumsFirst(f func(x *tensor.Tensor) *tensor.Tensor) error {
	if got := f(rows()); got.Dim() != 1 || got.IsInf().Any().Item() == 0 {
		return errWrong
	}
	return nil
}

func dividesFirst(f func(x *tensor.Tensor) *tensor.Tensor) error {
	if got := f(rows()); got.Dim() != 1 || got.Size(0) != 3 || got.At(2) != 0 {
		return errWrong
	}
	return nil
}

package exercise

import (
	"fmt"

	"halfnote/tensor"
)

var lesson11 = lesson{
	number: "11", title: "bfloat16 and float16",
	predictions: []prediction{{id: "11", question: "What is 256 + 1 in bfloat16?", guess: anyNumber()}},
	exercises: []exercise{
		{
			id: "11.1", kind: warmUp, task: "the smallest whole number above 0 that bfloat16 cannot store",
			accept: number(257),
			why:    "bfloat16 has 8 bits of precision: all whole numbers to 2^8 = 256, and from there on only the even ones.",
			hints:  []string{"How many bits of precision does bfloat16 have, the hidden one included?", "From 2^8 on the gap between two numbers is 2."},
			mistakes: []mistake{
				{number(256), "256 is a power of 2, which bfloat16 can store. The number after it is the first that is missing."},
				{number(2049), "2049 is the first that float16 cannot store. bfloat16 has 3 bits fewer."},
			},
		},
		{
			id: "11.2", kind: change, task: "the largest power of 2 whose square is finite in float16",
			accept: number(128),
			why:    "128² is 2^14 = 16384. The next power, 256, has the square 65536, which lies above the largest number, 65504.",
			hints:  []string{"The largest number of float16 is 65504, a little below 2^16.", "The square of 2^k is 2^(2k)."},
			mistakes: []mistake{
				{number(256), "256² is 65536. The largest float16 number is 65504."},
				{number(16384), "16384 is the square. Which number did you square?"},
			},
		},
		{
			id: "11.3", kind: design, task: "a function that returns the differences to the first price in bfloat16",
			accept: function(func(f func(x *tensor.Tensor) *tensor.Tensor) error { return differences(f, false) }),
			why:    "In float32 the subtraction is exact, and the small differences fit into 8 bits. Rounded first, the prices are already equal.",
			hints:  []string{"In which dtype must the subtraction run?", "Subtract x.Index(0) first, and call BFloat16 on the result."},
			mistakes: []mistake{
				{function(func(f func(x *tensor.Tensor) *tensor.Tensor) error { return differences(f, true) }), "You round before you subtract. Prices near 1000 are 4 apart in bfloat16."},
				{function(func(f func(x *tensor.Tensor) *tensor.Tensor) error {
					if f(prices()).DType() != tensor.Float32 {
						return errWrong
					}
					return nil
				}), "The result is still float32. Round it with BFloat16 at the end."},
			},
		},
		{
			id: "11.4", kind: findBug, task: "the dtype of the counter",
			accept:   text("float32", "float64", "int64", "int32", "int"),
			why:      "A counter needs enough bits for all whole numbers up to 10 000: float32 has 24, float16 only 11 and bfloat16 only 8.",
			hints:    []string{"256 + 1 is 256 in bfloat16. Where does float16 stop?", "Which dtype has all whole numbers to 10 000?"},
			mistakes: []mistake{{text("float16"), "float16 stops later, at 2048, but still before 10 000."}},
		},
	},
}

func prices() *tensor.Tensor { return tensor.Linspace(1000, 1009, 10) }

// differences tests that a function returns the differences to the first price, either exactly or as they are when
// the prices were rounded first.
func differences(f func(x *tensor.Tensor) *tensor.Tensor, rounded bool) error {
	x := prices()
	if rounded {
		x = x.BFloat16()
	}
	got, want := f(prices()), x.Sub(x.Index(0)).BFloat16()
	switch {
	case got.DType() != tensor.BFloat16:
		return fmt.Errorf("the result is %v; want bfloat16", got.DType())
	case !tensor.Equal(got, want):
		return fmt.Errorf("for the prices 1000 to 1009 the result is %v", got.Float())
	}
	return nil
}

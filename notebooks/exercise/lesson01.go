package exercise

import "reflect"

var lesson01 = lesson{
	number: "01", title: "What is a half?",
	predictions: []prediction{{id: "01", question: "In float16, what is 1 + 0.0001?", guess: anyNumber()}},
	exercises: []exercise{
		{
			id: "01.1", kind: warmUp, task: "the largest float16 number below 1",
			accept: number(1 - 0x1p-11),
			why:    "It is 1 − 2⁻¹¹, about 0.9995. Between 0.5 and 1 the exponent is one less than from 1 to 2, so the gap is half as large.",
			hints:  []string{"Which gap do the numbers from 0.5 to 1 have? The table of gaps shows it.", "It is 1 minus that gap."},
			mistakes: []mistake{
				{near(1-0x1p-10, 1e-5), "2⁻¹⁰ is the gap *above* 1. Below 1 the exponent is smaller, and so is the gap."},
				{number(1 - 0x1p-12), "float16 does not hold that number: `half(1 - math.Pow(2, -12))` is 1."},
				{satisfies("a whole number", wholeNumber), "It must be less than 1. In Go, `^` is not a power: write a power as a text, `\"1 - 2^-3\"`, or with `math.Pow(2, -3)`."},
				{number(0.9999), "float16 does not hold 0.9999: `half(0.9999)` is 1."},
			},
		},
		{
			id: "01.2", kind: change, task: "the number that the bits of 0.1 in bfloat16 stand for",
			accept: number(0.10009765625),
			why:    "With seven bits of fraction, the gap at 0.1 is 2⁻¹¹, eight times as large as in float16, and 0.10009765625 is the nearest number.",
			hints:  []string{"The fraction is the last seven bits: `number & 127`, in units of 1/128.", "The exponent is `number>>7 & 255`, with 127 added."},
			mistakes: []mistake{
				{number(0.0999755859375), "That is float16's number. Convert with `.BFloat16()`, not `.Half()`."},
				{number(1.4501953125), "You read the bits of bfloat16 as if they were divided like those of float16."},
				{number(0.06719970703125), "The exponent is right. The fraction has seven bits now, so it counts in units of 1/128."},
				{satisfies("a number above 10^30", above(1e30)), "The bits of the exponent have 127 added, not 15. Subtract 127."},
				{number(0.1), "0.1 is the number that was to be stored. The bits stand for a number near it."},
			},
		},
		{
			id: "01.3", kind: design, task: "the formats for jobs (a), (b) and (c)",
			accept: list(text("float16"), text("bfloat16"), text("float32")),
			why:    "float16 counts exactly to 2048. bfloat16 has float32's range and two digits. Next to 1, 0.0001 is lost in both, so the weight needs float32.",
			hints:  []string{"Up to which number does each format hold all whole numbers?", "Compare 10²⁰ with the largest numbers, and 0.0001 with the gaps after 1."},
			mistakes: []mistake{
				{list(text("bfloat16"), text("bfloat16"), text("float32")), "bfloat16 holds all whole numbers only up to 256: its fraction has seven bits."},
				{list(text("float16"), text("float16"), text("float32")), "10²⁰ is infinite in float16, and 10⁻²⁰ is 0."},
				{list(text("float16"), text("bfloat16"), text("float16")), "You measured this one: 1 + 0.0001 in float16 is 1."},
				{list(text("float16"), text("bfloat16"), text("bfloat16")), "The gap after 1 is 1/128 in bfloat16. A change of 0.0001 is lost."},
			},
		},
		{
			id: "01.4", kind: findBug, task: "the largest float16 number",
			accept: exact(65504),
			why:    "The number has a digit too many: 65504 is (2 − 2⁻¹⁰)·2¹⁵.",
			hints:  []string{"Which digit is there once too often?", "All ten bits of the fraction are 1, and the exponent is 15: (2 − 2⁻¹⁰)·2¹⁵."},
			mistakes: []mistake{
				{exact(65536), "2¹⁶ would be the next number, but its exponent stands for infinity."},
				{exact(65520), "65520 is the first number that becomes infinite. The largest number is half a gap below it."},
				{exact(65519), "65519 is rounded down to the largest number. It is not a float16 number itself."},
			},
		},
		{
			id: "01.5", kind: findBug, task: "the smallest normal numbers of float16 and float32",
			accept: list(near(0x1p-14, 1e-2), near(0x1p-126, 1e-2)),
			why:    "2⁻¹⁴ and 2⁻¹²⁶. Below them the exponent stays the same and the fraction loses its bits, one with each halving.",
			hints:  []string{"The table of the section \"From the smallest to the largest\" has a column for it.", "They are 2⁻¹⁴ and 2⁻¹²⁶: write `\"2^-14\"`."},
			mistakes: []mistake{
				{list(near(0x1p-24, 1e-2), near(0x1p-149, 1e-2)), "These are the smallest subnormal numbers, which have a single bit left."},
				{list(near(0x1p-126, 1e-2), near(0x1p-14, 1e-2)), "These are the right numbers in the wrong order: float16 first."},
			},
		},
		{
			id: "01.6", kind: findBug, task: "the memory of a float16 tensor, as a share of a float32 tensor's",
			accept:   number(0.5),
			why:      "16 bits are half of 32. The column means that twice as many numbers fit.",
			hints:    []string{"Divide the two numbers of bytes.", "16 bits, divided by 32 bits."},
			mistakes: []mistake{{number(2), "Twice as many *numbers* fit in the same memory. How much memory does the same tensor need?"}},
		},
		{
			id: "01.7", kind: findBug, task: "the dtype of `torch.tensor(1)`",
			accept: text("int64", "torch.int64", "long", "torch.long"),
			why:    "1 without a point is an integer. The sum is float32 only because integers and fractions are promoted to float32. `torch.tensor(1.)` is what was meant.",
			hints:  []string{"1 is written without a decimal point.", "`tensor.FromInts([]int{1})` is the same here. Print its dtype."},
			mistakes: []mistake{
				{text("float32", "torch.float32", "float"), "float32 is the dtype of the *sum*. What is the dtype of the tensor before 0.0001 is added?"},
				{text("int32", "int", "torch.int32"), "It is an integer, but torch's integers have 64 bits unless you ask for fewer."},
			},
		},
	},
}

// wholeNumber accepts values of an integer type other than 0 and 1, for a mistake.
func wholeNumber(given any) error {
	if v := reflect.ValueOf(given); v.CanInt() && v.Int() != 0 && v.Int() != 1 {
		return nil
	}
	return errWrong
}

// above accepts numbers that are larger than limit, for a mistake.
func above(limit float64) func(given any) error {
	return func(given any) error {
		if got, err := value(given); err != nil || !(got > limit) {
			return errWrong
		}
		return nil
	}
}

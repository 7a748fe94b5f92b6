package exercise

var lesson20 = lesson{
	number: "20", title: "Read a paper",
	predictions: []prediction{{id: "20", question: "Which is the smallest of the loss scales 1, 8, 128 and 1024 with which the loss follows that of float32?", guess: choice("1", "8", "128", "1024")}},
	exercises: []exercise{
		{
			id: "20.1", kind: warmUp, task: "the largest power of two that is lost when it is added to 1 in float16",
			accept: exact(0x1p-11),
			why:    "From 1 to 2 the float16 numbers are 2^-10 apart. 2^-11 is half of that, and a tie goes to the even neighbour, which is 1.",
			hints:  []string{"How far apart are the float16 numbers from 1 to 2?", "An update of half the distance is a tie. It goes to the number with the even last bit."},
			mistakes: []mistake{
				{exact(0x1p-10), "2^-10 is the distance to the next number: 1 + 2^-10 is that number. What is lost?"},
				{exact(0x1p-12), "2^-12 is lost, but it is not the largest. What happens to a tie?"},
				{exact(0x1p-24), "2^-24 is the smallest float16 number. Next to 1 much larger numbers are lost already."},
			},
		},
		{
			id: "20.2", kind: change, task: "the share of nonzero gradients that float16 loses with a weight of 1, in percent",
			accept:   near(5.0, 0.02),
			why:      "A hundredth of the weight shifts all gradients down by 6.6 binary places. The histogram keeps its shape; more of it lies below the end of float16.",
			hints:    []string{"Change `weight` in the cell that makes the data, run it, then the cell of the histogram.", "Lost is a share from 0 to 1. Multiply it by 100."},
			mistakes: []mistake{{near(0.05, 0.02), "That is the share. In percent it is a hundred times as much."}, {near(84.7, 0.02), "That is the share with a weight of 0.01. Run the cell of the data again after the change."}},
		},
		{
			id: "20.3", kind: design, task: "the largest power of two that keeps the largest gradient below 65,504",
			accept:   exact(0x1p22),
			why:      "65,504 divided by the largest gradient, rounded down to a power of two. Later steps may have larger gradients: the paper looked at the maxima over many steps, and a margin of a factor of 8 is common.",
			hints:    []string{"Divide 65504 by the largest gradient.", "Round down to a power of two: `math.Exp2(math.Floor(math.Log2(q)))`."},
			mistakes: []mistake{{exact(0x1p23), "Its product with the largest gradient exceeds 65,504. Round down, not up."}, {exact(8), "8 is enough against loss at the lower end. The rule asks for the upper end: the largest scale that is safe."}},
		},
	},
}

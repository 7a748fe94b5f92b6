package exercise

var lesson05 = lesson{
	number: "05", title: "Three loops",
	predictions: []prediction{{id: "05", question: "Which of the four runs is the fastest on your machine?", guess: choice("float32", "autocast", "autocast + scaler", "autocast bfloat16")}},
	exercises: []exercise{
		{
			id: "05.1", kind: warmUp, task: "the dtypes of the results of linear, relu and mse_loss under autocast",
			accept:   list(text("float16"), text("float16"), text("float32")),
			why:      "Linear runs in float16 because it is a matrix product. ReLU is on neither list and runs in the dtype of its input. The loss is a sum, and sums need the range of float32.",
			hints:    []string{"The chart of dtypes has a bar for each operation.", "ReLU is on neither list: what is the dtype of its input?"},
			mistakes: []mistake{{list(text("float16"), text("float32"), text("float32")), "ReLU is not on the float32 list. It runs in the dtype of its input, the output of linear."}},
		},
		{
			id: "05.2", kind: change, task: "the loss scale after 40 steps without an overflow, with a growth interval of 20",
			accept: number(4 * 65536),
			why:    "The scale starts at 65536 and doubles after every 20 steps in a row without an overflow: twice in 40 steps.",
			hints:  []string{"The scale starts at 65536.", "It doubles whenever the growth interval has passed without an overflow. How often is that in 40 steps?"},
			mistakes: []mistake{
				{number(2 * 65536), "The scale doubles after *every* 20 steps without an overflow, so more than once in 40 steps."},
				{number(65536), "It doubles after 20 steps, and the infinite gradient at step 25 halves it again. Leave that gradient out."},
				{number(16 * 65536), "That is the scale with a growth interval of 10."},
			},
		},
		{
			id: "05.3", kind: design, task: "the names of the scaler's methods in one step, in order, if you also clip the gradients",
			accept: list(text("scale", "scaler.scale"), text("unscale", "scaler.unscale", "unscale_", "scaler.unscale_"), text("step", "scaler.step"), text("update", "scaler.update")),
			why:    "Scale comes before Backward. Unscale divides the gradients, so that the limit of the clipping means what it says. Step skips non-finite gradients, and Update changes the scale for the next step.",
			hints:  []string{"The loss is scaled first, and the scale changes last.", "Clipping needs the true size of the gradients."},
			mistakes: []mistake{
				{list(text("scale"), text("step"), text("unscale"), text("update")), "Unscale comes before Step: after the step, clipping is too late."},
				{list(text("scale"), text("backward"), text("step"), text("update")), "Backward is a method of the loss. Which method of the scaler divides the gradients before the step?"},
			},
		},
		{
			id: "05.4", kind: findBug, task: "how many times the check runs",
			accept:   exact(0),
			why:      "`range 0` runs its body 0 times, like `range(0)` in the notes. A check that never runs never fails. Run it once, and it panics.",
			hints:    []string{"Read the first line of the cell.", "What does `for range 3` do? And `for range 0`?"},
			mistakes: []mistake{{exact(25), "There are 25 batches. But how often does the outer loop run?"}, {exact(1), "If it ran once, it would panic: the output is float32."}},
		},
	},
}

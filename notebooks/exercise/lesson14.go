package exercise

import "fmt"

var lesson14 = lesson{
	number: "14", title: "Where does speed come from?",
	predictions: []prediction{{id: "14", question: "How many times as fast as float32 is bfloat16 on your machine, with layers of 64 and of 1024 features?", guess: each(size(0.1), size(0.1))}},
	exercises: []exercise{
		{
			id: "14.1", kind: warmUp, task: "the share of autocast's saving that the scaler eats up",
			accept: near((3.550-2.462)/(5.621-2.462), 0.02),
			why:    "Autocast saves 5.621 - 2.462 = 3.159 s. The scaler costs 3.550 - 2.462 = 1.088 s of it, 34 %.",
			hints:  []string{"How many seconds does autocast save?", "How many seconds does the scaler add? Divide them by the seconds saved."},
			mistakes: []mistake{
				{near(3.550/2.462, 0.01), "This is the time with the scaler over the time without. Compare the added seconds with the saved ones."},
				{near(3.550/2.462-1, 0.01), "You divide by the run with autocast. Divide by the seconds that autocast saves."},
			},
		},
		{
			id: "14.2", kind: change, task: "the first batch for which the prediction exceeds 2",
			accept:   number(512),
			why:      "At 256 rows the prediction for an A100 is 1.89, at 512 it is 3.39: twice the arithmetic for the same number of launches.",
			hints:    []string{"Write a loop over the batches 8, 16, 32 and so on.", "Print batch and prediction, and look for the first above 2."},
			mistakes: []mistake{{number(256), "At 256 the prediction is 1.89, not yet 2."}, {number(128), "At 128 the prediction exceeds 1, but not 2."}},
		},
		{
			id: "14.3", kind: design, task: "a function that returns the time to quote",
			accept: satisfies("a func(times []float64) float64", func(given any) error { return quotes(given, 1) }),
			why:    "The first time contains the start. The median of the others ignores a single slow step; a mean does not.",
			hints:  []string{"Which of the times never belongs to the result?", "One slow step moves the mean, but not the value in the middle."},
			mistakes: []mistake{
				{satisfies("", func(given any) error { return quotes(given, 3.25) }), "One slow step disturbs the mean. Take the value in the middle."},
				{satisfies("", func(given any) error { return quotes(given, 9) }), "The first time contains the start of the program."},
			},
		},
		{
			id: "14.4", kind: findBug, task: "the run whose time is too long",
			accept:   text("float32"),
			why:      "The first run in a fresh process starts the GPU, loads its libraries and allocates memory. Here that is float32, so the speed-ups look larger than they are.",
			hints:    []string{"Which run is the first?", "What happens only once in a process?"},
			mistakes: []mistake{{text("autocast + scaler"), "That run takes longer than autocast because of the scaler, not because of the start."}},
		},
		{
			id: "14.5", kind: findBug, task: "the name of the missing call",
			accept:   code("cuda.Synchronize()", "cuda.Synchronize", "Synchronize", "Synchronize()", "synchronize", "torch.cuda.synchronize()", "torch.cuda.synchronize"),
			why:      "The step was only queued when the clock was read. Synchronize waits until the GPU has finished.",
			hints:    []string{"What has the GPU done by the time the clock is read?", "A call makes the CPU wait until the device has finished."},
			mistakes: []mistake{{code("time.Sleep", "time.Sleep()", "runtime.GC()", "runtime.GC"), "This does not wait for the GPU, and it takes time itself."}},
		},
		{
			id: "14.6", kind: findBug, task: "what the post must change",
			accept:   text("the sizes", "sizes"),
			why:      "8, 16, 16 and 1 features give a GPU almost no arithmetic. Only larger sizes show a gain; and both runs must start from a new network.",
			hints:    []string{"What takes the time in such a small network?", "Compare the two tables of predictions in lesson 10."},
			mistakes: []mistake{{text("the scaler", "scaler"), "The scaler costs a little, but autocast alone is not faster here either."}, {text("the seed", "seed"), "A seed changes the numbers, not the work."}},
		},
		{
			id: "14.7", kind: findBug, task: "the method that makes the CPU wait",
			accept:   text("step", "step()", "scaler.step", "scaler.step(opt)"),
			why:      "Step must know whether a gradient is infinite before it may start the optimizer. The answer is on the GPU, so the CPU waits for it.",
			hints:    []string{"Which of them must decide something?", "The decision needs a number that the GPU computes."},
			mistakes: []mistake{{text("update", "update()"), "Update comes after the decision, and knows the answer already."}, {text("scale", "scale()"), "Scale is a multiplication, which is only queued."}},
		},
	},
}

// quotes tests that a function of times returns want for the times of a slow first step, three good steps and a slow
// one.
func quotes(given any, want float64) error {
	f, ok := given.(func([]float64) float64)
	if !ok {
		return fmt.Errorf("want a func(times []float64) float64, not %T", given)
	}
	if got := f([]float64{9, 1, 10, 1, 1}); got < want-1e-9 || got > want+1e-9 {
		return fmt.Errorf("for the times 9, 1, 10, 1 and 1 the result is %.4g", got)
	}
	return nil
}

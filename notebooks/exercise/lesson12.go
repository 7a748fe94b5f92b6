package exercise

import (
	"fmt"
	"math"

	"halfnote/tensor"
)

var lesson12 = lesson{
	number: "12", title: "Tiny text classifier",
	predictions: []prediction{{id: "12", question: "How many of 64 new texts does the network get right after training in mixed precision?", guess: count(0, 64)}},
	exercises: []exercise{
		{
			id: "12.1", kind: warmUp, task: "the loss of two sigmoids if all texts are friendly and the first sigmoid returns 1",
			accept: near(0.31326, 0.02),
			why:    "The loss takes the 1 for a logit, and sigmoid(1) is 0.731. Its loss is -log(0.731) = log(1 + exp(-1)) = 0.313. For unfriendly texts it is log(2) = 0.693; the mean of both is 0.503.",
			hints:  []string{"The loss takes the 1 for a logit. Which probability is that?", "The loss of a friendly text is -log(sigmoid(logit))."},
			mistakes: []mistake{
				{exact(0), "The loss would be 0 if it took the 1 for a probability. It takes it for a logit and applies its own sigmoid."},
				{near(math.Ln2, 0.01), "log(2) is the loss if the second sigmoid returns 1/2, that is, of the logit 0. Here the logit is 1."},
				{near(0.5032, 0.01), "0.503 is the mean over friendly and unfriendly texts in equal numbers. Here all are friendly."},
			},
		},
		{
			id: "12.2", kind: change, task: "what the line prints and what it should print after the last epoch, as a list of two numbers",
			accept: list(near(0.00213447, 0.01), near(0.0555564, 0.01)),
			why:    "A sum of losses divided by their number is an average. The last loss divided by the number of batches is far too small, and smaller batches make it smaller still.",
			hints:  []string{"The last epoch is `single.losses[64:]`.", "The line divides the last loss by 16."},
			mistakes: []mistake{
				{list(near(0.00213447, 0.01), near(0.4144314, 0.01)), "The second number is the average over all five epochs. The last epoch is `single.losses[64:]`."},
				{list(near(0.0341516, 0.01), near(0.0555564, 0.01)), "Divide the last loss by the number of batches: that is what the line does."},
			},
		},
		{
			id: "12.3", kind: design, task: "the function from float16 logits to probabilities",
			accept: function(func(f func(x *tensor.Tensor) *tensor.Tensor) error {
				logits := tensor.FromFloat32s([]float32{-15, 0, 2, 8.5, 12, 15}, 6).Half()
				p := f(logits)
				switch {
				case p == nil || p.Numel() != 6:
					return fmt.Errorf("want a tensor of the same shape")
				case p.DType() != tensor.Float32:
					return fmt.Errorf("the result is %s, want float32", p.DType())
				case p.Float32s()[5] > 1 || p.Float32s()[0] < 0:
					return fmt.Errorf("want probabilities from 0 to 1; got %g for a logit of 15", p.Float32s()[5])
				case p.Float32s()[3] == 1:
					return fmt.Errorf("a logit of 8.5 becomes exactly 1: the sigmoid was rounded to float16, whose largest number below 1 is 0.99951")
				}
				for i, want := range logits.Float().Sigmoid().Float32s() {
					if d := p.Float32s()[i] - want; d > 1e-6 || d < -1e-6 {
						return fmt.Errorf("got %g for a logit of %g, want %g", p.Float32s()[i], logits.Float32s()[i], want)
					}
				}
				return nil
			}),
			why:   "The cast comes first, so the sigmoid is computed and stored in float32, which has numbers up to 0.99999994 below 1.",
			hints: []string{"A tensor has the methods `Float` and `Sigmoid`.", "In which order? A result that was rounded to 1 stays 1."},
			mistakes: []mistake{{function(func(f func(x *tensor.Tensor) *tensor.Tensor) error {
				x := tensor.FromFloat32s([]float32{2, 9}, 2).Half()
				if p := f(x); p == nil || p.Numel() != 2 || p.DType() != tensor.Float32 || p.Float32s()[1] != 1 {
					return errWrong
				}
				return nil
			}), "The dtype is right, but 9 becomes exactly 1. The sigmoid ran in float16 and was rounded to 1 before the cast."}},
		},
		{
			id: "12.4", kind: findBug, task: "the three lines that are mistakes, as a list of their numbers",
			accept: list(exact(3), exact(9), exact(10)),
			why:    "Line 3 is the second sigmoid. Line 9 adds tensors, which keep every step's computation in memory: add loss.Item(). Line 10 prints the last loss divided by the number of batches: print the sum divided by it.",
			hints:  []string{"One mistake is in the model and two are in how the loss is reported.", "Which line keeps tensors from every step? And which value does the last line divide?"},
			mistakes: []mistake{
				{list(exact(3), exact(4), exact(10)), "Line 4 is right: ZeroGrad may come first or last in a step, if it comes once. What does line 9 add up?"},
				{list(exact(3), exact(5), exact(10)), "Line 5 is right: the loss applies the one sigmoid that is needed. What does line 9 add up?"},
			},
		},
	},
}

package exercise

import (
	"errors"
	"fmt"
	"slices"

	"halfnote/amp/roofline"
	"halfnote/tensor/nn"
)

var lesson10 = lesson{
	number: "10", title: "Repair this post",
	predictions: []prediction{{id: "10", question: "How many times as fast as in float32 is the repaired program with mixed precision on your machine?", guess: size(0.1)}},
	exercises: []exercise{
		{
			id: "10.1", kind: warmUp, task: "the number of parameters of the network 8-16-16-1",
			accept:   number(433),
			why:      "Weights: 8·16 + 16·16 + 16·1 = 400. Biases: 16 + 16 + 1 = 33.",
			hints:    []string{"A linear layer from n to m features has n·m weights.", "It also has a bias for each of its m outputs."},
			mistakes: []mistake{{number(400), "These are the weights. Each output of a layer also has a bias."}},
		},
		{
			id: "10.2", kind: change, task: "the first width for which the prediction is above 1",
			accept:   number(512),
			why:      "Up to 256 features the launches and casts cost more than the products save. At 512 the prediction for a T4 is 1.29.",
			hints:    []string{"Write a loop over the widths 16, 32, 64 and so on.", "Print width and prediction, and look for the first above 1."},
			mistakes: []mistake{{number(256), "At 256 the prediction is 0.67: still slower."}, {number(1024), "1024 gains, but a smaller width does too."}},
		},
		{
			id: "10.3", kind: design, task: "the sizes of a network",
			accept:   satisfies("a list of sizes such as []int{8, 16, 16, 1}", gains),
			why:      "Wide hidden layers give the tensor cores enough work to hide launches and casts.",
			hints:    []string{"Which is larger in a network 8-w-w-1: the work in the product of w by w, or everything else?", "A weight matrix of 4096 by 4096 has 16.8 million weights."},
			mistakes: []mistake{{satisfies("", deep), "More layers of the same width do not help: each has its own launches and casts. Make them wider."}},
		},
		{
			id: "10.4", kind: findBug, task: "the corrected line of Python",
			accept:   code("super().__init__()", "super(Model, self).__init__()", "nn.Module.__init__(self)"),
			why:      "The initialiser of the superclass takes no argument here: super() knows the class and the object.",
			hints:    []string{"Which argument does `nn.Module.__init__` want, apart from the object itself?", "Leave out what stands in the last brackets."},
			mistakes: []mistake{{code("super(Model).__init__()"), "super(Model) without the object is not bound to your network. Write super() with empty brackets."}},
		},
		{
			id: "10.5", kind: findBug, task: "the module that fc1 should be",
			accept: satisfies("a module such as nn.NewReLU()", linear(8, 16)),
			why:    "nn.Linear(8, 16) maps 8 features to 16. Sequential only chains modules that exist already.",
			hints:  []string{"Which module has a matrix of weights?", "nn.NewLinear takes the number of inputs and the number of outputs."},
			mistakes: []mistake{
				{satisfies("", linear(16, 8)), "The number of inputs comes first: 8 inputs and 16 outputs."},
				{code("nn.Linear(8, 16)", "nn.NewLinear(8, 16)", "torch.nn.Linear(8, 16)", "nn.Linear(8, layer_1)"), "That is the module that was meant, as a text. Answer with the module itself, in Go: `nn.NewLinear(8, 16)`."},
			},
		},
		{
			id: "10.6", kind: findBug, task: "the two missing words",
			accept:   list(text("x"), text("return")),
			why:      "forward(self, x) receives the input, and return x hands on the result. Without return a Python function returns None, and the loss fails.",
			hints:    []string{"The first line of the method reads a name that is nowhere defined.", "The last line computes x. How does it leave the method?"},
			mistakes: []mistake{{list(text("input"), text("return")), "The body of the method calls its input x."}},
		},
		{
			id: "10.7", kind: findBug, task: "what belongs after fc1, fc2 and fc3",
			accept:   list(text("relu"), text("relu"), text("nothing", "none", "")),
			why:      "A ReLU between linear layers makes the network more than one linear layer. After the last layer it would forbid negative predictions.",
			hints:    []string{"What would two linear layers without anything between them be?", "Which numbers can come out of a ReLU?"},
			mistakes: []mistake{{list(text("relu"), text("relu"), text("relu")), "A network that ends in a ReLU cannot predict a negative number."}},
		},
		{
			id: "10.8", kind: findBug, task: "the corrected line of Python",
			accept:   code("net = Model().cuda()", `net = Model().to("cuda")`, `net = Model().to(device="cuda")`, "net = Model().to(device)"),
			why:      "cuda() moves the parameters to the GPU, where the data is. It belongs before the optimizer is made.",
			hints:    []string{"The line before it moves the loss function.", "Modules have a method that moves their parameters to the GPU."},
			mistakes: []mistake{{code("net = Model(device=\"cuda\")", "net = Model(\"cuda\")"), "The class of the post takes no device. Move the network after it is made."}},
		},
		{
			id: "10.9", kind: findBug, task: "the line to repeat before the second loop",
			accept:   code("net = Model().cuda()", `net = Model().to("cuda")`, `net = Model().to(device="cuda")`, "net = Model().to(device)"),
			why:      "A new network starts from new weights. The optimizer must be made again too, because it holds the parameters.",
			hints:    []string{"Which object keeps what the first run has learned?", "It is the line of bug 5."},
			mistakes: []mistake{{code("net = Model()"), "That is the line with bug 5: the new network would be on the CPU."}, {code("opt = torch.optim.SGD(net.parameters(), lr=0.001)"), "The post does make a new optimizer, but for the network that is already trained."}},
		},
		{
			id: "10.10", kind: findBug, task: "the word in place of scaler",
			accept:   text("autocast"),
			why:      "Autocast casts the operands of each operation as the policy says. The scaler multiplies the loss, and skips steps whose gradients are not finite.",
			hints:    []string{"Look at the four lines that print the dtype of the output.", "Which of the two switches changes the dtype?"},
			mistakes: []mistake{{text("optimizer"), "The optimizer changes weights, and always in float32 here."}},
		},
		{
			id: "10.11", kind: findBug, task: "whether autocast computes a small gradient in float32",
			accept:   truth(false),
			why:      "The policy chooses by the operation, not by the size of the numbers. The derivative of a float16 product is float16, however small it is; therefore the loss is scaled.",
			hints:    []string{"Does the policy know the values, or only the operation?"},
			mistakes: []mistake{{truth(true), "Autocast does not look at values. It knows only which operation it is."}},
		},
	},
}

// predictedOnT4 returns the predicted speed-up of a network with batches of 512 on a T4, and its number of weights.
func predictedOnT4(given any) (sizes []int, speedup float64, weights int, err error) {
	sizes, ok := given.([]int)
	if !ok || len(sizes) < 2 || len(sizes) > 100 || slices.Min(sizes) < 1 || slices.Max(sizes) > 1<<20 {
		return nil, 0, 0, fmt.Errorf("want a list of at least two sizes such as []int{8, 16, 16, 1}")
	}
	for i := range sizes[1:] {
		weights += sizes[i] * sizes[i+1]
	}
	return sizes, roofline.Dense(512, sizes...).On(roofline.GPUByName("T4")).Speedup(), weights, nil
}

func gains(given any) error {
	sizes, speedup, weights, err := predictedOnT4(given)
	switch {
	case err != nil:
		return err
	case sizes[0] != 8 || sizes[len(sizes)-1] != 1:
		return fmt.Errorf("the network has %d inputs and %d outputs; want 8 and 1", sizes[0], sizes[len(sizes)-1])
	case weights > 20e6:
		return fmt.Errorf("the network has %.1f million weights; want at most 20", float64(weights)/1e6)
	case speedup < 3:
		return fmt.Errorf("the prediction is %.2f; want at least 3", speedup)
	}
	return nil
}

// deep accepts networks of many narrow layers that do not gain.
func deep(given any) error {
	sizes, speedup, _, err := predictedOnT4(given)
	if err != nil || len(sizes) < 6 || speedup >= 3 {
		return errWrong
	}
	return nil
}

func linear(in, out int) func(given any) error {
	return func(given any) error {
		l, ok := given.(*nn.Linear)
		if !ok {
			if _, isText := given.(string); isText {
				return errors.New("a text is not a module: answer with the module itself, such as nn.NewReLU(), without quotation marks")
			}
			return fmt.Errorf("%T is not the module with a matrix of weights", given)
		}
		if l.Weight.Size(0) != out || l.Weight.Size(1) != in {
			return fmt.Errorf("the layer maps %d features to %d", l.Weight.Size(1), l.Weight.Size(0))
		}
		return nil
	}
}

package exercise

import (
	"fmt"

	"halfnote/amp/apex"
)

var lesson16 = lesson{
	number: "16", title: "From R, PyTorch or Apex",
	predictions: []prediction{{id: "16", question: "To how many significant digits do all ten losses agree with PyTorch's?", guess: count(0, 16)}},
	exercises: []exercise{
		{
			id: "16.1", kind: warmUp, task: "the call as text",
			accept: text("scaler.Unscale(opt)", "scaler.Unscale", "scaler.Unscale(optimizer)"),
			why:    "Names begin with a capital letter. PyTorch's underscore at the end marks a method that changes its operand; here the comment says so.",
			hints:  []string{"The table of PyTorch has this row.", "A capital letter, and no underscore."},
			mistakes: []mistake{
				{text("scaler.Unscale_(opt)", "scaler.unscale_(opt)"), "There are no underscores in these names."},
				{text("scaler$unscale_(opt)"), "That is R. Here a dot takes the place of `$`."},
			},
		},
		{
			id: "16.2", kind: change, task: "the loss that the program prints",
			accept: near(0.3260338, 1e-3),
			why:    "The same seed gives the same weights and the same data, if the network is made before the data.",
			hints:  []string{"AdamW is `optim.NewAdamW(nn.Parameters(net), 0.01)`, and Tanh is `nn.NewTanh()`.", "Is the seed 3? Is the network made before the data?"},
			mistakes: []mistake{
				{near(0.6075220, 1e-3), "The data was drawn before the network was made, so both got other random numbers. Keep the order of the lines."},
				{near(0.3231214, 1e-3), "That is the loss after the last step. The program prints the loss that was computed before it."},
				{near(0.0907902, 1e-3), "That is the loss with a learning rate of 0.1."},
			},
		},
		{
			id: "16.3", kind: design, task: "the level",
			accept: satisfies("an apex.OptLevel", func(given any) error {
				level, ok := given.(apex.OptLevel)
				if !ok {
					return fmt.Errorf("want an apex.OptLevel such as apex.O2, not %T", given)
				}
				p := level.Properties()
				for _, want := range []struct{ name, value string }{
					{"cast_model_type", "torch.float16"}, {"master_weights", "True"}, {"keep_batchnorm_fp32", "False"}, {"loss_scale", "128.0"},
				} {
					if p[want.name] != want.value {
						return fmt.Errorf("%s is %s, want %s", want.name, p[want.name], want.value)
					}
				}
				return nil
			}),
			why:   "Each keyword of amp.initialize is a method of the level. A level is a value: the methods return changed copies.",
			hints: []string{"Start from `apex.O2`.", "The methods are `KeepBatchNormFP32` and `LossScale`."},
			mistakes: []mistake{{satisfies("an apex.OptLevel", func(given any) error {
				if level, ok := given.(apex.OptLevel); !ok || level.Properties()["loss_scale"] != "dynamic" {
					return errWrong
				}
				return nil
			}), "The scale of this level is dynamic. The program sets a constant: `LossScale(128)`."}},
		},
		{
			id: "16.4", kind: findBug, task: "the numbers of the lines that fail on every machine, in order",
			accept: list(exact(2), exact(5), exact(7)),
			why:    "Line 2 gives Python's Ellipsis as the learning rate: a TypeError. Line 5 calls a function that never existed, and line 7 one that was removed in 2025. Line 1 fails only without a GPU, lines 3 and 6 warn, and line 4 works, but shows nothing about the device.",
			hints:  []string{"Three lines fail. One of them gives something that is not a number.", "Look for a misspelt name, and for a package whose `amp` is gone."},
			mistakes: []mistake{
				{list(exact(1), exact(2), exact(5)), "Line 1 works on a machine with a GPU. Which line fails there too?"},
				{list(exact(2), exact(3), exact(5)), "Line 3 only warns that it is deprecated."},
				{list(exact(2), exact(5), exact(6)), "Line 6 only warns that it is deprecated."},
			},
		},
	},
}

package exercise

import "halfnote/amp/apex"

var lesson13 = lesson{
	number: "13", title: "Tiny ResNet, compared",
	predictions: []prediction{{id: "13", question: "How many of the six other runs end with a loss within 2 % of that of float32?", guess: count(0, 6)}},
	exercises: []exercise{
		{
			id: "13.1", kind: warmUp, task: "the level with float16 parameters whose optimizer updates float32 numbers",
			accept: text("O2"),
			why:    "Only O2 has master weights: the optimizer updates float32 numbers, and copies them to the float16 parameters of the model.",
			hints:  []string{"Two rows of the table matter: `cast_model_type` and `master_weights`.", "O1's parameters are float32, and O3 has no masters. Which level is left?"},
			mistakes: []mistake{
				{text("O1"), "O1 leaves the parameters in float32. It casts around operations and has no need of copies."},
				{text("O3"), "O3 has float16 parameters and updates them directly: the row `master_weights` says False."},
			},
		},
		{
			id: "13.2", kind: change, task: "the smallest of the scales with which the run ends above 80 %",
			accept:   exact(256),
			why:      "The loss counts one part in 10,000, and a factor of 256 is enough: many gradients were far above the lower end of float16. A larger scale costs nothing until something overflows, so scalers start high.",
			hints:    []string{"Declare `s := 1.0` in the cell of `plainStep`, and loop over the five values of `s` in another cell.", "Print `r.accuracy[epochs-1]` for each scale."},
			mistakes: []mistake{{exact(65536), "65536 works, and so does a smaller one. Try all five."}, {exact(4096), "4096 works, and so does a smaller one."}, {exact(16), "With 16 the loss falls, but the accuracy stays below 80 %."}},
		},
		{
			id: "13.3", kind: design, task: "the level",
			accept: satisfies("an apex.OptLevel", func(given any) error {
				level, ok := given.(apex.OptLevel)
				if !ok {
					return complain("want an apex.OptLevel such as apex.O3, not %T", given)
				}
				p := level.Properties()
				for _, want := range []struct{ name, value string }{
					{"cast_model_type", "torch.float16"}, {"master_weights", "False"}, {"keep_batchnorm_fp32", "True"}, {"loss_scale", "1024.0"},
				} {
					if p[want.name] != want.value {
						return complain("%s is %s, want %s", want.name, p[want.name], want.value)
					}
				}
				return nil
			}),
			why:   "Each method returns a changed copy of the level, so they can be chained. With a constant scale Apex never skips a step, so 1024 must be small enough for every step.",
			hints: []string{"`apex.O3.KeepBatchNormFP32(true)` is half of it.", "The other half is `LossScale`."},
			mistakes: []mistake{{satisfies("an apex.OptLevel", func(given any) error {
				if level, ok := given.(apex.OptLevel); !ok || level.Properties()["master_weights"] != "True" {
					return errWrong
				}
				return nil
			}), "This level has master weights, for which there is no memory. Start from `apex.O3`."}},
		},
		{
			id: "13.4", kind: findBug, task: "the missing line as text",
			accept: text("opt.Step()", "opt.Step", "prepared.Step()", "optimizer.step()"),
			why:    "ScaleLoss computes and unscales the gradients. Without opt.Step() they are never used, and ZeroGrad throws them away.",
			hints:  []string{"Which lines of an ordinary loop come between backward and ZeroGrad?", "The gradients are there. What changes the weights?"},
			mistakes: []mistake{
				{text("scaler.Update()", "opt.Update()"), "Apex adjusts its scale at the end of ScaleLoss. Nothing changes the *weights* yet."},
				{text("loss.Backward()", "scaled.Backward()"), "Backward is there: in the function in line 4. What uses the gradients?"},
			},
		},
	},
}

package diagnose

import (
	"halfnote/amp"
	"halfnote/tensor"
)

// rule is one thing that a linter looks for. Its checks return what they found, in
// words, or "" for nothing.
type rule struct {
	code     string
	severity Severity
	finds    string
	why      string
	cure     string
	source   string // of the lesson

	op     func(w *watch, e *tensor.Event) string // looks at an operation
	mark   func(w *watch, m *tensor.Mark) string  // looks at a call
	scaler func(w *watch, e *amp.Event) string    // looks at what a scaler did
	settle func(w *watch, found found)            // looks at what a call has led to, at the next
	end    func(w *watch, found found)            // looks at the run as a whole
	// refused are the codes of calls that are refused for it.
	refused []string
}

// found adds a finding.
type found func(at spot, what string)

// Sources of the lessons.
const (
	recipe   = "PyTorch, Automatic Mixed Precision recipe"
	examples = "PyTorch, Automatic Mixed Precision examples"
	docs     = "PyTorch, torch.amp"
	scaling  = "torch/amp/grad_scaler.py"
	paper    = "Micikevicius et al., Mixed Precision Training (ICLR 2018)"
	guide    = "NVIDIA, Matrix Multiplication Background"
)

// rules are what a linter knows, by code.
var rules = []rule{
	{
		code: "backward-inside", severity: Risk, finds: "Backward inside an autocast region",
		why:  "Derivatives run in the dtypes of forward anyway; in PyTorch their own formulas would be cast a second time.",
		cure: "End the region after the loss, and call Backward outside.", source: docs,
		mark: backwardInside,
	},
	{
		code: "bce-autocast", severity: Mistake, finds: "binary_cross_entropy under autocast, which refuses it",
		why:  "Its gradient 1/(p(1-p)) does not fit in float16, where sigmoid(8.4) is 1 already.",
		cure: "Leave the sigmoid out and use nn.BinaryCrossEntropyWithLogits.", source: docs,
		refused: []string{"banned"},
	},
	{
		code: "clip-before-unscale", severity: Mistake, finds: "clipping of gradients that still carry the loss scale",
		why:  "The limit is for true gradients: scaled ones are far above it, so all of them are cut to almost nothing.",
		cure: "Call scaler.Unscale(opt) before clipping, or clip to the limit times scaler.CurrentScale().", source: examples,
		mark: clipBeforeUnscale,
	},
	{
		code: "count-in-half", severity: Mistake, finds: "integers beyond 2048 in float16, or 256 in bfloat16",
		why:  "From there on not every integer has a number of its own: counts, positions and sums of masks are rounded.",
		cure: "Count in int64 or float32: cast before the sum.", source: paper + ", section 3.3",
		op: countInHalf,
	},
	{
		code: "double-sigmoid", severity: Mistake, finds: "sigmoid before binary_cross_entropy_with_logits, which has one",
		why:  "The loss then squashes twice: its logits are between 0 and 1, and it cannot get below 0.31 for ones and 0.69 for zeros.",
		cure: "Give the loss the logits: leave the sigmoid out.", source: "README of the BERT tweet classifier; PyTorch, BCEWithLogitsLoss",
		op: doubleSigmoid,
	},
	{
		code: "double-softmax", severity: Mistake, finds: "softmax before cross_entropy, which has one",
		why:  "The loss then sees logits between 0 and 1: its gradients are small and it cannot get near 0.",
		cure: "Give the loss the logits: leave the softmax out.", source: "PyTorch, CrossEntropyLoss",
		op: doubleSoftmax,
	},
	{
		code: "eps-lost", severity: Mistake, finds: "an optimizer's eps that is 0 in its parameters' dtype",
		why:  "The step divides by the square root of a mean that may be 0: the parameter becomes inf or NaN.",
		cure: "Keep parameters in float32, or set optim.Eps(1e-4).", source: "float16 ends at 5.96e-8",
		mark: epsLost,
	},
	{
		code: "eval-in-training", severity: Risk, finds: "training of a model that is in use mode",
		why:  "Dropout does nothing and batch normalization keeps its statistics.",
		cure: "Call nn.Train(net) before the loop, unless these layers are to be frozen.", source: "PyTorch, Module.train",
		mark: evalInTraining,
	},
	{
		code: "float64-inside", severity: Advice, finds: "float64 in an autocast region, which leaves it alone",
		why:  "The layer runs in float64, at half of float32's speed or less, and none of the region's use.",
		cure: "Give data and model in float32: tensor.New does, data of NumPy's default does not.", source: docs,
		op: float64Inside,
	},
	{
		code: "forward-outside", severity: Advice, finds: "a layer outside the autocast region that others run in",
		why:  "It runs in float32 and gains nothing.",
		cure: "Move the whole forward pass and the loss into the region; where float32 is meant, say so with amp.Autocast(amp.Off, …). A goroutine that a region starts is outside it.", source: recipe,
		op: layerOutside, end: forwardOutside,
	},
	{
		code: "freed-graph", severity: Mistake, finds: "Backward through a graph that an earlier Backward has freed",
		why:  "Something from an earlier step, or from before an earlier Backward, is part of the loss.",
		cure: "Detach what is carried from step to step; for several losses of one graph use BackwardOptions{RetainGraph: true}.", source: "PyTorch, torch.Tensor.backward",
		refused: []string{"freed"},
	},
	{
		code: "half-input", severity: Advice, finds: "an input that is cast to half by hand",
		why:  "Autocast casts what each operation needs; a cast by hand takes precision from those that want float32.",
		cure: "Leave data in float32 and let autocast cast it.", source: recipe,
		op: halfInput,
	},
	{
		code: "half-parameters", severity: Mistake, finds: "an optimizer of float16 parameters",
		why:  "Updates smaller than half a unit in the last place vanish, and a scaler cannot unscale float16 gradients.",
		cure: "Keep the model in float32, without nn.Half, and let autocast cast; or keep float32 masters, as Apex's O2 does.", source: paper + ", section 3.1",
		mark: halfParameters, refused: []string{"fp16_grad"},
	},
	{
		code: "half-reduction", severity: Risk, finds: "an operation of the float32 list that ran in float16, outside the region",
		why:  "Sums, exponentials, norms and losses leave float16's range soon: 65504 ends it.",
		cure: "Move it into the region, where it runs in float32, or call Float() on its operand first.", source: recipe,
		op: halfReduction,
	},
	{
		code: "ignored-skips", severity: Mistake, finds: "a run in which every step was skipped",
		why:  "Nothing was learnt, and without a look at the results nobody notices.",
		cure: "Look at what Step returns; diagnose.Overflow names the operation that overflows. A few skips at the start are normal.", source: "pytorch issues 55585 and 70346",
		end: ignoredSkips,
	},
	{
		code: "kept-graph", severity: Risk, finds: "a running total of losses with their graphs",
		why:  "The total hangs on to the graph of every step: memory grows without end.",
		cure: "Add loss.Item(), or loss.Detach().", source: "README of the BERT tweet classifier; PyTorch FAQ",
		op: keptGraph,
	},
	{
		code: "leftover-gradients", severity: Risk, finds: "gradients at the end that no step has used",
		why:  "They leak into the first step of the next epoch: the last effective batch was not complete.",
		cure: "Step for the last, smaller batch too, or call ZeroGrad before the next epoch.", source: examples,
		end: leftover,
	},
	{
		code: "log-by-hand", severity: Risk, finds: "a logarithm of softmax, sigmoid or a sum of exponentials, or a softmax by hand",
		why:  "What is rounded to 0 has no logarithm, and exponentials overflow: from 11.09 in float16, from 88.7 in float32.",
		cure: "Use the operation that does it in one: LogSoftmax, LogSigmoid, LogSumExp, Softplus, Softmax.", source: docs,
		op: byHand,
	},
	{
		code: "loss-in-half", severity: Risk, finds: "a loss in half precision",
		why:  "It has three digits, and one with a dimension overflows when it is scaled: the scale of 65536 itself is beyond float16.",
		cure: "Compute the loss in the region, by one of the losses of nn, or call Float() on it before its mean.", source: docs,
		mark: lossInHalf, scaler: scaledHalf,
	},
	{
		code: "loss-not-finite", severity: Mistake, finds: "a loss that is infinite or NaN before it is scaled",
		why:  "No loss scale can cure it: the forward pass has overflowed, or the data or the weights are not finite.",
		cure: "Find where it was born with diagnose.Overflow.", source: "pytorch issue 115500",
		mark: lossNotFinite, scaler: scaledNotFinite,
	},
	{
		code: "lost-addition", severity: Risk, finds: "an addition in half precision that changes nothing",
		why:  "What is added is less than half a unit in the last place, 1 part in 2048 in float16: a running sum sticks, an eps is gone.",
		cure: "Add in float32: cast with Float() before, or keep sums in float32.", source: paper + ", section 3.1",
		op: lostAddition,
	},
	{
		code: "mask-overflow", severity: Mistake, finds: "a mask value as -1e9 in float16, where it is -inf",
		why:  "A row that is masked throughout becomes NaN in softmax.",
		cure: "Mask with the smallest number of the dtype, tensor.FInfo(x.DType()).Max with a minus, or in float32.", source: "float16 ends at 65504",
		op: maskOverflow, refused: []string{"beyond"},
	},
	{
		code: "missing-scale", severity: Mistake, finds: "a scaler's step without a loss that it scaled",
		why:  "Gradients would be divided by a scale that they do not carry.",
		cure: "Call scaler.Scale(loss).Backward().", source: scaling,
		refused: []string{"not_initialised"}, scaler: unscaledLoss,
	},
	{
		code: "missing-update", severity: Mistake, finds: "a scaler's step without Update after it",
		why:  "The scale never moves, and the next step is refused.",
		cure: "Call scaler.Update() once after the steps of all optimizers.", source: recipe,
		refused: []string{"already_stepped"}, end: missingUpdate,
	},
	{
		code: "missing-zero-grad", severity: Mistake, finds: "gradients that a step has used and later ones are added to",
		why:  "Every step then goes along the sum of all gradients so far; an inf or NaN in it stays for good.",
		cure: "Call opt.ZeroGrad() after each step, or before Backward.", source: recipe,
		mark: staleGradient, scaler: staleAtSkip,
	},
	{
		code: "needless-scaler", severity: Advice, finds: "a scaler though nothing ran in float16",
		why:  "bfloat16 and float32 have the range that gradients need; the scaler costs a pass over all gradients in each step.",
		cure: "Leave the scaler out, or switch it off with amp.Enabled(false); if float16 is meant, open amp.Autocast(amp.Float16, …).", source: docs,
		end: needlessScaler,
	},
	{
		code: "nll-of-softmax", severity: Mistake, finds: "nll_loss of probabilities",
		why:  "It wants logarithms: of probabilities it is linear, and falls below 0.",
		cure: "Give it LogSoftmax, or use nn.CrossEntropy on the logits.", source: "PyTorch, NLLLoss",
		op: nllOfSoftmax,
	},
	{
		code: "no-gradients", severity: Mistake, finds: "a step of an optimizer without any gradient",
		why:  "Nothing is updated: Backward is missing, ZeroGrad came too early, or the optimizer has other parameters than the model.",
		cure: "Call Backward before the step and ZeroGrad after it, and give the optimizer nn.Parameters(net).", source: scaling,
		mark: noGradients, refused: []string{"no_grads"},
	},
	{
		code: "no-scaler", severity: Risk, finds: "float16 gradients without a scaler",
		why:  "Gradients below 2^-25 become 0, those below 2^-14 lose digits: some of the model stops learning.",
		cure: "Use amp.NewGradScaler, or amp.BFloat16, which needs none.", source: paper + ", section 3.2",
		end: noScaler,
	},
	{
		code: "odd-sizes", severity: Advice, finds: "matrix products in half precision whose sizes are no multiples of 8",
		why:  "Tensor Cores work on blocks of 8: other sizes are padded, or run without them.",
		cure: "Pad batch, features, classes or vocabulary to a multiple of 8.", source: guide,
		op: noteProduct, end: oddSizes,
	},
	{
		code: "penalty-of-scaled", severity: Mistake, finds: "a gradient penalty of gradients that carry the loss scale",
		why:  "The penalty is as many times too large as the scale, and changes with it.",
		cure: "Multiply the gradients by 1/scaler.CurrentScale() first, out of place.", source: examples,
		op: penaltyOfScaled,
	},
	{
		code: "repeated-cast", severity: Advice, finds: "a weight that is cast more than once in a region",
		why:  "The cache is off, or what is used is a view as w.T(), which is not cached. Each cast reads and writes the weight again, and gradients are rounded apart.",
		cure: "Leave the cache on, and use the weight itself.", source: docs,
		op: repeatedCast,
	},
	{
		code: "scale-below-1", severity: Risk, finds: "a loss scale below 1, or one that only shrinks",
		why:  "Scaling down loses gradients, and a finite one may overflow when it is unscaled, unnoticed. The scale shrinks because every step overflows: the cause is elsewhere.",
		cure: "Find the operation that overflows with diagnose.Overflow; NaN in parameters or gradients that are never cleared does it too.", source: "pytorch issues 99640 and 70346",
		scaler: scaleBelow1,
	},
	{
		code: "scaler-per-step", severity: Mistake, finds: "a new scaler for every step",
		why:  "Its scale starts at 65536 again each time and never finds its level.",
		cure: "Make one scaler before the loop.", source: recipe,
		end: scalerPerStep,
	},
	{
		code: "scheduler-on-skip", severity: Risk, finds: "a scheduler that moves though the step was skipped, or before any step",
		why:  "The learning rate runs ahead of the training: warm-up is cut short.",
		cure: "Call it after the optimizer: if !scaler.Step(opt).Skipped { scheduler.Step() }.", source: "pytorch issue 44511",
		mark: schedulerOnSkip,
	},
	{
		code: "small-products", severity: Advice, finds: "matrix products over fewer than 64 numbers",
		why:  "They are over before half precision could pay: loading operands and starting kernels take the time.",
		cure: "Expect no gain here; make layers wider or batches larger, or stay in float32.", source: guide,
		end: smallProducts,
	},
	{
		code: "step-past-scaler", severity: Mistake, finds: "opt.Step() on gradients that carry the loss scale",
		why:  "The step is 65536 times too long, and inf or NaN reaches the weights.",
		cure: "Call scaler.Step(opt), which unscales, checks and steps.", source: recipe,
		settle: stepPastScaler,
	},
	{
		code: "sync-often", severity: Advice, finds: "many values read one by one in a step",
		why:  "On a GPU each Item() waits until all queued work is done.",
		cure: "Keep sums as tensors, detached, and read them once in a while.", source: recipe,
		end: syncOften,
	},
	{
		code: "train-in-inference", severity: Mistake, finds: "dropout or batch statistics under NoGrad",
		why:  "The model is still in training: its answers are random or depend on the rest of the batch, and running statistics move.",
		cure: "Call nn.Eval(net) before, and nn.Train(net) after.", source: "PyTorch, Module.eval",
		op: trainInInference, settle: trainedInInference,
	},
	{
		code: "unscale-in-accumulation", severity: Mistake, finds: "scaled gradients added to unscaled ones",
		why:  "The sum is neither: unscaling again would divide the first ones twice, so it cannot be mended.",
		cure: "Call Unscale once, after the last backward pass of the effective batch.", source: examples,
		settle: unscaleInAccumulation,
	},
	{
		code: "unscale-twice", severity: Mistake, finds: "Unscale twice, or after the step",
		why:  "Gradients would be divided by the scale again.",
		cure: "Call Unscale once between two updates, before Step.", source: scaling,
		refused: []string{"already_unscaled", "unscale_after_step"},
	},
	{
		code: "update-inside", severity: Risk, finds: "parameters that are changed inside an autocast region",
		why:  "The region keeps casts of weights: in PyTorch a later use in the region sees the old weight.",
		cure: "Step outside the region.", source: "torch/csrc cast cache",
		op: updateInside, mark: stepInside,
	},
	{
		code: "update-without-step", severity: Mistake, finds: "gradients that are unscaled, or an Update, without a step",
		why:  "Nothing is learnt, and the scale has no verdict to go by.",
		cure: "Call scaler.Step(opt) before scaler.Update(), or opt.Step() after amp.ScaleLoss.", source: scaling,
		refused: []string{"no_checks"}, end: updateWithoutStep,
	},
}

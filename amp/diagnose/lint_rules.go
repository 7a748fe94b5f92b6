package diagnose

import (
	"halfnote/amp"
	"halfnote/tensor"
)

// rule is a single lint check. Its functions return a description of what they found, or "" for
// nothing.
type rule struct {
	code     string
	severity Severity
	finds    string
	why      string
	cure     string
	source   string // reference for the rule

	op     func(w *watch, e *tensor.Event) string    // checks an operation
	call   func(w *watch, m *call) string            // checks a call
	scaler func(w *watch, e *amp.ScalerEvent) string // checks a scaler event
	settle func(w *watch, found found)               // checks the effect of a call, at the next call
	end    func(w *watch, found found)               // checks the whole run
	// refused lists the codes of errors that this rule explains.
	refused []string
}

// found adds a finding.
type found func(at spot, what string)

// References for the rules.
const (
	recipe       = "PyTorch, Automatic Mixed Precision recipe"
	examples     = "PyTorch, Automatic Mixed Precision examples"
	docs         = "PyTorch, torch.amp"
	scaling      = "torch/amp/grad_scaler.py"
	paper        = "Micikevicius et al., Mixed Precision Training (ICLR 2018)"
	ranks        = "PyTorch, Distributed Data Parallel; fairscale issue 179"
	microscaling = "OCP Microscaling Formats (MX) Specification 1.0; Transformer Engine pull request 3281"
	guide        = "NVIDIA, Matrix Multiplication Background"
)

// rules is the table of lint rules, sorted by code.
var rules = []rule{
	{
		code: "all-alike", severity: Mistake, finds: "a gradient of a layer that has one magnitude in all places, and not in float64",
		why:  "Everything saturates, or a scale is lost: only the signs are left of the gradient.",
		cure: "diagnose.Blocks shows what each product's format loses; choose scales from the tensor's largest magnitude.", source: microscaling,
	},
	{
		code: "all-zero", severity: Mistake, finds: "a layer whose result or gradient is all zeros, and not in float64; a step whose gradients are all zeros",
		why:  "The layer, or those before it, learn nothing, and the loss may fall all the same because others learn.",
		cure: "diagnose.Blocks shows what each product's format loses; choose scales from the tensor's largest magnitude, or keep the layer in bfloat16 with Policy.WithIn.", source: microscaling,
		call: zeroGradients,
	},
	{
		code: "average-in-half", severity: Mistake, finds: "an average over steps, such as an EMA of the weights, in half precision that does not move",
		why:  "A step moves it by (1-d) of the distance, less than half a unit in the last place: with a decay of 0.999 it stays where it began.",
		cure: "Keep the average in float32: average p.Float(), and cast when it is used.", source: paper + ", section 3.1",
		op: averageInHalf,
	},
	{
		code: "backward-inside", severity: Risk, finds: "Backward inside an autocast region",
		why:  "Derivatives run in the dtypes of forward anyway; in PyTorch their own formulas would be cast a second time.",
		cure: "End the region after the loss, and call Backward outside.", source: docs,
		call: backwardInside,
	},
	{
		code: "bce-autocast", severity: Mistake, finds: "binary_cross_entropy under autocast, which refuses it",
		why:  "Its gradient 1/(p(1-p)) does not fit in float16, where sigmoid(8.4) is already 1.",
		cure: "Leave the sigmoid out and use nn.BinaryCrossEntropyWithLogits.", source: docs,
		refused: []string{"banned"},
	},
	{
		code: "clip-before-unscale", severity: Mistake, finds: "clipping of gradients that still carry the loss scale",
		why:  "The limit is meant for unscaled gradients. Scaled gradients are far above it, so clipping reduces them to almost nothing.",
		cure: "Call scaler.Unscale(opt) before clipping, or clip to the limit times scaler.CurrentScale().", source: examples,
		call: clipBeforeUnscale,
	},
	{
		code: "count-in-half", severity: Mistake, finds: "integers beyond 2048 in float16, or 256 in bfloat16",
		why:  "Beyond that, not every integer is representable: counts, positions and sums of masks are rounded.",
		cure: "Count in int64 or float32: cast before the sum.", source: paper + ", section 3.3",
		op: countInHalf,
	},
	{
		code: "double-sigmoid", severity: Mistake, finds: "sigmoid before binary_cross_entropy_with_logits, which applies one itself",
		why:  "The sigmoid is applied twice: the logits lie between 0 and 1, and the loss cannot fall below 0.31 for ones and 0.69 for zeros.",
		cure: "Give the loss the logits: leave the sigmoid out.", source: "PyTorch, BCEWithLogitsLoss",
		op: doubleSigmoid,
	},
	{
		code: "double-softmax", severity: Mistake, finds: "softmax before cross_entropy, which applies one itself",
		why:  "The logits then lie between 0 and 1: gradients are small, and the loss cannot approach 0.",
		cure: "Give the loss the logits: leave the softmax out.", source: "PyTorch, CrossEntropyLoss",
		op: doubleSoftmax,
	},
	{
		code: "eps-lost", severity: Mistake, finds: "an optimizer's eps that is 0 in its parameters' dtype",
		why:  "The step divides by the square root of a mean that may be 0, which makes the parameter inf or NaN.",
		cure: "Keep parameters in float32, or set optim.Eps(1e-4).", source: "float16 ends at 5.96e-8",
		call: epsLost,
	},
	{
		code: "eval-in-training", severity: Risk, finds: "training a model that is in evaluation mode",
		why:  "Dropout does nothing, and batch normalization does not update its statistics.",
		cure: "Call nn.Train(net) before the loop, unless these layers are meant to be frozen.", source: "PyTorch, Module.train",
		call: evalInTraining,
	},
	{
		code: "float64-inside", severity: Advice, finds: "float64 in an autocast region, where it is not cast",
		why:  "The layer runs in float64, at most half as fast as float32, and gains nothing from the region.",
		cure: "Use float32 for data and model. tensor.New returns float32; arrays with NumPy's default dtype are float64.", source: docs,
		op: float64Inside,
	},
	{
		code: "forward-outside", severity: Advice, finds: "a layer outside the autocast region in which other layers run",
		why:  "It runs in float32 and gains nothing.",
		cure: "Move the whole forward pass and the loss into the region; where float32 is intended, use amp.Autocast(amp.Off, …). A goroutine started in a region runs outside it.", source: recipe,
		op: layerOutside, end: forwardOutside,
	},
	{
		code: "found-inf-local", severity: Mistake, finds: "ranks that skip different steps",
		why:  "Their gradients differ, so an overflow on one rank makes it alone skip. A rank that steps then waits for one that does not, or parameters drift apart.",
		cure: "Use dist.NewShardedGradScaler, which shares what each rank has found.", source: ranks,
		end: foundInfLocal,
	},
	{
		code: "freed-graph", severity: Mistake, finds: "Backward through a graph that an earlier Backward has freed",
		why:  "Something from an earlier step, or from before an earlier Backward, is part of the loss.",
		cure: "Detach tensors carried from step to step; for several losses on one graph use BackwardOptions{RetainGraph: true}.", source: "PyTorch, torch.Tensor.backward",
		refused: []string{"freed"},
	},
	{
		code: "half-input", severity: Advice, finds: "an input cast to half precision by hand",
		why:  "Autocast casts the operands of each operation as needed; a cast by hand costs precision in operations that run in float32.",
		cure: "Keep data in float32 and let autocast cast it.", source: recipe,
		op: halfInput,
	},
	{
		code: "half-parameters", severity: Mistake, finds: "an optimizer with float16 parameters",
		why:  "Updates smaller than half a unit in the last place vanish, and a scaler cannot unscale float16 gradients.",
		cure: "Keep the model in float32, without nn.Half, and let autocast cast; or keep float32 master weights, as Apex's O2 does.", source: paper + ", section 3.1",
		call: halfParameters, refused: []string{"fp16_grad"},
	},
	{
		code: "half-reduction", severity: Risk, finds: "an operation on the float32 list that ran in float16, outside the region",
		why:  "Sums, exponentials, norms and losses soon exceed float16's range, which ends at 65504.",
		cure: "Move it into the region, where it runs in float32, or call Float() on its operand first.", source: recipe,
		op: halfReduction,
	},
	{
		code: "half-state", severity: Mistake, finds: "an optimizer whose state, such as Adam's averages, is in half precision",
		why:  "The averages of gradients move by a tenth or a thousandth of a step, which half precision rounds away, and squares of small gradients are 0. LoadStateDict casts the state to the dtype of the parameters, as torch does.",
		cure: "Keep the parameters of the optimizer in float32, also while its state is loaded, and let autocast cast.", source: "pytorch issue 43706",
		call: halfState,
	},
	{
		code: "ignored-skips", severity: Mistake, finds: "a run in which every step was skipped",
		why:  "The model learned nothing, and nothing shows this unless the results of Step are checked.",
		cure: "Check the result of Step; diagnose.Overflow names the operation that overflows. A few skipped steps at the start are normal.", source: "pytorch issues 55585 and 70346",
		end: ignoredSkips,
	},
	{
		code: "kept-graph", severity: Risk, finds: "a running total of losses with their graphs",
		why:  "The total keeps the graph of every step alive, so memory use grows without bound.",
		cure: "Add loss.Item(), or loss.Detach().", source: "PyTorch FAQ",
		op: keptGraph,
	},
	{
		code: "leftover-gradients", severity: Risk, finds: "gradients left at the end that no step has used",
		why:  "They leak into the first step of the next epoch: the last effective batch was incomplete.",
		cure: "Step after the last, smaller batch too, or call ZeroGrad before the next epoch.", source: examples,
		end: leftover,
	},
	{
		code: "log-by-hand", severity: Risk, finds: "a logarithm of softmax, sigmoid or a sum of exponentials, or a softmax by hand",
		why:  "A value rounded to 0 has no finite logarithm, and exponentials overflow: from 11.09 in float16, from 88.7 in float32.",
		cure: "Use the fused operation: LogSoftmax, LogSigmoid, LogSumExp, Softplus or Softmax.", source: docs,
		op: byHand,
	},
	{
		code: "loss-in-half", severity: Risk, finds: "a loss in half precision",
		why:  "It has three digits, and a loss with dimensions overflows when scaled: the scale of 65536 itself is beyond float16.",
		cure: "Compute the loss in the region with one of the losses in nn, or call Float() on it before taking its mean.", source: docs,
		call: lossInHalf, scaler: scaledHalf,
	},
	{
		code: "loss-not-finite", severity: Mistake, finds: "a loss that is infinite or NaN before scaling",
		why:  "No loss scale helps: the forward pass overflowed, or the data or the weights are not finite.",
		cure: "Find its origin with diagnose.Overflow.", source: "pytorch issue 115500",
		call: lossNotFinite, scaler: scaledNotFinite,
	},
	{
		code: "lost-addition", severity: Risk, finds: "an addition in half precision that changes nothing",
		why:  "The addend is less than half a unit in the last place, 1 part in 2048 in float16: a running sum stops growing, an eps is lost.",
		cure: "Add in float32: call Float() first, or keep sums in float32.", source: paper + ", section 3.1",
		op: lostAddition,
	},
	{
		code: "mask-overflow", severity: Mistake, finds: "a mask value such as -1e9 in float16, where it is -inf",
		why:  "Softmax returns NaN for a fully masked row.",
		cure: "Mask with the lowest finite value of the dtype, -tensor.FInfo(x.DType()).Max, or in float32.", source: "float16 ends at 65504",
		op: maskOverflow, refused: []string{"beyond"},
	},
	{
		code: "masked-row", severity: Mistake, finds: "a row of softmax whose elements are all masked",
		why:  "It has no largest element: softmax returns NaN, which spreads to all gradients, even if the row is not used.",
		cure: "Leave one element of each row unmasked, set the row to 0 before softmax, or use nn.ScaledDotProductAttention, whose result for such a row is 0.", source: "pytorch issue 41508",
		op: maskedRow,
	},
	{
		code: "missing-scale", severity: Mistake, finds: "a scaler's step without a loss that it scaled",
		why:  "Gradients would be divided by a scale by which they were never multiplied.",
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
		code: "missing-zero-grad", severity: Mistake, finds: "gradients that a step has used and that later ones are added to",
		why:  "Every step then follows the sum of all gradients so far; an inf or NaN in it never goes away.",
		cure: "Call opt.ZeroGrad() after each step, or before Backward.", source: recipe,
		call: staleGradient, scaler: staleAtSkip,
	},
	{
		code: "needless-scaler", severity: Advice, finds: "a scaler although nothing ran in float16",
		why:  "bfloat16 and float32 have the range that gradients need; the scaler costs a pass over all gradients in each step.",
		cure: "Leave the scaler out, or switch it off with amp.ScalerEnabled(false); if float16 is meant, open amp.Autocast(amp.Float16, …).", source: docs,
		end: needlessScaler,
	},
	{
		code: "nll-of-softmax", severity: Mistake, finds: "nll_loss of probabilities",
		why:  "It expects log-probabilities: on probabilities it is linear and falls below 0.",
		cure: "Pass it the result of LogSoftmax, or use nn.CrossEntropy on the logits.", source: "PyTorch, NLLLoss",
		op: nllOfSoftmax,
	},
	{
		code: "no-gradients", severity: Mistake, finds: "a step of an optimizer without any gradient",
		why:  "Nothing is updated: Backward is missing, ZeroGrad came too early, or the optimizer holds parameters other than the model's.",
		cure: "Call Backward before the step and ZeroGrad after it, and give the optimizer nn.Parameters(net).", source: scaling,
		call: noGradients, refused: []string{"no_grads"},
	},
	{
		code: "no-scaler", severity: Risk, finds: "float16 gradients without a scaler",
		why:  "Gradients below 2^-25 become 0 and those below 2^-14 lose digits: parts of the model stop learning.",
		cure: "Use amp.NewGradScaler, or amp.BFloat16, which needs no scaler.", source: paper + ", section 3.2",
		end: noScaler,
	},
	{
		code: "odd-sizes", severity: Advice, finds: "matrix products in half precision whose sizes are not multiples of 8",
		why:  "Tensor Cores work on blocks of 8: other sizes are padded, or run without Tensor Cores.",
		cure: "Pad batch, features, classes or vocabulary to a multiple of 8.", source: guide,
		op: noteProduct, end: oddSizes,
	},
	{
		code: "penalty-of-scaled", severity: Mistake, finds: "a gradient penalty computed from scaled gradients",
		why:  "The penalty is multiplied by the loss scale, and changes with it.",
		cure: "Multiply the gradients by 1/scaler.CurrentScale() first, out of place.", source: examples,
		op: penaltyOfScaled,
	},
	{
		code: "reduce-overflow", severity: Mistake, finds: "finite gradients that become inf when they are reduced",
		why:  "The sum over ranks, or the cast before it, leaves float16's range, which ends at 65504.",
		cure: "Lower the loss scale, divide by the number of ranks before the sum, or use dist.BF16CompressHook.", source: ranks,
	},
	{
		code: "repeated-cast", severity: Advice, finds: "a weight cast more than once in a region",
		why:  "The cache is off, or the operand is a view such as w.T(), which is not cached. Each cast reads and writes the weight again, and the gradients are rounded separately.",
		cure: "Keep the cache on, and use the weight itself.", source: docs,
		op: repeatedCast,
	},
	{
		code: "sampler-epoch", severity: Mistake, finds: "a distributed sampler without SetEpoch",
		why:  "Every epoch has the same order, and each rank always sees the same part of the data.",
		cure: "Call sampler.SetEpoch(epoch) before each epoch.", source: "PyTorch, DistributedSampler",
		call: samplerWithoutEpoch,
	},
	{
		code: "scale-below-1", severity: Risk, finds: "a loss scale that is below 1 or only shrinks",
		why:  "Scaling down loses gradients, and a finite gradient may silently overflow when unscaled. The scale shrinks because every step overflows: the cause is elsewhere.",
		cure: "Find the operation that overflows with diagnose.Overflow; NaN in the parameters, and gradients that are never cleared, have the same effect.", source: "pytorch issues 99640 and 70346",
		scaler: scaleBelow1,
	},
	{
		code: "scale-differs", severity: Mistake, finds: "loss scales that differ between ranks",
		why:  "Gradients of different scales are averaged, and each rank divides by its own.",
		cure: "Give all ranks the same scaler settings and checkpoint, and use dist.NewShardedGradScaler with Join.", source: ranks,
		end: scaleDiffers,
	},
	{
		code: "scaler-per-step", severity: Mistake, finds: "a new scaler for every step",
		why:  "The scale restarts at 65536 each time and never settles.",
		cure: "Make one scaler before the loop.", source: recipe,
		end: scalerPerStep,
	},
	{
		code: "scheduler-on-skip", severity: Risk, finds: "a scheduler step after a skipped optimizer step, or before any optimizer step",
		why:  "The learning rate schedule runs ahead of training: warm-up is cut short.",
		cure: "Call the scheduler after the optimizer: if !scaler.Step(opt).Skipped { scheduler.Step() }.", source: "pytorch issue 44511",
		call: schedulerOnSkip,
	},
	{
		code: "small-products", severity: Advice, finds: "matrix products with an inner size below 64",
		why:  "They are too short for half precision to help: loading operands and launching kernels dominates.",
		cure: "Expect no speed-up here; make layers wider or batches larger, or stay in float32.", source: guide,
		end: smallProducts,
	},
	{
		code: "step-past-scaler", severity: Mistake, finds: "opt.Step() on gradients that carry the loss scale",
		why:  "At the default scale the step is 65536 times too long, and inf or NaN reaches the weights.",
		cure: "Call scaler.Step(opt), which unscales, checks and steps.", source: recipe,
		settle: stepPastScaler,
	},
	{
		code: "sync-often", severity: Advice, finds: "many values read one at a time in a step",
		why:  "On a GPU, each Item() waits for all queued work.",
		cure: "Keep sums as detached tensors and read them occasionally.", source: recipe,
		end: syncOften,
	},
	{
		code: "train-in-inference", severity: Mistake, finds: "dropout or batch statistics under NoGrad",
		why:  "The model is still in training mode: its results are random or depend on the rest of the batch, and running statistics change.",
		cure: "Call nn.Eval(net) before inference, and nn.Train(net) after it.", source: "PyTorch, Module.eval",
		op: trainInInference, settle: trainedInInference,
	},
	{
		code: "unscale-in-accumulation", severity: Mistake, finds: "scaled gradients added to unscaled ones",
		why:  "The sum is neither scaled nor unscaled, and cannot be repaired: unscaling again would divide the first gradients twice.",
		cure: "Call Unscale once, after the last backward pass of the effective batch.", source: examples,
		settle: unscaleInAccumulation,
	},
	{
		code: "unscale-twice", severity: Mistake, finds: "Unscale twice, or after the step",
		why:  "Gradients would be divided by the scale again.",
		cure: "Call Unscale once between two calls of Update, before Step.", source: scaling,
		refused: []string{"already_unscaled", "unscale_after_step"},
	},
	{
		code: "update-inside", severity: Risk, finds: "parameters changed inside an autocast region",
		why:  "The region caches casts of weights: in PyTorch, later uses in the region see the old weight.",
		cure: "Step outside the region.", source: "torch/csrc cast cache",
		op: updateInside, call: stepInside,
	},
	{
		code: "update-without-step", severity: Mistake, finds: "Unscale or Update without a step",
		why:  "The model learns nothing, and the scaler has no result by which to adjust the scale.",
		cure: "Call scaler.Step(opt) before scaler.Update(), or opt.Step() after apex.ScaleLoss.", source: scaling,
		refused: []string{"no_checks"}, end: updateWithoutStep,
	},
}

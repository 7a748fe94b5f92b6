// Package amp is automatic mixed precision: torch.amp for halfnote's tensors.
//
// Autocast chooses the precision. Inside
//
//	amp.Autocast(amp.Float16, func() {
//		loss = nn.MSELoss(net.Forward(x), y)
//	})
//
// each operation runs in the dtype that its category asks for: products in
// float16, losses and reductions in float32, and most others in the dtype of
// their operands. A [Policy] holds the dtype and the lists. The region belongs to
// the goroutine that opened it; Backward runs with casting off, each derivative
// in the dtype of its forward operation.
//
// Which operation runs in which dtype, and who decided it, is what [Ops] shows, a table
// to search:
//
//	amp.Ops().Find("norm")
//	amp.Float16.Why("softmax")
//	p := amp.Float16.With("softmax", tensor.Keep)   // a list of one's own
//
// The lists are torch's: those for CUDA of [Float16] and [BFloat16], wherever the tensors
// live, those for the CPU of [CPUBFloat16] and [CPUFloat16]. Casts and views are never
// cast, nor float64 and integers, nor changes in place and results that go into a given
// tensor ([tensor.Out]). A dtype that a call names, as SumAs does, holds.
//
// The casts of weights are made once in a region and the regions inside it, as long as
// the weights do not change: [Cache] counts them, [ClearCache] lets them go,
// [Policy.WithCache] does without. Straight-line code opens a region with
// [Policy.Enter]; [Wrap] puts one around a function. An operation with a derivative of its own
// runs forward under the region around it; [CustomFwd] and [CustomBwd] give it a dtype,
// and its Backward the policy of its forward. [tensor.Checkpoint] computes again under the
// policy of the first time.
//
// A [GradScaler] scales the loss, so that small gradients survive float16, and
// guards the steps: when a gradient is not finite it skips the step, says so in
// its [StepResult] and halves the scale.
//
//	scaler := amp.NewGradScaler()
//	scaler.Scale(loss).Backward()
//	result := scaler.Step(opt)
//	scaler.Update()
//
// On a GPU that result has to be waited for; [GradScaler.StepNonBlocking] has none, and
// leaves scale and steps to the GPU.
//
// # Recipes for the scaler
//
// Clip gradients in their true units, so unscale them first:
//
//	scaler.Unscale(opt)
//	nn.ClipGradNorm(nn.Parameters(net), 1)
//	scaler.Step(opt)
//
// Accumulate several batches into one step: divide each loss by their number, and
// leave Unscale, Step, Update and ZeroGrad to the last of them, since the scale
// must be one for all that is added up.
//
// With several losses, models or optimizers there is one scaler: Scale each loss,
// Step each optimizer, Update once. A bad gradient skips the step of its own
// optimizer and lowers the scale of all.
//
// A gradient penalty differentiates gradients of the scaled loss, which must be
// unscaled, out of place, before they are added to it:
//
//	grads := tensor.GradGraph(scaler.Scale(loss), nn.Parameters(net)...)
//	amp.Autocast(amp.Float16, func() {
//		norm := tensor.Scalar(0)
//		for _, g := range grads {
//			norm = norm.Add(g.Scale(1 / scaler.CurrentScale()).Pow(2).Sum())
//		}
//		loss = loss.Add(norm.Sqrt())
//	})
//	scaler.Scale(loss).Backward()
//
// A checkpoint has the scaler's StateDict beside the model's and the optimizer's,
// taken after Update. A schedule by batches that shall not run ahead of skipped
// steps is made with FollowSkips, as optim.NewExponentialLR(opt, 0.9).FollowSkips().
//
// [Names] has results say "encoder.0.weight" in place of "parameter 4". A Hint in a
// result says that something other than the scale is wrong. [StaticScale],
// [MinScale] with [AbortAtMin], [MaxScale] and [Hysteresis] are what other systems'
// scalers have and torch's has not. An optimizer made with optim.Fused() unscales
// within its step.
//
// [Initialize] is NVIDIA Apex's way: levels [O0] to [O3], master weights in float32, and
// [ScaleLoss]. [WithPrecision] gives a module a precision of its own, as jmp and Keras do.
// [FP8] computes products in floating point of 8 bits, with delayed scaling, as an
// experiment. DIALECTS.md has a table of what is called what in PyTorch, R's torch, Apex,
// jmp, Keras and Transformer Engine.
//
// The scaler differs from torch's in what a refused call leaves behind, which is
// nothing: torch's Step without gradients counts as an Unscale and makes the next
// Step fail too, and its load_state_dict may have taken the scale before it misses the
// rest. Step says what it did. A skipped first step of a fused optimizer leaves no
// momentum, where torch's has a buffer without values. All else, calls and errors, is
// compared with torch.amp.GradScaler in the tests.
//
// The package knows tensors and modules. It knows no chart: package amp/trace
// listens to [Observe] and draws.
//
// Names and behaviour are those of torch/amp/autocast_mode.py and
// torch/amp/grad_scaler.py (PyTorch 2), and of apex/amp before its removal in 2025,
// except where a comment says otherwise.
package amp

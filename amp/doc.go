// Package amp is automatic mixed precision: torch.amp for halfnote's tensors.
//
// Autocast chooses the precision. Inside
//
//	amp.Autocast(amp.Float16, func() {
//		loss = nn.MSELoss(net.Forward(x), y)
//	})
//
// each operation runs in the dtype of its category: matrix products in float16, losses and
// reductions in float32, and most others in the dtype of their operands. A [Policy] holds the
// dtype and the lists. A region applies only to the goroutine that opened it; Backward runs
// with casting off, each derivative in the dtype of its forward operation.
//
// [Ops] returns a searchable table of the dtype that each operation runs in, and why:
//
//	amp.Ops().Find("norm")
//	amp.Float16.Why("softmax")
//	p := amp.Float16.With("softmax", amp.Unlisted)   // your own list
//
// The lists are torch's: those for CUDA of [Float16] and [BFloat16], wherever the tensors live,
// and those for the CPU of [CPUBFloat16] and [CPUFloat16]. Casts, views, float64 and integer
// operands, in-place operations and results written into a given tensor ([tensor.Out]) are never
// cast. A dtype named in the call, for example in SumAs, takes precedence.
//
// A region and the regions inside it cast each weight once, as long as the weight does not
// change: [CacheStatistics] counts the casts, [ClearCache] drops them, and [Policy.WithCache] turns the
// cache off. [Policy.Enter] opens a region without a closure; [Wrap] returns a function that runs in a
// region. The forward pass of a custom operation runs under the enclosing region; [CustomFwd]
// and [CustomBwd] give it a dtype, and run its Backward under the policy of its forward.
// [RegisterAutocast] sets the category of a [tensor.Op].
// [tensor.Checkpoint] recomputes under the original policy.
//
// A [GradScaler] scales the loss, so that small gradients survive float16, and guards the
// steps: when a gradient is not finite it skips the step, reports this in its [StepResult] and
// halves the scale.
//
//	scaler := amp.NewGradScaler()
//	scaler.Scale(loss).Backward()
//	result := scaler.Step(opt)
//	scaler.Update()
//
// On a GPU, Step waits for that result. [GradScaler.StepNonBlocking] does not return a result: the GPU
// itself takes or skips the step and updates the scale.
//
// # Recipes for the scaler
//
// The examples are complete and checked:
//
//   - a training loop: the example of [GradScaler]
//   - clipping, of unscaled gradients: the example of [GradScaler.Unscale]
//   - several batches for one step, a gradient penalty, and several losses or optimizers with one
//     scaler: the examples "accumulation", "penalty" and "several" of [GradScaler]
//   - a checkpoint: the example of [GradScaler.StateDict]
//   - an operation of your own: the example of [CustomFwd]
//
// FollowSkips keeps a per-batch schedule from advancing on skipped steps:
// optim.NewExponentialLR(opt, 0.9).FollowSkips().
//
// With [ParamNames], results report "encoder.0.weight" instead of "parameter 4". A Hint in a result
// means that something other than the scale is wrong. [StaticScale], [MinScale] with
// [AbortAtMin], [MaxScale] and [Hysteresis] are options of other libraries' scalers that torch
// lacks. An optimizer made with optim.Fused() unscales within its step.
//
// [WithPrecision] gives a module its own precision, as jmp and Keras do. Package amp/apex has
// NVIDIA Apex's levels with master weights; package amp/fp8 computes matrix products in 8-bit
// floating point with scales kept from step to step. [MXFP8], [NVFP4] and [BlockFP8] are policies with block formats. DIALECTS.md maps the names in PyTorch, R's torch, Apex, jmp, Keras and Transformer
// Engine to those here.
//
// A rejected call of the scaler does not change its state. In torch, Step without gradients counts as
// an Unscale, so that the next Step fails too, and load_state_dict may set the scale before it rejects
// a state in which another key is missing. A fused optimizer whose first step is skipped does not have
// a momentum buffer; in torch it has one without values. The tests compare all other calls and errors
// with torch.amp.GradScaler.
//
// The package knows tensors and modules, but not charts. Package amp/trace receives the events of
// [ObserveScalers] and draws charts.
//
// Names and behaviour are those of torch/amp/autocast_mode.py and torch/amp/grad_scaler.py
// (PyTorch 2), except where a comment states otherwise.
package amp

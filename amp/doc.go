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
// A [GradScaler] scales the loss, so that small gradients survive float16, and
// guards the steps: when a gradient is not finite it skips the step, says so in
// its [StepResult] and halves the scale.
//
//	scaler := amp.NewGradScaler()
//	scaler.Scale(loss).Backward()
//	result := scaler.Step(opt)
//	scaler.Update()
//
// The package knows tensors and modules. It knows no chart: package amp/trace
// listens to [Observe] and draws.
//
// Names and behaviour are those of torch/amp/autocast_mode.py and
// torch/amp/grad_scaler.py (PyTorch 2), except where a comment says otherwise.
package amp

// Package diagnose finds problems of mixed-precision training and suggests fixes.
//
// Each diagnosis takes the network and a function that runs one step of training,
// and returns a report: fields to test, sentences to print, a table to show.
//
// [Overflow] finds where inf or NaN first appeared, forward or backward, what it reached, and
// whether the loss scale is the cause. [Gradients] finds where gradients vanish, compared with
// float64, and which loss scale would preserve them.
//
//	diagnose.Overflow(net, func() { … one step … })
//	diagnose.Gradients(net, func() { … one step … })
//
// [Lint] checks how a step uses mixed precision: the order of its calls, pairs of operations,
// dtypes, sizes.
//
//	diagnose.Lint(net, func() { … one step … })
//
// [Replay] records gradients and computes the effect of any loss scale, format and scaler on
// them. [MinimalFP32Set] finds the operations that must stay in float32 for an error budget, and
// [MaximalFP16Set] those that need not. [Rewind] goes back to any step of a run and forks it.
//
//	rp := diagnose.NewReplay(net)                             // before training
//	rp.Band(diagnose.Float16)                                 // after it: the scales that are safe
//	diagnose.MinimalFP32Set(net, step, diagnose.PrecisionSetOptions{}).Code // amp.Float16.With("exp", amp.FP32)
//	rw := diagnose.NewRewind(net, opt, scaler)                // and rw.Record(loss) after each step
//	rw.Fork("lr/10", rw.BeforeNaN(), func() { … })
//
// [Blocks] computes what block formats such as MXFP8 and NVFP4 lose in each product of a step, also those that the step does not use; [Search] finds
// the fewest layers that must stay in bfloat16.
//
//	diagnose.Blocks(net, func() { … one step … })
//	diagnose.Search(net, step, diagnose.PrecisionSetOptions{Budget: 0.1}, amp.NVFP4())
//
// [FirstDifference] compares two recordings with hashes, such as those of two machines, and names where they part.
//
//	diagnose.FirstDifference(a, b) // recordings of trace.Start(trace.Hashes()), or of trace.Open
//
// [Compare] is an error microscope: it runs a step in several dtypes, formats and orders of sums next to float64, and shows where errors are born, grow and cancel.
//
//	diagnose.Compare(net, func() { … one step … }, amp.Float16, amp.BFloat16, amp.MXFP8())
//
// A diagnosis observes the operations and scalers of all goroutines, except for those of a goroutine
// that begins a diagnosis or a recording of its own meanwhile, and of the goroutines that it starts, and
// except for those of cells of another session.
package diagnose

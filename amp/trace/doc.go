// Package trace records and shows what a run did under mixed precision: for every operation,
// forward and backward, the policy and its reason, the dtypes, the casts and whether they came
// from the cache, the work, and statistics of the result; and each step of the loss scaler.
//
//	rec := trace.Start(trace.Models(net), trace.Live()) // Live shows a dashboard meanwhile
//	… train …
//	rec.Stop()
//	rec.DTypes()       // charts, shown as the last expression of a cell
//	rec.LossScale()
//	rec.CastGraph()    // modules, the tensors between them, and where they are cast
//	rec.Timeline()     // a step on a time axis
//	rec.By("module")   // or "op", "dtype", "phase", "source", "step"
//	rec.Step(7).Table()
//	rec.Op(0)
//	rec.ChromeTrace("run.json")  // for ui.perfetto.dev
//
// [TensorBoard] writes scalars, histograms and the steps of a recording for TensorBoard.
//
// [Hashes] records a hash of each result, for diagnose.FirstDifference; [Recorder.Save] and [Open] keep recordings in files.
//
// A recording observes the operations and scalers of the whole process, except for those of cells of another session. It keeps descriptions,
// never tensors, and does not affect results. Its memory is bounded: beyond [MaxOps] operations
// it keeps only totals.
//
// Counts of zeros, subnormals, infinities and NaN are exact. In-place changes, such as those of
// optimizers, are not counted, and by default steps are counted only as long as this is cheap:
// [CountAlways] counts all of them. Flushing to zero is known for casts, whose operand and
// result are compared; for other operations it takes a [Shadow], which recomputes each
// operation in float64: on the same operands for the operation's own error, and on operands
// that were float64 throughout for the accumulated error, including gradients. [Overhead]
// measures the cost of a recording.
package trace

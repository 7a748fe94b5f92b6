// Package trace records what a run did under mixed precision and shows it: of every
// operation, forward and backward, the policy and its reason, the dtypes, the casts and
// whether they came from the cache, the work, and what is in the result; and each step
// of the loss scaler.
//
//	rec := trace.Start(net)
//	… train …
//	rec.Stop()
//	rec.DTypes()       // charts, shown as the last expression of a cell
//	rec.LossScale()
//	rec.By("module")   // or "op", "dtype", "phase", "source", "step"
//	rec.Step(7).Table()
//	rec.Op(0)
//
// A recording listens to the operations and scalers of the whole process. It
// keeps descriptions, never tensors, and has no effect on what is computed. Its memory
// is bounded: of operations beyond [MaxOps] it keeps the sums.
//
// Counts of zeros, subnormal and infinite numbers and NaN are exact. They are not taken
// of changes in place, as optimizers make, and by default only in as many steps as cost
// little: [CountAlways] takes all. What was flushed to zero is known of casts, whose
// operand and result are compared; of other operations only a [Shadow] can tell: it
// computes each of them once more in float64, on the same operands for the operation's
// own error, and on operands that were float64 all the way for what has become of the
// values, gradients too. [Overhead] measures what a recording costs.
package trace

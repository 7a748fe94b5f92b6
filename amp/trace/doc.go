// Package trace records what a run did under mixed precision and shows it: the
// dtype of every operation, casts, and each step of the loss scaler.
//
//	rec := trace.Start(net)
//	… train …
//	rec.Stop()
//	rec.DTypes()    // charts, shown as the last expression of a cell
//	rec.LossScale()
//
// A recording listens to the operations and scalers of the whole process. It
// keeps descriptions, never tensors, and has no effect on what is computed.
package trace

// Package roofline predicts the time of operations on named GPUs: the longest of the times of their
// arithmetic, their memory traffic and their launch at the manufacturers' peak numbers. The results
// are lower bounds and are labelled as predictions.
//
//	rec.Roofline("T4", "A100")                      // for a recorded step
//	roofline.Dense(512, 4096, 4096, 4096).Predict() // from sizes, without running
//	roofline.GPUs()                                 // the numbers with their sources
//
// A CPU is a device like others, with rates that experiment.MeasureCPU measures.
//
// It covers devices and amounts of work, and does not depend on tensors.
package roofline

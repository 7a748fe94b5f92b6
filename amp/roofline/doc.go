// Package roofline predicts how long operations take on named GPUs: the longest of what their
// arithmetic, their bytes and their launch take at the makers' peak numbers. The results are
// lower bounds and are labelled as predictions.
//
//	rec.Roofline("T4", "A100")                      // of a recorded step
//	roofline.Dense(512, 4096, 4096, 4096).Predict() // of sizes, without running
//	roofline.GPUs()                                 // the numbers, and where they are from
//
// It knows devices and amounts of work, but not tensors.
package roofline

// Package roofline predicts how long operations take on named GPUs: the longest of what
// their arithmetic, their bytes and their launch take at the makers' peak numbers. What
// it says is a prediction, of what is possible at best, and labelled so.
//
//	rec.Roofline("T4", "A100")                      // of a recorded step
//	roofline.Dense(512, 4096, 4096, 4096).Predict() // of sizes, without running
//	roofline.GPUs()                                 // the numbers, and where they are from
//
// It knows devices and amounts of work; it knows nothing of tensors.
package roofline

// Package roofline predicts how long operations take on named GPUs: the longer of
// the time that their arithmetic takes and the time that their bytes take, and what a
// launch costs. What it says is a prediction, and labelled so.
package roofline

// Package torchtest compares operations with PyTorch, by fixtures that PyTorch
// made. It has tests only; README.md says how to add a case.
package torchtest

// Package torchtest compares operations with fixtures made by PyTorch. It contains only tests;
// its README.md explains how to add a case.
package torchtest

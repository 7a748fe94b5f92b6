// Package models has whole networks: those that the lessons train. Their parameters
// have the names of the PyTorch models that their comments name, so that a state
// dict made there loads here.
package models

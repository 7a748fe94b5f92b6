// Package models provides the complete networks that the lessons train. Their parameters
// have the names of the PyTorch models that their comments cite, so that PyTorch's state
// dicts load here.
package models

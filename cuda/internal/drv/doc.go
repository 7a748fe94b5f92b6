//go:build cuda && linux && cgo

// Package drv is the NVIDIA driver as Go sees it: devices, memory, streams,
// events, kernels and graphs, by gorgonia.org/cu where cu has the call and by
// package link where it lacks it.
//
// Any goroutine may call anything at any time: contexts belong to threads, so
// each call makes the device's context current on the thread that it finds
// itself on. A launch is one crossing into C and allocates nothing.
//
// Whatever takes a stream returns at once and happens later, in the stream's
// order; its error may be that of something enqueued before. An error after
// which the driver refuses all work (see [Error.Sticky]) marks the device dead:
// [Device.Err] returns it, and so does every later call, at once.
//
// Package drv knows nothing of tensors and keeps nothing for later: what it
// allocates, its caller frees.
package drv

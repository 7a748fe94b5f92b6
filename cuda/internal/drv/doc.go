//go:build cuda && linux && cgo

// Package drv is a Go interface to the NVIDIA driver: devices, memory, streams, events, kernels
// and graphs. It uses gorgonia.org/cu, and package link for calls that cu lacks.
//
// All functions are safe for concurrent use from any goroutine: contexts belong to threads, so
// each call makes the device's context current on its thread. A launch crosses into C once and
// allocates nothing.
//
// Calls with a stream are asynchronous and execute in the stream's order; they may return the
// error of an earlier call. An error after which the driver refuses all work (see [Error.Sticky])
// marks the device dead: [Device.Err] and every later call return it at once.
//
// Package drv does not depend on tensors and does not cache memory: callers free what they
// allocate.
package drv

// Package gpu is the backend "cuda" of tensor/driver: buffers in the memory of an NVIDIA GPU, and
// kernels of package kernels on one stream. All work is asynchronous. Only Read, Synchronize and
// a request for memory that the GPU still uses wait.
//
// A kernel of package driver takes one or a few GPU launches. Codes of one kind share a kernel
// and select the operation by a numeric parameter: a branch per 16 bytes costs nothing compared
// with memory traffic, and it keeps modules small. Files are named as in tensor/internal/cpu.
package gpu

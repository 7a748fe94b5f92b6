// Package gpu is the backend "cuda" of tensor/driver: buffers in the memory of an
// NVIDIA GPU, and kernels of package kernels on one stream. Everything is enqueued, and
// nothing waits but Read, Synchronize and what needs memory that the GPU still uses.
//
// A kernel of package driver is one launch of a kernel of the GPU, or few. Codes of one
// kind share one: which of them it is goes along as a parameter, by its number, since
// what runs once per 16 bytes costs nothing beside memory, and modules stay small. The
// files are named as those of tensor/internal/cpu are.
package gpu

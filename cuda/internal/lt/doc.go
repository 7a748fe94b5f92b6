// Package lt multiplies matrices by cublasLt, NVIDIA's library of matrix products, where
// that is installed. It is looked for at run time, by dlopen: its absence is normal.
//
// Numbers and prototypes are facts of the interface that the cuBLAS documentation
// describes in "Using the cublasLt API", which has been the same from CUDA 11 on; no
// header of NVIDIA's is read.
//
// It knows column-major matrices by their addresses. It knows neither tensors nor whose
// memory that is.
package lt

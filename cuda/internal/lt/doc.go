// Package lt multiplies matrices with cublasLt, NVIDIA's library of matrix products, if it is
// installed. It is loaded at run time by dlopen; its absence is normal.
//
// Constants and prototypes follow the cuBLAS documentation, "Using the cublasLt API", which has
// not changed since CUDA 11. No NVIDIA header is used.
//
// The package handles column-major matrices by address. It does not depend on tensors or
// memory ownership.
package lt

// Package cudatest gives tests a GPU: the machine's own if HALFNOTE_CUDA_TEST is "device", otherwise
// a fake one that interprets the kernels' PTX on the CPU. It needs the tag cuda and gcc.
package cudatest

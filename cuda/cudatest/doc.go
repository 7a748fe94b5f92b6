// Package cudatest gives tests a GPU: the machine's own where HALFNOTE_CUDA_TEST=device is
// set, else one that runs the kernels' PTX on the CPU. It needs the tag cuda and gcc.
package cudatest

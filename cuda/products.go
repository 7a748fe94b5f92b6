package cuda

import "fmt"

// Products returns a line about matrix products on GPU 0: the file of NVIDIA's library cublasLt that
// computes them, or that it is missing, what that costs, and how to get it. Without a GPU it returns
// "".
func Products() string {
	b := lookup()
	if b == nil {
		return ""
	}
	file, err := b.Library()
	if err == nil {
		return "products use " + file
	}
	speed := "which are slower"
	switch major, _ := b.Capability(); {
	case major < 8:
		speed = "which do not use tensor cores"
	case major >= 9:
		speed = "which are expected to reach about 8 % of its speed on this GPU"
	}
	return fmt.Sprintf("cublasLt is missing, so products use halfnote's own kernels, %s; `pip install %s` brings it, or HALFNOTE_CUBLASLT names its file", speed, libraryPackage(b.Driver()))
}

// libraryPackage returns the name of PyPI's package with the cublasLt for a driver, whose version is
// in cuDriverGetVersion's numbering: that of CUDA 13 needs a driver of CUDA 13.
func libraryPackage(driver int) string {
	if driver >= 13000 {
		return "nvidia-cublas"
	}
	return "nvidia-cublas-cu12"
}

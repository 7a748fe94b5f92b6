// Package kernels holds the GPU kernels of halfnote: CUDA C, and the PTX that is made
// from it, which any driver compiles for its GPU when a module is loaded.
package kernels

import "embed"

//go:generate go run ./gen

//go:embed *.ptx
var files embed.FS

// PTX returns the text of a module: of "arithmetic" that of arithmetic.cu. It panics if
// there is none.
func PTX(module string) string {
	text, err := files.ReadFile(module + ".ptx")
	if err != nil {
		panic("kernels: there is no module " + module)
	}
	return string(text)
}

// Package kernels holds the GPU kernels of halfnote: CUDA C, and compressed PTX compiled from it,
// which any driver compiles for its GPU when a module is loaded.
package kernels

import (
	"embed"
	"fmt"
	"strings"

	"halfnote/cuda/kernels/source"
)

//go:generate go run ./gen

//go:embed zptx
var files embed.FS

// PTX returns the text of a module, for example "arithmetic", compiled from arithmetic.cu or by
// the generator's table. It panics if there is no such module.
func PTX(module string) string {
	packed, err := files.ReadFile("zptx/" + module + ".ptx.gz")
	if err != nil {
		panic("kernels: no module " + module)
	}
	text, err := source.Unpack(packed)
	if err != nil {
		panic(fmt.Sprintf("kernels: module %s: %v", module, err))
	}
	return string(text)
}

// Modules returns the names of all modules, sorted.
func Modules() []string {
	entries, err := files.ReadDir("zptx")
	if err != nil {
		panic(err) // embedded files have no read errors
	}
	var names []string
	for _, e := range entries {
		names = append(names, strings.TrimSuffix(e.Name(), ".ptx.gz"))
	}
	return names
}

// Package systems lists the systems that halfnote is made for, and what is tested on each. The table is
// data for the tests of this package, which read it:
//
//   - TestCheck type-checks every package of a row from its sources, with the standard library and the modules
//     as that system sees them. It then compares the names of packages between the systems, so that a file
//     that stands in for another, such as loader/other.go, cannot fall behind. Test files are not part of it.
//   - TestBuild compiles and links the program for the rows that have one: the assembler and the linker find what types do not show.
//   - TestPage compares the table with docs/testing.md.
//
// Package internal/e2e runs the program in Wine and cells in Node.
//
// A run tests one release of Go, its own. CI makes one with each release.
package systems

// System is a row of the table.
type System struct {
	GOOS, GOARCH string
	Packages     []string // patterns of the packages to check, from the root of the module
	Program      string   // the package that TestBuild compiles and links; "" for none
	Why          string   // why none is built
	Runs         string   // what runs on the system, in words
}

// Name is the system in the form of the go command: "linux/arm64".
func (s System) Name() string { return s.GOOS + "/" + s.GOARCH }

const (
	program = "."
	page    = "./internal/lite"
)

var (
	all     = []string{"./..."}
	browser = []string{"./interp", "./kernel", "./kernel/worker", "./tensor/...", "./amp/...", "./display/...", "./notebooks/exercise", page} // what a page in a browser needs
)

// Table holds the systems.
var Table = []System{
	{"linux", "amd64", all, program, "", "all tests"},
	{"linux", "arm64", all, program, "", "in QEMU: scripts of cells on both engines, the loader, bits of tensors"},
	{"linux", "386", all, program, "", "types made at run time"},
	{"linux", "riscv64", all, "", "its own code is the compiled FMA and the stubs of methods; TestCheck compares the assembly with its declarations, and QEMU runs the stubs", "in QEMU: types made at run time"},
	{"darwin", "amd64", all, "", "its files are those of darwin/arm64, and its assembly that of linux/amd64", "–"},
	{"darwin", "arm64", all, program, "", "–"},
	{"windows", "amd64", all, program, "", "in Wine: lesson 05, and conformance scripts of the kernel"},
	{"windows", "arm64", all, "", "its files are those of windows/amd64, and its assembly that of darwin/arm64", "–"},
	{"freebsd", "amd64", all, "", "its files are those of linux/amd64 and darwin/arm64", "–"},
	{"js", "wasm", browser, page, "", "in Node: cells that train a network under autocast, interrupts, input, limits"},
}

// Variant is a build of one system that no row of the table makes. Its files are checked and compared like those
// of the rows.
type Variant struct {
	GOOS, GOARCH string
	Tags         string
	Cgo          bool
	Later        bool // as a release of Go sees it that is newer than all that the module knows
}

// Variants holds the build tags of the module.
var Variants = []Variant{
	{"linux", "amd64", "cuda", true, false},  // the GPU backend
	{"linux", "amd64", "race", false, false}, // cells that the race detector follows
	{"linux", "amd64", "purego", false, false},
	{"linux", "amd64", "mpi", false, false}, // loading MPI without a C compiler
	{"linux", "amd64", "", false, true},
	{"linux", "loong64", "", false, false}, // a processor for which package goid has no assembly
}

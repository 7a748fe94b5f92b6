// Package systems lists the systems that halfnote is made for, and what is tested on each. The table is
// data for the tests of this package, which read it:
//
//   - TestCheck type-checks every package of a row from its sources, with the standard library and the modules
//     as that system sees them. It then compares the names of packages between the systems, so that a file
//     that stands in for another, such as loader/other.go, cannot fall behind. Test files are not part of it.
//   - TestBuild compiles and links the program for the rows with Build.
//   - TestWindows runs the program in Wine, and TestBrowser runs cells in Node.
//
// A run tests one release of Go, its own. CI makes one with each release.
package systems

// System is a row of the table.
type System struct {
	GOOS, GOARCH string
	Packages     []string // patterns of packages, from the root of the module
	Build        bool     // whether TestBuild compiles and links Packages, or the program if they are all packages
	Why          string   // why the row is not built
	Runs         string   // what runs on the system, in words
}

// Name is the system in the form of the go command: "linux/arm64".
func (s System) Name() string { return s.GOOS + "/" + s.GOARCH }

var (
	all     = []string{"./..."}
	browser = []string{"./interp", "./tensor/...", "./amp/...", "./display/...", "./notebooks/exercise", "./internal/systems/page"} // what a page in a browser needs
)

// Table holds the systems.
var Table = []System{
	{"linux", "amd64", all, true, "", "all tests"},
	{"linux", "arm64", all, true, "", "in QEMU: scripts of cells on both engines, the loader, bits of tensors"},
	{"linux", "386", all, true, "", "nothing"},
	{"linux", "riscv64", all, false, "its code differs from that of linux/arm64 in the standard library only, apart from the compiled FMA and the stubs of methods, and go vet reads those", "nothing"},
	{"darwin", "amd64", all, false, "darwin/arm64 is built, and the assembly for amd64 is that of linux/amd64", "nothing"},
	{"darwin", "arm64", all, true, "", "nothing"},
	{"windows", "amd64", all, true, "", "in Wine: the lesson on three loops, and a conformance run of the kernel"},
	{"windows", "arm64", all, false, "windows/amd64 is built, and no assembly is for Windows on arm64 alone", "nothing"},
	{"freebsd", "amd64", all, false, "its code is that of linux/amd64 and darwin/amd64", "nothing"},
	{"js", "wasm", browser, true, "", "in Node: a cell of tensors and autocast"},
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
}

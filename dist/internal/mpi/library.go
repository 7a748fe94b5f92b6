package mpi

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"
)

// library is a loaded shared library.
type library interface {
	// symbol returns the address of a symbol, or 0.
	symbol(name string) uintptr
	// call calls the function at an address and returns its int result.
	call(function uintptr, args ...uintptr) int32
}

// Found is an MPI library on this machine.
type Found struct {
	Path string // file that was loaded
	ABI  string // its binary interface, for example "Open MPI ABI"
}

// names lists the file names of MPI libraries, in the order in which they are tried under a launcher of MPICH's family.
// Open MPI's launcher needs its own library.
func names(openFirst bool) []string {
	list := []string{"libmpi_abi.so.1", "libmpi.so.12", "libmpi.so.40"}
	if runtime.GOOS == "darwin" {
		list = []string{"libmpi_abi.1.dylib", "libmpi.12.dylib", "libmpi.40.dylib", "libmpi_abi.dylib", "libmpi.dylib"}
	}
	if openFirst {
		list[0], list[2] = list[2], list[0]
	}
	return list
}

// Candidates returns the libraries to try, in order: the file that HALFNOTE_MPI names, those next to the mpiexec in
// PATH, and those that the system's loader finds.
func Candidates() []string {
	if path := os.Getenv("HALFNOTE_MPI"); path != "" {
		return []string{path}
	}
	open := os.Getenv("OMPI_COMM_WORLD_SIZE") != ""
	var list []string
	for _, launcher := range []string{"mpiexec", "mpirun"} {
		path, err := exec.LookPath(launcher)
		if err != nil {
			continue
		}
		if real, err := filepath.EvalSymlinks(path); err == nil {
			path = real
		}
		root := filepath.Dir(filepath.Dir(path))
		for _, name := range names(open) {
			for _, folder := range []string{"lib", "lib64"} {
				if file := filepath.Join(root, folder, name); exists(file) {
					list = append(list, file)
				}
			}
		}
		break
	}
	return append(list, names(open)...)
}

func exists(file string) bool {
	_, err := os.Stat(file)
	return err == nil
}

// Look loads the candidates and returns those that are MPI libraries. It initialises none of them.
func Look() (list []Found) {
	for _, path := range Candidates() {
		lib, err := open(path)
		if err != nil || lib.symbol("MPI_Init_thread") == 0 {
			continue
		}
		if a, err := abiOf(lib); err == nil {
			list = append(list, Found{path, a.name})
		}
	}
	return list
}

// load opens the first candidate that is an MPI library.
func load() (library, Found, abi, error) {
	var tried []string
	for _, path := range Candidates() {
		lib, err := open(path)
		if err == nil && lib.symbol("MPI_Init_thread") == 0 {
			err = fmt.Errorf("%s has no function MPI_Init_thread", path)
		}
		var a abi
		if err == nil {
			a, err = abiOf(lib)
		}
		if err == nil {
			return lib, Found{path, a.name}, a, nil
		}
		tried = append(tried, err.Error())
	}
	return nil, Found{}, abi{}, fmt.Errorf("cannot load an MPI library; install one, for example with `pip install mpich`, or name its file in HALFNOTE_MPI; tried: %s", strings.Join(tried, "; "))
}

package install_test

import (
	"fmt"
	"os"
	"path/filepath"

	"halfnote/install"
)

// Prefix installs the kernelspec below a folder, for example a Python environment.
func ExampleInstall() {
	prefix, err := os.MkdirTemp("", "example")
	if err != nil {
		fmt.Println(err)
		return
	}
	defer os.RemoveAll(prefix)
	dir, err := install.Install(install.Options{Prefix: prefix, Version: "0.2.0"})
	if err != nil {
		fmt.Println(err)
		return
	}
	folder, _ := filepath.Rel(prefix, dir)
	fmt.Println(filepath.ToSlash(folder))
	_, err = os.Stat(filepath.Join(dir, "kernel.json"))
	fmt.Println("kernel.json:", err)
	// Output:
	// share/jupyter/kernels/halfnote
	// kernel.json: <nil>
}

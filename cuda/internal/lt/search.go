//go:build cuda && linux && cgo

package lt

import (
	"os"
	"path/filepath"
	"slices"
)

// names lists the library's names, newest first: 13 needs a driver of CUDA 13.
var names = []string{"libcublasLt.so.13", "libcublasLt.so.12", "libcublasLt.so.11"}

// candidates returns the paths to try with dlopen, in order: the file named by the environment
// variable HALFNOTE_CUBLASLT, alone, if it is set; the library's names; the folders of toolkits;
// those of Python packages.
func candidates() (list []string) {
	if file := os.Getenv("HALFNOTE_CUBLASLT"); file != "" {
		return []string{file}
	}
	list = slices.Clone(names)
	var folders []string
	for _, v := range []string{"CUDA_HOME", "CUDA_PATH"} {
		if home := os.Getenv(v); home != "" {
			folders = append(folders, filepath.Join(home, "lib64"))
		}
	}
	folders = append(folders, "/usr/local/cuda/lib64", "/usr/local/cuda-1[1-9]*/lib64", "/opt/cuda/lib64", "/usr/lib/x86_64-linux-gnu", "/usr/lib/aarch64-linux-gnu")
	home, _ := os.UserHomeDir()
	for _, v := range []string{os.Getenv("VIRTUAL_ENV"), os.Getenv("CONDA_PREFIX"), filepath.Join(home, ".local"), "/usr/local", "/usr", "/opt/conda"} {
		if v == "" {
			continue
		}
		for _, packages := range []string{"site-packages", "dist-packages"} {
			for _, library := range []string{"nvidia/cu13/lib", "nvidia/cublas/lib"} {
				folders = append(folders, filepath.Join(v, "lib/python3*", packages, library))
			}
		}
	}
	for _, folder := range folders {
		for _, name := range names {
			found, _ := filepath.Glob(filepath.Join(folder, name)) // the pattern is valid
			list = append(list, found...)
		}
	}
	return list
}

package install

import (
	"os"
	"os/exec"
	"path/filepath"
	"slices"
)

// MPIFolders returns the folders of Python environments in which pip may have installed mpiexec, for
// ranks.FindLauncher: that of the kernelspec, of the wheel's command, of the active environment and of the command jupyter.
func MPIFolders() (list []string) {
	add := func(dir string, err error) {
		if err == nil && dir != "" && !slices.Contains(list, dir) {
			list = append(list, dir)
		}
	}
	if self, err := os.Executable(); err == nil { // PREFIX/share/jupyter/kernels/NAME/halfnote
		if kernels := filepath.Dir(filepath.Dir(self)); filepath.Base(kernels) == "kernels" {
			add(filepath.Join(filepath.Dir(filepath.Dir(filepath.Dir(kernels))), "bin"), nil)
		}
	}
	if python := os.Getenv(launcherVar); python != "" {
		add(filepath.Dir(python), nil)
	}
	for _, name := range []string{"VIRTUAL_ENV", "CONDA_PREFIX"} {
		if dir := os.Getenv(name); dir != "" {
			add(filepath.Join(dir, "bin"), nil)
		}
	}
	for _, name := range []string{"jupyter", "python3"} {
		path, err := exec.LookPath(name)
		add(filepath.Dir(path), err)
	}
	return list
}

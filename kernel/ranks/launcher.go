package ranks

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"time"
)

// Launcher is a program that starts the ranks of an MPI program.
type Launcher struct {
	Name    string   // "MPICH", "Open MPI", "Slurm" or, for others, the program's name
	Command []string // the program and arguments that the user gave
	Library string   // path of the MPI library next to the program; "" if it is not known
	flags   []string // flags that follow Command
}

// VariableLauncher is the environment variable that names the launcher, such as "srun --mpi=pmix".
const VariableLauncher = "HALFNOTE_LAUNCHER"

// kinds lists the known launchers. says is what their --version prints. The flags give the lines of ranks a
// prefix, keep the other ranks when one ends, so that its end can be reported, and let ranks outnumber
// cores. count precedes the number of ranks.
var kinds = []struct {
	name, says string
	flags      []string
	asRoot     string
	libraries  []string
}{
	{"MPICH", "HYDRA", []string{"-prepend-rank", "-disable-auto-cleanup"}, "", []string{"libmpi_abi.so.1", "libmpi.so.12"}},
	{"Intel MPI", "Intel(R) MPI", []string{"-prepend-rank"}, "", []string{"libmpi.so.12"}},
	{"Open MPI", "(Open MPI) 4", []string{"--tag-output", "--enable-recovery", "--bind-to", "none", "--oversubscribe", "-x", Variable, "-x", VariableLibrary}, "--allow-run-as-root", []string{"libmpi.so.40"}},
	{"Open MPI", "Open MPI", []string{"--output", "tag", "--runtime-options", "recoverable,error-nonzero-status=false", "--bind-to", "none", "--map-by", ":OVERSUBSCRIBE", "-x", Variable, "-x", VariableLibrary}, "--allow-run-as-root", []string{"libmpi.so.40"}},
	{"Slurm", "slurm", []string{"--label", "--kill-on-bad-exit=0"}, "", nil},
}

// VariableLibrary is the environment variable that names the MPI library for package dist.
const VariableLibrary = "HALFNOTE_MPI"

// numbers lists the environment variables in which launchers tell a process its rank.
var numbers = []string{"PMI_RANK", "PMIX_RANK", "OMPI_COMM_WORLD_RANK", "SLURM_PROCID", "MPI_RANK"}

// Advice says how to get a launcher.
const Advice = "install MPI, for example with `pip install mpich` in the environment that is active, or apt install openmpi-bin, so that mpiexec is on PATH; " +
	"or name a launcher with --launcher or " + VariableLauncher

// FindLauncher returns the launcher of a command line such as "srun --mpi=pmix". For "" it takes the one in
// HALFNOTE_LAUNCHER, mpiexec or mpirun on PATH, or mpiexec in one of the folders, in this order.
func FindLauncher(ctx context.Context, command string, folders ...string) (Launcher, error) {
	if command == "" {
		command = os.Getenv(VariableLauncher)
	}
	if words := strings.Fields(command); len(words) > 0 {
		path, err := exec.LookPath(words[0])
		if err != nil {
			return Launcher{}, fmt.Errorf("ranks: the launcher %q: %w; %s", words[0], err, Advice)
		}
		return identify(ctx, append([]string{path}, words[1:]...)), nil
	}
	for _, name := range []string{"mpiexec", "mpirun"} {
		if path, err := exec.LookPath(name); err == nil {
			return identify(ctx, []string{path}), nil
		}
	}
	for _, dir := range folders {
		if path, err := exec.LookPath(filepath.Join(dir, "mpiexec")); err == nil {
			return identify(ctx, []string{path}), nil
		}
	}
	return Launcher{}, errors.New("ranks: several ranks need mpiexec, which is not on PATH; " + Advice)
}

// identify asks a launcher for its version.
func identify(ctx context.Context, command []string) Launcher {
	ctx, cancel := context.WithTimeout(ctx, 20*time.Second)
	defer cancel()
	out, _ := exec.CommandContext(ctx, command[0], "--version").CombinedOutput()
	l := Launcher{Name: filepath.Base(command[0]), Command: command}
	for _, k := range kinds {
		if !strings.Contains(string(out), k.says) {
			continue
		}
		l.Name, l.flags = k.name, k.flags
		if k.asRoot != "" && os.Geteuid() == 0 {
			l.flags = append([]string{k.asRoot}, l.flags...)
		}
		l.Library = beside(command[0], k.libraries)
		break
	}
	return l
}

// beside returns the path of the first library in the folder lib next to the folder of the program, or "".
func beside(program string, libraries []string) string {
	dirs := []string{filepath.Dir(program)}
	if real, err := filepath.EvalSymlinks(program); err == nil {
		dirs = append(dirs, filepath.Dir(real))
	}
	for _, dir := range dirs {
		for _, name := range libraries {
			path := filepath.Join(filepath.Dir(dir), "lib", name)
			if _, err := os.Stat(path); err == nil {
				return path
			}
		}
	}
	return ""
}

// argv returns the command line that starts n ranks of a program.
func (l Launcher) argv(n int, program []string) []string {
	list := append([]string{}, l.Command...)
	list = append(list, "-n", strconv.Itoa(n))
	list = append(list, l.flags...)
	return append(list, program...)
}

// several reports whether ranks may run on several machines, so that they cannot reach the loopback address.
func (l Launcher) several() bool {
	if n, err := strconv.Atoi(os.Getenv("SLURM_JOB_NUM_NODES")); err == nil && n > 1 {
		return true
	}
	if len(l.Command) > 1 { // the user may have named hosts
		return true
	}
	for _, name := range []string{"OMPI_MCA_orte_default_hostfile", "PRTE_MCA_prte_default_hostfile", "HYDRA_HOST_FILE", "I_MPI_HYDRA_HOST_FILE", "PBS_NODEFILE"} {
		if os.Getenv(name) != "" {
			return true
		}
	}
	return false
}

// ownRank returns the rank that the launcher gave this process.
func ownRank() (int, error) {
	for _, name := range numbers {
		if n, err := strconv.Atoi(os.Getenv(name)); err == nil {
			return n, nil
		}
	}
	return 0, fmt.Errorf("ranks: none of the environment variables %s holds the rank of this process: start it with an MPI launcher", strings.Join(numbers, ", "))
}

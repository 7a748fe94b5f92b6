package e2e

import (
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
)

// sites are the files that put the wheel into images, JupyterHub, Binder and devcontainers.
var sites = []string{"install/containers/Dockerfile", "install/containers/Dockerfile.kernel", "install/containers/jupyterhub_config.py",
	".binder/requirements.txt", ".binder/postBuild", ".devcontainer/devcontainer.json"}

var halfnoteCommand = regexp.MustCompile(`(?m)(?:^|&& |^RUN |^CMD \[")halfnote(?: |", ")([a-z]+)`)

// TestSiteCommands checks that the program has the commands that the files run, and that the lines of the shell are valid.
func TestSiteCommands(t *testing.T) {
	found := 0
	for _, file := range sites {
		text, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		for _, m := range halfnoteCommand.FindAllStringSubmatch(string(text), -1) {
			found++
			if out, code := halfnote(t, m[1], "--help"); code != 0 {
				t.Errorf("%s: halfnote %s: exit code %d\n%s", file, m[1], code, out)
			}
		}
		if sh, err := exec.LookPath("sh"); err == nil && strings.HasSuffix(file, "postBuild") {
			if out, err := exec.Command(sh, "-n", file).CombinedOutput(); err != nil {
				t.Errorf("%s: %v\n%s", file, err, out)
			}
		}
	}
	if found != 4 {
		t.Errorf("got %d commands in %q, want 4", found, sites)
	}
}

// TestSites checks what parsers of Dockerfiles, and JupyterHub's own spawner, read in the files.
func TestSites(t *testing.T) {
	python := need(t, "gateway", "python3")
	if out, err := exec.Command(python, "-c", "import dockerfile_parse, kubespawner").CombinedOutput(); err != nil {
		need(t, "gateway", "python3 with dockerfile-parse and jupyterhub-kubespawner: "+string(out))
	}
	const want = `Dockerfile quay.io/jupyter/minimal-notebook:latest ARG FROM COPY RUN RUN
Dockerfile.kernel debian:stable-slim FROM COPY CMD
profile '': halfnote {}
profile 'halfnote': halfnote {}
profile 'halfnote-gpu': halfnote {'nvidia.com/gpu': '1'}
devcontainer ['customizations', 'image', 'name', 'postCreateCommand']
`
	cmd := exec.CommandContext(t.Context(), python, "internal/e2e/testdata/jupyter/sites.py")
	var log strings.Builder
	cmd.Stderr = &log
	if out, err := cmd.Output(); err != nil || string(out) != want {
		t.Errorf("got %v\n%s\nwant\n%s\n%s", err, out, want, &log)
	}
}

// TestClusterFiles checks the files that run a notebook on several machines: what Slurm's shell and Kubeflow's API read in them,
// and that the program takes the arguments.
func TestClusterFiles(t *testing.T) {
	text, err := os.ReadFile("install/cluster/slurm.sh")
	if err != nil {
		t.Fatal(err)
	}
	for _, m := range regexp.MustCompile(`(?m)^#SBATCH (.*)$`).FindAllStringSubmatch(string(text), -1) {
		if !regexp.MustCompile(`^--(job-name|nodes|ntasks-per-node|cpus-per-task|time|signal)=\S+$`).MatchString(m[1]) {
			t.Errorf("sbatch has no option %s", m[1])
		}
	}
	commands := map[string]string{"slurm.sh": ""}
	bash := need(t, "mpi", "bash")
	dir := t.TempDir() // a halfnote that prints its arguments
	if err := os.WriteFile(filepath.Join(dir, "halfnote"), []byte("#!/bin/sh\nprintf '%s\\n' halfnote \"$@\"\n"), 0o755); err != nil {
		t.Fatal(err)
	}
	cmd := exec.Command(bash, "install/cluster/slurm.sh", "dir/train.ipynb")
	cmd.Env = append(os.Environ(), "PATH="+dir+":"+os.Getenv("PATH"), "SLURM_NTASKS=8", "SLURM_JOB_ID=17")
	out, err := cmd.CombinedOutput()
	if err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	if want := "halfnote run dir/train.ipynb --ranks 8 --launcher srun --mpi=pmix --distribution=block --output dir/train.17.ipynb"; strings.Join(strings.Fields(string(out)), " ") != want {
		t.Errorf("slurm.sh runs\n%s\nwant\n%s", out, want)
	}
	commands["slurm.sh"] = string(out)

	python := need(t, "gateway", "python3")
	if out, err := exec.Command(python, "-c", "import yaml, kubeflow_trainer_api").CombinedOutput(); err != nil {
		need(t, "gateway", "python3 with kubeflow-trainer-api: "+string(out))
	}
	out, err = exec.Command(python, "internal/e2e/testdata/jupyter/trainjob.py", "install/cluster/kubeflow.yaml").CombinedOutput()
	implementation, command, _ := strings.Cut(strings.TrimSpace(string(out)), " ")
	count, command, _ := strings.Cut(command, " ")
	if err != nil || implementation != "OpenMPI" || !strings.Contains(command, " --ranks "+count+" ") {
		t.Errorf("kubeflow.yaml: %v\n%s", err, out)
	}
	commands["kubeflow.yaml"] = strings.ReplaceAll(command, " ", "\n")
	for file, command := range commands { // the folder of the output does not exist, which the program notices after its flags
		args := strings.Split(strings.TrimSpace(command), "\n")
		if out, _ := halfnote(t, args[1:]...); !strings.Contains(out, "does not exist") {
			t.Errorf("%s: %q prints\n%s", file, args, out)
		}
	}
}

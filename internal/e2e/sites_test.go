package e2e

import (
	"os"
	"os/exec"
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

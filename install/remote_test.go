package install

import (
	"encoding/json"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"testing"
)

// TestRemoteKernelspecs checks the kernelspecs for gateway_provisioners, which fills in neither {connection_file} nor
// {resource_dir}.
func TestRemoteKernelspecs(t *testing.T) {
	for _, tt := range []struct {
		remote, image               string
		folder, display, entryPoint string
	}{
		{"ssh", "", "halfnote-remote", "Go (halfnote, remote)", "distributed-provisioner"},
		{"docker", "lab:1", "halfnote-docker", "Go (halfnote, Docker)", "docker-provisioner"},
		{"kubernetes", "lab:1", "halfnote-kubernetes", "Go (halfnote, Kubernetes)", "kubernetes-provisioner"},
		{"yarn", "", "halfnote-yarn", "Go (halfnote, YARN)", "yarn-provisioner"},
	} {
		dir, err := Install(Options{Prefix: t.TempDir(), Remote: tt.remote, Image: tt.image, Binary: program(t, "program")})
		if err != nil {
			t.Fatal(err)
		}
		var got spec
		if err := json.Unmarshal([]byte(contents(t, filepath.Join(dir, "kernel.json"))), &got); err != nil {
			t.Fatal(err)
		}
		if filepath.Base(dir) != tt.folder || got.DisplayName != tt.display {
			t.Errorf("%s: got folder %s, name %s, want %s, %s", tt.remote, dir, got.DisplayName, tt.folder, tt.display)
		}
		if p := got.Metadata.Provisioner; p == nil || p.Name != tt.entryPoint || tt.image != "" && p.Config["image_name"] != tt.image {
			t.Errorf("%s: got provisioner %+v, want %s with image %q", tt.remote, p, tt.entryPoint, tt.image)
		}
		for _, field := range []string{"{kernel_id}", "{port_range}", "{response_address}", "{public_key}", "{transport_encryption}"} {
			if !slices.Contains(got.Argv, field) {
				t.Errorf("%s: argv %q lacks %s", tt.remote, got.Argv, field)
			}
		}
		for _, field := range []string{"{connection_file}", "{resource_dir}", "{program}", "{dir}"} {
			if strings.Contains(strings.Join(got.Argv, " "), field) {
				t.Errorf("%s: argv %q has %s, which the server does not fill in", tt.remote, got.Argv, field)
			}
		}
		if _, err := os.Stat(filepath.Join(dir, binaryName(runtime.GOOS))); (err == nil) != (tt.image == "") {
			t.Errorf("%s: the program next to kernel.json: %v, want it there only without an image", tt.remote, err)
		}
	}
}

// TestRemoteOptions checks the errors of options that do not fit.
func TestRemoteOptions(t *testing.T) {
	for _, tt := range []struct {
		options Options
		want    string
	}{
		{Options{Remote: "k8s"}, `remote "k8s", want one of: ssh, docker, kubernetes, yarn`},
		{Options{Remote: "docker"}, "remote docker needs an image, want --image NAME"},
		{Options{Remote: "ssh", Image: "x"}, `image "x" with remote ssh, which starts no container`},
		{Options{Image: "x"}, `image "x" for a kernel on this machine`},
		{Options{Remote: "docker", Image: "x", Engine: "native"}, `engine "native" with remote docker`},
	} {
		tt.options.Prefix = t.TempDir()
		if _, err := Install(tt.options); err == nil || !strings.Contains(err.Error(), tt.want) {
			t.Errorf("%+v: got %v, want %s", tt.options, err, tt.want)
		}
	}
}

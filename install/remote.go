package install

import (
	"fmt"
	"slices"
	"strings"
)

// remote is a way in which gateway_provisioners starts kernels elsewhere. It fills in no {resource_dir}, so {program} and {dir} stand for
// the program of the kernelspec and its folder.
type remote struct {
	name, label string   // name is that of the option --remote; label ends the kernel's display name
	provisioner string   // entry point in the group jupyter_client.kernel_provisioners
	argv        []string // command that the server runs, without the flags that all of them have
	image       bool     // whether the kernel is a container, of an image
	files       []specFile
}

// packaged returns the command that runs a launcher that comes with gateway_provisioners. jupyter_client replaces python by the
// server's own.
func packaged(script string) []string {
	return []string{"python", "-c", "import gateway_provisioners, os, runpy; " +
		"runpy.run_path(os.path.join(os.path.dirname(gateway_provisioners.__file__), 'kernel-launchers', '" + script + "'), run_name='__main__')"}
}

// onYARN is the program that Spark runs on YARN. YARN ends an application that has not registered after ten minutes; the Spark
// context registers this one. It has executors only while it has work for them: none.
const onYARN = `import subprocess
import sys

from pyspark import SparkContext

SparkContext.getOrCreate()
sys.exit(subprocess.call([{program}, "kernel", "--theme", "auto", "--charts", "interactive", *sys.argv[1:]]))
`

var remotes = []remote{
	{name: "ssh", label: "remote", provisioner: "distributed-provisioner",
		argv: []string{"{program}", "kernel", "--theme", "auto", "--charts", "interactive"}},
	{name: "docker", label: "Docker", provisioner: "docker-provisioner", image: true,
		argv: packaged("docker/scripts/launch_docker.py")},
	{name: "kubernetes", label: "Kubernetes", provisioner: "kubernetes-provisioner", image: true,
		argv: packaged("kubernetes/scripts/launch_kubernetes.py")},
	{name: "yarn", label: "YARN", provisioner: "yarn-provisioner",
		argv: []string{"spark-submit", "--master", "yarn", "--deploy-mode", "cluster", "--name", "{kernel_id}",
			"--conf", "spark.yarn.submit.waitAppCompletion=false", "--conf", "spark.yarn.maxAppAttempts=1",
			"--conf", "spark.dynamicAllocation.enabled=true", "--conf", "spark.dynamicAllocation.shuffleTracking.enabled=true", "{dir}/on_yarn.py"},
		files: []specFile{{"on_yarn.py", []byte(onYARN)}}},
}

// remoteFlags are the arguments that all launchers get. The server fills in the values.
var remoteFlags = []string{"--kernel-id", "{kernel_id}", "--port-range", "{port_range}", "--response-address", "{response_address}",
	"--public-key", "{public_key}", "--transport-encryption", "{transport_encryption}"}

// remote returns the entry of the table for the options; ok is false for a kernel on the server itself.
func (o Options) remote() (r remote, ok bool, err error) {
	i := slices.IndexFunc(remotes, func(r remote) bool { return r.name == o.Remote })
	switch {
	case o.Remote == "" && o.Image != "":
		return r, false, fmt.Errorf("install: image %q for a kernel on this machine, want an image only with --remote=docker or --remote=kubernetes", o.Image)
	case o.Remote == "":
		return r, false, nil
	case i < 0:
		var names []string
		for _, r := range remotes {
			names = append(names, r.name)
		}
		return r, false, fmt.Errorf("install: remote %q, want one of: %s", o.Remote, strings.Join(names, ", "))
	case remotes[i].image && o.Image == "":
		return r, false, fmt.Errorf("install: remote %s needs an image, want --image NAME: that of a container with halfnote, see docs/remote.md", o.Remote)
	case remotes[i].image && o.Engine != "":
		return r, false, fmt.Errorf("install: engine %q with remote %s, want --engine in the command of the image", o.Engine, o.Remote)
	case !remotes[i].image && o.Image != "":
		return r, false, fmt.Errorf("install: image %q with remote %s, which starts no container, want no image", o.Image, o.Remote)
	}
	return remotes[i], true, nil
}

// fill replaces {program} and {dir} in a text.
func (o Options) fill(text, program string) string {
	return strings.NewReplacer("{program}", program, "{dir}", o.dir).Replace(text)
}

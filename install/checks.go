package install

import (
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
)

// finding is one line of Doctor's report.
type finding struct {
	Name  string `json:"name"`
	State string `json:"state"` // "ok", "missing" if only some uses need it, "broken"
	Text  string `json:"text"`
	// Fix is the command that fixes it, or "".
	Fix string `json:"fix,omitempty"`
}

// marks begin the lines of a report.
var marks = map[string]string{"ok": "ok", "missing": "--", "broken": "!!"}

func (f finding) String() string {
	if f.Fix == "" {
		return f.Text
	}
	return f.Text + "; `" + f.Fix + "`"
}

// site is the Python environment of the command jupyter.
type site struct {
	Path     string            `json:"path"`     // of its Python
	Prefix   string            `json:"prefix"`   // of the environment
	Packages map[string]string `json:"packages"` // versions by normalized name
}

// siteProbe prints the fields of site as JSON.
const siteProbe = `
import importlib.metadata, json, re, sys
packages = {re.sub(r"[-_.]+", "-", d.metadata["Name"] or "").lower(): d.version for d in importlib.metadata.distributions()}
print(json.dumps({"path": sys.executable, "prefix": sys.prefix, "packages": packages}))
`

// siteOf asks the Python next to the command jupyter about its environment. The path of the result is empty
// if there is no such Python.
func siteOf(ctx context.Context, jupyter string) (s site) {
	if jupyter == "" {
		return s
	}
	if real, err := filepath.EvalSymlinks(jupyter); err == nil {
		jupyter = real
	}
	// Without -I, which leaves out the user's packages, Python starts in an empty folder.
	empty, err := os.MkdirTemp("", "halfnote-")
	if err != nil {
		return s
	}
	defer os.RemoveAll(empty)
	dir := filepath.Dir(jupyter)
	for _, name := range []string{"python", "python3", "python.exe", filepath.Join("..", "python.exe")} {
		cmd := exec.CommandContext(ctx, filepath.Join(dir, name), "-c", siteProbe)
		cmd.Dir = empty
		if out, err := cmd.Output(); err == nil && json.Unmarshal(out, &s) == nil {
			return s
		}
	}
	return site{}
}

// pip returns the command that installs a package in the environment.
func (s site) pip(what string) string { return s.Path + " -m pip install " + what }

// has reports whether the environment has a package of at least a version.
func (s site) has(name string, major, minor int) bool {
	var a, b int
	if _, err := fmt.Sscanf(s.Packages[name], "%d.%d", &a, &b); err != nil {
		return false
	}
	return a > major || a == major && b >= minor
}

// checks lists what Doctor looks at in the environment of jupyter, in the order of the report. A check returns false where it does not
// apply.
var checks = []func(*report) (finding, bool){checkEncryption, checkRemote, checkParameters, checkMagic, checkGo, checkModules}

// checkEncryption looks for a jupyter_client that can encrypt connections.
func checkEncryption(r *report) (finding, bool) {
	version := r.Site.Packages["jupyter-client"]
	switch {
	case version == "":
		return finding{}, false
	case !r.Site.has("jupyter-client", 8, 9):
		return finding{"encryption", "missing", "jupyter_client " + version + " cannot encrypt connections, which needs 8.9", r.Site.pip(`"jupyter_client>=8.9"`)}, true
	case slices.ContainsFunc(r.Kernelspecs, func(k kernelspec) bool { return !k.encrypts && k.Problem == "" }):
		return finding{"encryption", "broken", "a kernelspec does not list curve in supported_encryption", "halfnote install"}, true
	}
	return finding{"encryption", "ok", "jupyter_client " + version + " encrypts with --MultiKernelManager.transport_encryption=required", ""}, true
}

// remoteNeeds lists the packages that gateway_provisioners needs for each of its provisioners, and the extra that brings them.
var remoteNeeds = map[string]struct {
	packages []string
	extra    string
}{
	"distributed-provisioner": {[]string{"gateway-provisioners"}, ""},
	"docker-provisioner":      {[]string{"gateway-provisioners", "docker"}, "[docker]"},
	"kubernetes-provisioner":  {[]string{"gateway-provisioners", "kubernetes", "jinja2"}, "[k8s]"},
	"yarn-provisioner":        {[]string{"gateway-provisioners", "yarn-api-client"}, "[yarn]"},
}

// checkRemote looks for what the server needs to start kernels on other machines.
func checkRemote(r *report) (finding, bool) {
	applies := false
	for _, k := range r.Kernelspecs {
		need, remote := remoteNeeds[k.provisioner]
		if !remote {
			continue
		}
		applies = true
		name := "the kernel " + filepath.Base(k.Dir)
		for _, p := range need.packages {
			if r.Site.Path != "" && r.Site.Packages[p] == "" {
				return finding{"remote", "broken", name + " needs the package " + p, r.Site.pip(`"gateway-provisioners` + need.extra + `"`)}, true
			}
		}
		if k.provisioner == "yarn-provisioner" {
			if _, err := exec.LookPath("spark-submit"); err != nil {
				return finding{"remote", "broken", name + " needs Spark's program spark-submit, which is not on PATH", `export PATH="$SPARK_HOME/bin:$PATH"`}, true
			}
		}
	}
	return finding{"remote", "ok", "gateway_provisioners " + r.Site.Packages["gateway-provisioners"] + " starts kernels on other machines", ""}, applies
}

// checkParameters looks for the part of the wheel that papermill and nbconvert load.
func checkParameters(r *report) (finding, bool) {
	if r.Site.Packages["papermill"]+r.Site.Packages["nbconvert"] == "" {
		return finding{}, false
	}
	if r.Site.knowsGo() {
		return finding{"papermill", "ok", "papermill -p and the export as a script know Go", ""}, true
	}
	own := ownWheel(r)
	return finding{"papermill", "missing", "papermill -p and the export as a script do not know Go", r.Site.pip(own)}, own != ""
}

// checkMagic looks for %%go, which notebooks of Python kernels load.
func checkMagic(r *report) (finding, bool) {
	switch {
	case r.Site.Packages["ipykernel"] == "":
		return finding{}, false
	case !r.Site.knowsGo():
		return finding{"%%go", "missing", "Python notebooks cannot load %%go", r.Site.pip(cmp.Or(ownWheel(r), "halfnote-*.whl"))}, true
	}
	return finding{"%%go", "ok", "`%load_ext halfnote` adds %%go to Python notebooks", ""}, true
}

// knowsGo reports whether the wheel halfnote, or the one next to a kernelspec, is installed.
func (s site) knowsGo() bool { return s.Packages["halfnote"]+s.Packages["halfnote-jupyter"] != "" }

// ownWheel returns the wheel next to a kernelspec, or "".
func ownWheel(r *report) string {
	for _, k := range r.Kernelspecs {
		if own, _ := filepath.Glob(filepath.Join(k.Dir, "halfnote_jupyter-*.whl")); len(own) > 0 {
			return own[0]
		}
	}
	return ""
}

// checkGo looks for Go, for %go get and compiled cells.
func checkGo(*report) (finding, bool) {
	path, err := exec.LookPath("go")
	if err != nil {
		return finding{"Go", "missing", "not on PATH: cells cannot fetch modules with %go get, or import packages of the standard library that are not built in; install it from go.dev/dl", ""}, true
	}
	return finding{"Go", "ok", path + ", for %go get", ""}, true
}

// checkModules looks whether %go get could write into the module cache.
func checkModules(*report) (finding, bool) {
	out, err := exec.Command("go", "env", "GOMODCACHE").Output()
	dir := strings.TrimSpace(string(out))
	if err != nil || dir == "" {
		return finding{}, false
	}
	at := dir
	for { // the part of the path that exists
		if _, err := os.Stat(at); err == nil || filepath.Dir(at) == at {
			break
		}
		at = filepath.Dir(at)
	}
	f, err := os.CreateTemp(at, ".halfnote-*")
	if err != nil {
		return finding{"modules", "broken", fmt.Sprintf("the module cache %s is not writable: %v", dir, err), "go env -w GOMODCACHE=" + filepath.Join(os.TempDir(), "gomodcache")}, true
	}
	f.Close()
	os.Remove(f.Name())
	return finding{"modules", "ok", dir + " is writable", ""}, true
}

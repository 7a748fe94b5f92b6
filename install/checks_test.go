package install

import (
	"encoding/json"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strconv"
	"strings"
	"testing"
)

// TestSiteOf asks a script in the place of the Python next to jupyter, which is a link, as uv's and pipx's are.
func TestSiteOf(t *testing.T) {
	if runtime.GOOS == "windows" {
		t.Skip("needs a Unix shell")
	}
	dir := t.TempDir()
	want := site{Path: "/env/bin/python", Prefix: "/env", Packages: map[string]string{"jupyter-client": "8.10.0"}}
	text, err := json.Marshal(want)
	if err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(dir, "python"), []byte("#!/bin/sh\necho '"+string(text)+"'\n"), 0o755); err != nil {
		t.Fatal(err)
	}
	link := filepath.Join(t.TempDir(), "jupyter")
	if err := os.WriteFile(filepath.Join(dir, "jupyter"), nil, 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.Symlink(filepath.Join(dir, "jupyter"), link); err != nil {
		t.Fatal(err)
	}
	if got := siteOf(t.Context(), link); got.Path != want.Path || got.Prefix != want.Prefix || !got.has("jupyter-client", 8, 9) || got.has("jupyter-client", 8, 11) {
		t.Errorf("got %+v, want %+v", got, want)
	}
	if got := siteOf(t.Context(), filepath.Join(t.TempDir(), "jupyter")); got.Path != "" {
		t.Errorf("without a Python: got %+v", got)
	}
}

// TestChecks checks what Doctor says about environments, and the commands that fix them.
func TestChecks(t *testing.T) {
	spec := func(o Options) kernelspec {
		t.Helper()
		o.Prefix, o.Binary, o.Version = t.TempDir(), program(t, "program"), "1"
		dir, err := Install(o)
		if err != nil {
			t.Fatal(err)
		}
		k, ok := readKernelspec(dir, "1")
		if !ok || k.Problem != "" {
			t.Fatalf("got kernelspec %+v", k)
		}
		return k
	}
	local, yarn := spec(Options{}), spec(Options{Remote: "yarn"})
	old := local
	old.encrypts = false
	for _, tt := range []struct {
		name     string
		specs    []kernelspec
		packages string
		path     string // PATH, if not this process's
		want     string // name, state, and the beginning of the command, or of the text for "ok"
	}{
		{"new client", []kernelspec{local}, "jupyter-client 8.10.0", "", "encryption ok: jupyter_client 8.10.0 encrypts"},
		{"old client", []kernelspec{local}, "jupyter-client 8.6.3", "", `encryption missing: PY -m pip install "jupyter_client>=8.9"`},
		{"old kernelspec", []kernelspec{old}, "jupyter-client 8.10.0", "", "encryption broken: halfnote install"},
		{"no server", []kernelspec{spec(Options{Remote: "ssh"})}, "jupyter-client 8.10.0", "", `remote broken: PY -m pip install "gateway-provisioners"`},
		{"no docker", []kernelspec{spec(Options{Remote: "docker", Image: "x"})}, "gateway-provisioners 0.5.0", "", `remote broken: PY -m pip install "gateway-provisioners[docker]"`},
		{"no kubernetes", []kernelspec{spec(Options{Remote: "kubernetes", Image: "x"})}, "gateway-provisioners 0.5.0, kubernetes 37.0.2", "", `remote broken: PY -m pip install "gateway-provisioners[k8s]"`},
		{"no Spark", []kernelspec{yarn}, "gateway-provisioners 0.5.0, yarn-api-client 1.0.3", "/nowhere", `remote broken: export PATH="$SPARK_HOME/bin:$PATH"`},
		{"server", []kernelspec{spec(Options{Remote: "ssh"})}, "gateway-provisioners 0.5.0", "", "remote ok: gateway_provisioners 0.5.0 starts"},
		{"papermill alone", []kernelspec{local}, "papermill 2.7.0", "", "papermill missing: PY -m pip install " + Wheel(local.Dir, "1")},
		{"papermill and wheel", nil, "papermill 2.7.0, halfnote 1", "", "papermill ok: "},
		{"ipykernel alone", nil, "ipykernel 7.4.0", "", "%%go missing: PY -m pip install halfnote-*.whl"},
		{"ipykernel and wheel", nil, "ipykernel 7.4.0, halfnote 1", "", "%%go ok: "},
		{"Go", nil, "", "", "Go ok: "},
		{"without Go", nil, "", "/nowhere", "Go missing: "},
		{"cache", nil, "", "", "modules ok: "},
		{"cache in a file", nil, "", "file", "modules broken: go env -w GOMODCACHE="},
	} {
		t.Run(tt.name, func(t *testing.T) {
			switch tt.path {
			case "":
			case "file":
				t.Setenv("GOMODCACHE", program(t, "not a folder"))
			default:
				t.Setenv("PATH", tt.path)
			}
			r := &report{Kernelspecs: tt.specs, Site: site{Path: "PY", Packages: map[string]string{}}}
			for p := range strings.SplitSeq(tt.packages, ", ") {
				name, version, _ := strings.Cut(p, " ")
				r.Site.Packages[name] = version
			}
			var got []string
			for _, check := range checks {
				if f, ok := check(r); ok {
					text := f.Fix
					if text == "" {
						text = f.Text
					}
					got = append(got, f.Name+" "+f.State+": "+text)
				}
			}
			if !slices.ContainsFunc(got, func(s string) bool { return strings.HasPrefix(s, tt.want) }) {
				t.Errorf("got\n%s\nwant %s", strings.Join(got, "\n"), tt.want)
			}
		})
	}
}

// TestFixKernelspec runs the arguments of the commands that fix kernelspecs.
func TestFixKernelspec(t *testing.T) {
	for _, o := range []Options{{}, {Engine: "native"}, {Ranks: 2}, {Remote: "ssh"}, {Remote: "docker", Image: "lab:1"}} {
		o.Prefix, o.Binary, o.Version = t.TempDir(), program(t, "program"), "1"
		dir, err := Install(o)
		if err != nil {
			t.Fatal(err)
		}
		want := "halfnote install --prefix " + o.Prefix
		for _, option := range [][2]string{{" --engine ", o.Engine}, {" --ranks ", strings.TrimPrefix(strconv.Itoa(o.Ranks), "0")}, {" --remote ", o.Remote}, {" --image ", o.Image}} {
			if option[1] != "" {
				want += option[0] + option[1]
			}
		}
		if k, _ := readKernelspec(dir, "2"); k.Fix != want || !strings.HasPrefix(k.Problem, "stale") {
			t.Errorf("got %q for the problem %q, want %q", k.Fix, k.Problem, want)
		}
		wheels, _ := filepath.Glob(filepath.Join(dir, "*.whl"))
		for _, w := range wheels { // pip installs none
			if err := os.Remove(w); err != nil {
				t.Fatal(err)
			}
		}
		if k, _ := readKernelspec(dir, "2"); k.Fix != "pip install --force-reinstall halfnote-*.whl" {
			t.Errorf("of a wheel: got %q", k.Fix)
		}
	}
}

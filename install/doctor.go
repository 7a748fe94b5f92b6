package install

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"slices"
	"strconv"
	"strings"
	"text/tabwriter"
)

// DoctorOptions are the settings of [Doctor].
type DoctorOptions struct {
	JSON     bool   // whether to write one JSON object instead of text
	Version  string // version of the program
	GPU      string // one line about the GPU
	Products string // one line about matrix products on the CPU
	Compiled string // one line about compiled cells
	Ranks    string // one line about the program that starts several ranks
	MPI      string // one line about MPI libraries
	// Goroutines is one line about how goroutines are identified. It begins with "fast" unless that takes long.
	Goroutines string
	CacheDir   string // folder of the environment, see LabOptions
}

// report holds the findings of Doctor.
type report struct {
	Version     string       `json:"version"`
	Go          string       `json:"go"`
	System      string       `json:"system"`
	CPUs        int          `json:"cpus"`
	Features    []string     `json:"cpu_features"`
	Products    string       `json:"cpu_products"`
	GPU         string       `json:"gpu"`
	Compiled    string       `json:"compiled_cells"`
	Ranks       string       `json:"ranks"`
	MPI         string       `json:"mpi"`
	Goroutines  string       `json:"goroutine_identity"`
	Loopback    string       `json:"loopback"` // "ok", or the problem
	DataPath    []string     `json:"jupyter_path"`
	Kernelspecs []kernelspec `json:"kernelspecs"`
	Jupyter     string       `json:"jupyter"` // path of the command; "" if it is not installed
	Site        site         `json:"site"`
	Findings    []finding    `json:"findings"`
	Python      *python      `json:"python"`
	PythonError string       `json:"python_error,omitempty"`
	Lab         string       `json:"lab"` // folder of the private environment
	LabReady    bool         `json:"lab_ready"`
}

// kernelspec is an installed kernelspec of halfnote.
type kernelspec struct {
	Dir     string `json:"dir"`
	Version string `json:"version"`
	// Problem describes a kernelspec that does not work or is of another version; else "". Fix is the command that
	// fixes it.
	Problem string `json:"problem,omitempty"`
	Fix     string `json:"fix,omitempty"`

	provisioner string // of gateway_provisioners, or ""
	encrypts    bool   // whether jupyter_client may make keys for it
}

// Doctor writes a report on this machine: what halfnote needs, and what is installed. It
// fails only if kernels cannot run at all, because no loopback port can be opened.
func Doctor(ctx context.Context, w io.Writer, o DoctorOptions) error {
	r, err := examine(ctx, o)
	if err != nil {
		return err
	}
	if o.JSON {
		enc := json.NewEncoder(w)
		enc.SetEscapeHTML(false)
		enc.SetIndent("", "  ")
		err = enc.Encode(r)
	} else {
		err = r.print(w)
	}
	if err != nil {
		return fmt.Errorf("install: doctor: %w", err)
	}
	if r.Loopback != "ok" {
		return fmt.Errorf("install: doctor: no kernel can run: %s", r.Loopback)
	}
	return nil
}

func examine(ctx context.Context, o DoctorOptions) (*report, error) {
	s, err := here()
	if err != nil {
		return nil, err
	}
	r := &report{
		Version: o.Version, Go: runtime.Version(), System: runtime.GOOS + "/" + runtime.GOARCH, CPUs: runtime.NumCPU(),
		Features: cpuFeatures(), Products: o.Products, GPU: o.GPU, Compiled: o.Compiled, Ranks: o.Ranks, MPI: o.MPI, Goroutines: o.Goroutines, Loopback: "ok", DataPath: s.dataPath(), Kernelspecs: []kernelspec{},
	}
	if l, err := net.Listen("tcp", "127.0.0.1:0"); err != nil {
		r.Loopback = err.Error()
	} else {
		l.Close()
	}
	if path, err := exec.LookPath("jupyter"); err == nil {
		r.Jupyter = path
		r.Site = siteOf(ctx, path)
	}
	if dir := shareJupyter(r.Site.Prefix); r.Site.Prefix != "" && !slices.Contains(r.DataPath, dir) {
		r.DataPath = append(r.DataPath, dir)
	}
	for _, dir := range r.DataPath {
		found, _ := filepath.Glob(filepath.Join(dir, "kernels", "halfnote*"))
		for _, k := range found {
			if k, ok := readKernelspec(k, o.Version); ok {
				r.Kernelspecs = append(r.Kernelspecs, k)
			}
		}
	}
	for _, check := range checks {
		if f, ok := check(r); ok {
			r.Findings = append(r.Findings, f)
		}
	}
	if p, err := findPython(ctx, "JupyterLab"); err != nil {
		r.PythonError = strings.TrimPrefix(err.Error(), "install: ")
	} else {
		r.Python = &p
	}
	env, err := labRecipe.in(o.CacheDir)
	if err != nil {
		return nil, err
	}
	r.Lab, r.LabReady = env.dir, env.ready(ctx)
	return r, nil
}

func readKernelspec(dir, version string) (kernelspec, bool) {
	k := kernelspec{Dir: dir}
	data, err := os.ReadFile(filepath.Join(dir, "kernel.json"))
	if errors.Is(err, os.ErrNotExist) {
		return k, false
	}
	var sp spec
	if err == nil {
		err = json.Unmarshal(data, &sp)
	}
	if err == nil && len(sp.Argv) == 0 {
		err = errors.New("argv is empty")
	}
	if err != nil {
		k.Problem, k.Fix = "kernel.json: "+err.Error(), fixKernelspec(dir, sp)
		return k, true
	}
	k.Version, k.encrypts = sp.Metadata.Own.Version, slices.Contains(sp.Metadata.Encryption, "curve")
	if sp.Metadata.Provisioner != nil {
		k.provisioner = sp.Metadata.Provisioner.Name
	}
	k.Fix = fixKernelspec(dir, sp)
	program := strings.ReplaceAll(sp.Argv[0], "{resource_dir}", dir)
	if _, err := exec.LookPath(program); err != nil && filepath.IsAbs(program) { // others are those of the server
		k.Problem = "its program is missing or cannot be executed: " + program
	} else if k.Version != version {
		k.Problem = fmt.Sprintf("stale: its version is %q, this program's is %q", k.Version, version)
	} else {
		k.Fix = ""
	}
	return k, true
}

// fixKernelspec returns the command that writes the kernelspec in a folder again.
func fixKernelspec(dir string, sp spec) string {
	if own, _ := filepath.Glob(filepath.Join(dir, "*.whl")); len(own) == 0 { // Install writes one: pip has installed this
		return "pip install --force-reinstall halfnote-*.whl"
	}
	command := "halfnote install"
	data := filepath.Dir(filepath.Dir(dir))
	if s, err := here(); err == nil && data != s.dataDir() {
		command += " --prefix " + filepath.Dir(filepath.Dir(data))
	}
	for _, flag := range []string{"--engine", "--ranks", "--launcher"} {
		if i := slices.Index(sp.Argv, flag); i >= 0 && i+1 < len(sp.Argv) {
			value := sp.Argv[i+1]
			if strings.Contains(value, " ") {
				value = strconv.Quote(value)
			}
			command += " " + flag + " " + value
		}
	}
	if p := sp.Metadata.Provisioner; p != nil {
		for _, r := range remotes {
			if r.provisioner == p.Name {
				command += " --remote " + r.name
			}
		}
		if image, ok := p.Config["image_name"]; ok {
			command += fmt.Sprintf(" --image %v", image)
		}
	}
	return command
}

func (r *report) print(w io.Writer) error {
	t := tabwriter.NewWriter(w, 0, 0, 2, ' ', 0)
	line := func(mark, name, format string, args ...any) {
		fmt.Fprintf(t, "%s\t%s\t%s\n", mark, name, fmt.Sprintf(format, args...))
	}
	line("ok", "halfnote", "%s, built with %s for %s", r.Version, r.Go, r.System)
	features := strings.Join(r.Features, " ")
	if features == "" {
		features = "features unknown"
	}
	line("ok", "CPU", "%d logical cores, %s", r.CPUs, features)
	line("", "products", "%s", r.Products)
	line("", "compiled", "%s", r.Compiled)
	line("", "GPU", "%s", r.GPU)
	line("", "ranks", "%s", r.Ranks)
	line("", "MPI", "%s", r.MPI)
	if r.Goroutines == "fast" {
		line("ok", "goroutines", "identity: fast")
	} else {
		line("--", "goroutines", "identity: %s (cells run, tensor operations take microseconds longer)", r.Goroutines)
	}
	if r.Loopback == "ok" {
		line("ok", "loopback", "a port of 127.0.0.1 can be opened")
	} else {
		line("!!", "loopback", "no port of 127.0.0.1 can be opened, so no kernel can run: %s", r.Loopback)
	}
	for _, k := range r.Kernelspecs {
		if k.Problem == "" {
			line("ok", "kernelspec", "%s", k.Dir)
		} else {
			line("!!", "kernelspec", "%s: %v", k.Dir, finding{Text: k.Problem, Fix: k.Fix})
		}
	}
	if len(r.Kernelspecs) == 0 {
		line("--", "kernelspec", "none found; `halfnote install` writes one (`run` and `lab` need none)")
	}
	for _, dir := range r.DataPath {
		line("", "searched", "%s", dir)
	}
	if r.Jupyter != "" {
		line("ok", "jupyter", "%s", r.Jupyter)
	} else {
		line("--", "jupyter", "not on PATH (`lab` brings its own)")
	}
	for _, f := range r.Findings {
		line(marks[f.State], f.Name, "%v", f)
	}
	if r.Python != nil {
		line("ok", "Python", "%s (%s)", r.Python.Version, r.Python.Path)
	} else {
		line("--", "Python", "%s (only `lab` needs it)", r.PythonError)
	}
	if r.LabReady {
		line("ok", "lab", "%s", r.Lab)
	} else {
		line("--", "lab", "not made yet: `halfnote lab` makes it in %s", r.Lab)
	}
	return t.Flush()
}

// cpuFeatures returns the processor's features that matter to half precision, by their
// Linux names; nil if they are unknown.
func cpuFeatures() []string {
	data, err := os.ReadFile("/proc/cpuinfo")
	if err != nil {
		return nil
	}
	return featuresOf(string(data))
}

func featuresOf(cpuinfo string) []string {
	wanted := []string{"avx2", "fma", "f16c", "avx512f", "avx512_bf16", "avx512_fp16", "amx_bf16", "amx_fp16", "asimd", "fphp", "asimdhp", "bf16", "sve"}
	var found []string
	for line := range strings.Lines(cpuinfo) {
		name, value, _ := strings.Cut(line, ":")
		if name = strings.TrimSpace(name); name == "flags" || name == "Features" {
			flags := strings.Fields(value)
			for _, f := range wanted {
				if slices.Contains(flags, f) {
					found = append(found, f)
				}
			}
			break
		}
	}
	return found
}

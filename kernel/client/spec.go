package client

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"runtime"
	"slices"
	"strings"
	"time"
)

// Spec is a kernelspec, the content of kernel.json: how to start a kernel.
type Spec struct {
	Argv          []string          `json:"argv"` // command; {connection_file} and {resource_dir} are filled in
	Env           map[string]string `json:"env"`  // environment; ${NAME} is taken from the client's environment
	DisplayName   string            `json:"display_name"`
	Language      string            `json:"language"`
	InterruptMode string            `json:"interrupt_mode"` // "message", or "signal", the default
	ResourceDir   string            `json:"-"`              // directory of kernel.json
	Metadata      SpecMetadata      `json:"metadata"`
}

// SpecMetadata is the part of a kernelspec's metadata that concerns clients.
type SpecMetadata struct {
	// SupportedEncryption names the mechanisms by which a connection to the kernel can be
	// encrypted: "curve" is the only one. Older kernelspecs have a name in place of a list.
	SupportedEncryption any `json:"supported_encryption"`
}

func (s Spec) supportsCurve() bool {
	names, ok := s.Metadata.SupportedEncryption.([]any)
	if !ok {
		names = []any{s.Metadata.SupportedEncryption}
	}
	return slices.Contains(names, any("curve"))
}

// ReadSpec reads the kernelspec in a directory.
func ReadSpec(dir string) (Spec, error) {
	path := filepath.Join(dir, "kernel.json")
	b, err := os.ReadFile(path)
	if err != nil {
		return Spec{}, fmt.Errorf("client: kernelspec: %w", err)
	}
	var s Spec
	if err := json.Unmarshal(b, &s); err != nil {
		return Spec{}, fmt.Errorf("client: kernelspec %s: %w", path, err)
	}
	if len(s.Argv) == 0 {
		return Spec{}, fmt.Errorf("client: kernelspec %s: argv is empty, want a command", path)
	}
	s.ResourceDir, err = filepath.Abs(dir)
	return s, err
}

// FindSpec returns the kernelspec of that name, ignoring case, from the first directory
// of Jupyter's data path that has one. The error lists the directories.
func FindSpec(name string) (Spec, error) {
	path := DataPath()
	s, err := findSpec(path, name)
	if errors.Is(err, fs.ErrNotExist) {
		// Behind a version manager's shim only Python itself knows its location.
		if dir := pythonData(); dir != "" && !slices.Contains(path, dir) {
			path = append(path, dir)
			s, err = findSpec(path[len(path)-1:], name)
		}
	}
	if errors.Is(err, fs.ErrNotExist) {
		return s, fmt.Errorf("client: kernelspec %q: not found in kernels/ of %s", name, strings.Join(path, ", "))
	}
	return s, err
}

func findSpec(path []string, name string) (Spec, error) {
	for _, dir := range path {
		entries, err := os.ReadDir(filepath.Join(dir, "kernels"))
		if err != nil {
			continue
		}
		for _, e := range entries {
			if !strings.EqualFold(e.Name(), name) {
				continue
			}
			s, err := ReadSpec(filepath.Join(dir, "kernels", e.Name()))
			if errors.Is(err, fs.ErrNotExist) {
				continue // an empty directory
			}
			return s, err
		}
	}
	return Spec{}, fs.ErrNotExist
}

// pythonData returns the data directory of the Python that python3 starts, or "".
func pythonData() string {
	ctx, cancel := context.WithTimeout(context.Background(), 5*time.Second)
	defer cancel()
	prefix, err := exec.CommandContext(ctx, "python3", "-I", "-c", "import sys; print(sys.prefix)").Output()
	if err != nil {
		return ""
	}
	return filepath.Join(strings.TrimSpace(string(prefix)), "share", "jupyter")
}

// DataPath returns the directories in which Jupyter looks for kernelspecs, in order of
// precedence: JUPYTER_PATH, the user's, the active Python environment's, the system's.
// See "jupyter --paths".
func DataPath() []string {
	var path []string
	add := func(dir ...string) {
		if dir[0] == "" {
			return
		}
		if d := filepath.Join(dir...); !slices.Contains(path, d) {
			path = append(path, d)
		}
	}
	for _, d := range filepath.SplitList(os.Getenv("JUPYTER_PATH")) {
		add(d)
	}
	add(userData())
	add(os.Getenv("VIRTUAL_ENV"), "share", "jupyter")
	add(os.Getenv("CONDA_PREFIX"), "share", "jupyter")
	if python, err := exec.LookPath("python3"); err == nil {
		add(filepath.Dir(filepath.Dir(python)), "share", "jupyter")
	}
	if runtime.GOOS == "windows" {
		add(os.Getenv("PROGRAMDATA"), "jupyter")
	} else {
		add("/usr/local/share/jupyter")
		add("/usr/share/jupyter")
	}
	return path
}

func userData() string {
	if d := os.Getenv("JUPYTER_DATA_DIR"); d != "" {
		return d
	}
	home, _ := os.UserHomeDir()
	switch runtime.GOOS {
	case "darwin":
		return filepath.Join(home, "Library", "Jupyter")
	case "windows":
		return filepath.Join(os.Getenv("APPDATA"), "jupyter")
	}
	if d := os.Getenv("XDG_DATA_HOME"); d != "" {
		return filepath.Join(d, "jupyter")
	}
	return filepath.Join(home, ".local", "share", "jupyter")
}

// command returns the arguments and the environment to start s with.
func (s Spec) command(connectionFile string, extra []string) (argv, env []string) {
	fill := strings.NewReplacer("{connection_file}", connectionFile, "{resource_dir}", s.ResourceDir)
	for _, a := range s.Argv {
		argv = append(argv, fill.Replace(a))
	}
	argv[0] = s.python(argv[0])
	argv = elsewhere(argv)
	env = os.Environ()
	for name, value := range s.Env {
		env = append(env, name+"="+expand(value))
	}
	return argv, append(env, extra...)
}

// python returns the interpreter for a kernelspec's bare "python": that of the
// environment that the kernelspec was installed in.
func (s Spec) python(command string) string {
	if command != "python" && command != "python3" {
		return command
	}
	prefix, _, ok := strings.Cut(filepath.ToSlash(s.ResourceDir), "/share/jupyter/kernels/")
	if !ok {
		return command
	}
	for _, path := range []string{"bin/" + command, "bin/python3", "Scripts/python.exe", "python.exe"} {
		path = filepath.Join(prefix, filepath.FromSlash(path))
		if fi, err := os.Stat(path); err == nil && !fi.IsDir() {
			return path
		}
	}
	return command
}

// elsewhere makes a command that runs a module of Python look for it, and for all that it imports, outside of the working folder, whose files may
// have the names of modules. Python's own option for that, -P, also keeps the folder from cells, to which IPython adds it later.
func elsewhere(argv []string) []string {
	if !pythonName.MatchString(filepath.Base(argv[0])) {
		return argv
	}
	i := 1
	for i < len(argv) && pythonFlag.MatchString(argv[i]) {
		i++
	}
	if i+1 >= len(argv) || argv[i] != "-m" || !moduleName.MatchString(argv[i+1]) {
		return argv
	}
	run := "import sys; sys.path[:] = [folder for folder in sys.path if folder]; import runpy; runpy.run_module('" + argv[i+1] + "', run_name='__main__', alter_sys=True)"
	return slices.Concat(argv[:i], []string{"-c", run}, argv[i+2:])
}

var (
	pythonName = regexp.MustCompile(`^(python|pypy)[0-9.]*(\.exe)?$`)
	pythonFlag = regexp.MustCompile(`^-([XW].+|[BEOSbdsuvx]+)$`)
	moduleName = regexp.MustCompile(`^[A-Za-z_][A-Za-z0-9_.]*$`)
)

// expand replaces ${NAME} only, as jupyter_client does.
func expand(s string) string {
	var b strings.Builder
	for {
		before, after, ok := strings.Cut(s, "${")
		b.WriteString(before)
		if !ok {
			return b.String()
		}
		name, rest, ok := strings.Cut(after, "}")
		value, known := os.LookupEnv(name)
		if !ok || !known {
			b.WriteString("${")
			s = after
			continue
		}
		b.WriteString(value)
		s = rest
	}
}

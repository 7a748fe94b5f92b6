package install

import (
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"regexp"
	"runtime"
	"strconv"
	"strings"

	"halfnote/internal/save"
)

// Options are the location and the contents of a kernelspec. Without User, Prefix and
// SysPrefix it goes into the user's folder.
type Options struct {
	User      bool   // whether to install in the user's Jupyter folder
	Prefix    string // folder; the kernelspec goes below PREFIX/share/jupyter
	SysPrefix bool   // whether to install in the active Python environment

	Engine      string // interpreter of cells; default the program's own
	Ranks       int    // number of processes that run each cell; 0 means 1
	Launcher    string // command that starts several ranks; "" means mpiexec
	Remote      string // where gateway_provisioners starts the kernel: "ssh", "docker", "kubernetes", "yarn", or "" for this machine
	Image       string // image of the containers of docker and kubernetes
	Name        string // folder and kernel name; default "halfnote", with the engine, the ranks and the place if they are not the default
	DisplayName string // name that front ends show; default "Go (halfnote)", with the same
	Binary      string // program to copy; default the running one
	Second      string // engine of a second kernelspec, which is written with the same settings; "" for none
	Version     string // version of the program, kept in the kernelspec's metadata

	dir string // folder of the kernelspec
}

var validName = regexp.MustCompile(`^[A-Za-z0-9._-]+$`)

// Install writes a kernelspec and returns its folder: kernel.json, logos, a wheel for
// papermill and nbconvert (see [Wheel]), and a copy of the program, so that the kernel
// depends neither on the location of the running program nor on PATH. An older
// installation is replaced file by file, each atomically; running kernels are not
// disturbed. With SysPrefix the wheel is also installed in the active environment.
func Install(o Options) (dir string, err error) {
	o = o.named()
	if !validName.MatchString(o.Name) {
		return "", fmt.Errorf("install: kernel name %q, want only ASCII letters, digits, '.', '_' and '-'", o.Name)
	}
	r, remote, err := o.remote()
	if err != nil {
		return "", err
	}
	if o.Ranks < 0 || remote && o.several() {
		return "", fmt.Errorf("install: %d ranks with remote %q, want at least 1, or no remote: a server's launcher starts one process", o.Ranks, o.Remote)
	}
	data, err := o.jupyterDir()
	if err != nil {
		return "", err
	}
	if o.Binary == "" {
		if o.Binary, err = os.Executable(); err != nil {
			return "", fmt.Errorf("install: this program's own path: %w", err)
		}
	}
	dir = filepath.Join(data, "kernels", o.Name)
	o.dir = dir
	if err := os.MkdirAll(dir, 0o755); err != nil {
		return "", fmt.Errorf("install: %w", err)
	}
	if !r.image {
		if err := copyBinary(filepath.Join(dir, binaryName(runtime.GOOS)), o.Binary); err != nil {
			return "", err
		}
	}
	version := cmp.Or(o.Version, "0")
	if err := writeWheel(dir, version); err != nil {
		return "", err
	}
	if o.SysPrefix {
		if err := unpackWheel(filepath.Dir(filepath.Dir(data)), version); err != nil {
			return "", err
		}
	}
	for _, f := range specFiles(o, runtime.GOOS) {
		if err := save.Text(filepath.Join(dir, f.name), f.content); err != nil {
			return "", fmt.Errorf("install: %w", err)
		}
	}
	if o.Second != "" {
		second := o
		second.Name, second.DisplayName, second.Engine, second.Second = "", "", o.Second, ""
		if second.Binary = filepath.Join(dir, binaryName(runtime.GOOS)); r.image {
			second.Binary = o.Binary
		}
		if _, err := Install(second); err != nil {
			return "", err
		}
	}
	return dir, nil
}

// specFile is a file of a kernelspec's folder.
type specFile struct {
	name    string
	content []byte
}

// specFiles returns the files next to the program. kernel.json is the last: Jupyter ignores the folder until it exists.
func specFiles(o Options, goos string) []specFile {
	list := []specFile{
		{"logo-svg.svg", logoSVG},
		{"logo-32x32.png", logo32},
		{"logo-64x64.png", logo64},
	}
	r, _, _ := o.remote()
	for _, f := range r.files {
		list = append(list, specFile{f.name, []byte(o.fill(string(f.content), strconv.Quote(filepath.Join(o.dir, binaryName(goos)))))})
	}
	return append(list, specFile{"kernel.json", kernelJSON(o, goos)})
}

// named fills in the default names.
func (o Options) named() Options {
	name, display := "halfnote", "Go (halfnote)"
	if o.Engine != "" {
		name, display = "halfnote-"+o.Engine, "Go (halfnote, "+cmp.Or(engineLabels[o.Engine], o.Engine)+")"
	}
	if o.several() {
		name, display = fmt.Sprintf("%s-%d-ranks", name, max(1, o.Ranks)), fmt.Sprintf("%s, %d ranks)", strings.TrimSuffix(display, ")"), max(1, o.Ranks))
	}
	if r, ok, _ := o.remote(); ok {
		name, display = name+"-"+strings.ToLower(r.label), strings.TrimSuffix(display, ")")+", "+r.label+")"
	}
	o.Name, o.DisplayName = cmp.Or(o.Name, name), cmp.Or(o.DisplayName, display)
	return o
}

// engineLabels are the descriptions of engines whose names do not say what they are.
var engineLabels = map[string]string{"native": "compiled cells"}

// several reports whether cells run in several processes.
func (o Options) several() bool { return o.Ranks > 1 || o.Launcher != "" }

// argv is the command line of a kernel.
func (o Options) argv(goos string) []string {
	list := []string{"{resource_dir}/" + binaryName(goos), "kernel", "--theme", "auto", "--charts", "interactive"}
	last := []string{"{connection_file}"}
	if r, ok, _ := o.remote(); ok {
		list, last = nil, remoteFlags
		for _, arg := range r.argv {
			list = append(list, o.fill(arg, filepath.Join(o.dir, binaryName(goos))))
		}
	}
	if o.Engine != "" {
		list = append(list, "--engine", o.Engine)
	}
	if o.several() {
		list = append(list, "--ranks", strconv.Itoa(max(1, o.Ranks)))
	}
	if o.Launcher != "" {
		list = append(list, "--launcher", o.Launcher)
	}
	return append(list, last...)
}

func (o Options) jupyterDir() (string, error) {
	n := 0
	for _, on := range []bool{o.User, o.Prefix != "", o.SysPrefix} {
		if on {
			n++
		}
	}
	if n > 1 {
		return "", fmt.Errorf("install: User, Prefix and SysPrefix: want only one of them")
	}
	if o.Prefix != "" {
		prefix, err := filepath.Abs(o.Prefix)
		return shareJupyter(prefix), err
	}
	s, err := here()
	if err != nil {
		return "", err
	}
	if o.SysPrefix {
		prefix, err := s.sysPrefix(context.Background())
		return shareJupyter(prefix), err
	}
	return s.dataDir(), nil
}

func binaryName(goos string) string {
	if goos == "windows" {
		return "halfnote.exe"
	}
	return "halfnote"
}

// spec is the kernelspec format, jupyter_client.kernelspec.KernelSpec.
type spec struct {
	Argv          []string          `json:"argv"`
	DisplayName   string            `json:"display_name"`
	Language      string            `json:"language"`
	InterruptMode string            `json:"interrupt_mode"`
	Protocol      string            `json:"kernel_protocol_version"`
	Env           map[string]string `json:"env"`
	Metadata      specMetadata      `json:"metadata"`
}

type specMetadata struct {
	// Debugger makes JupyterLab offer its debugger.
	Debugger bool `json:"debugger"`
	// Encryption makes jupyter_client create keys where KernelManager.transport_encryption
	// asks for them.
	Encryption []string `json:"supported_encryption"`
	// Own holds what only halfnote reads.
	Own ownMetadata `json:"halfnote"`
	// Provisioner makes jupyter_client start the kernel through gateway_provisioners.
	Provisioner *provisioner `json:"kernel_provisioner,omitempty"`
}

type ownMetadata struct {
	Version string `json:"version"` // release that wrote the kernelspec
}

type provisioner struct {
	Name   string         `json:"provisioner_name"`
	Config map[string]any `json:"config"`
}

// Arenas is the environment variable that limits the heaps of the C library of Linux. Each of its threads reserves 64 MiB of addresses for one, which a process
// with a limit of addresses (ulimit -v) cannot spare. The kernel's own memory is Go's. A kernel takes the variable out of its environment, so that the programs
// that cells start have as many as they like.
const Arenas = "MALLOC_ARENA_MAX"

func kernelJSON(o Options, goos string) []byte {
	var b bytes.Buffer
	enc := json.NewEncoder(&b)
	enc.SetEscapeHTML(false)
	enc.SetIndent("", "  ")
	var p *provisioner
	if r, ok, _ := o.remote(); ok {
		p = &provisioner{Name: r.provisioner, Config: map[string]any{}}
		if r.image {
			p.Config["image_name"] = o.Image
		}
	}
	err := enc.Encode(spec{
		Argv:          o.argv(goos),
		DisplayName:   o.DisplayName,
		Language:      "go",
		InterruptMode: "message",
		Protocol:      "5.5",
		Env:           map[string]string{Arenas: "1"},
		Metadata:      specMetadata{Debugger: true, Encryption: []string{"curve"}, Own: ownMetadata{o.Version}, Provisioner: p},
	})
	if err != nil {
		panic(err) // strings and booleans always encode
	}
	return b.Bytes()
}

// copyBinary copies a program, unless an equal copy exists. Kernelspecs next to each other share
// one file: it is replaced by new ones, and never written.
func copyBinary(dst, src string) error {
	in, err := os.Open(src)
	if err != nil {
		return fmt.Errorf("install: the program to copy: %w", err)
	}
	defer in.Close()
	if same(in, dst) {
		return nil
	}
	if filepath.Dir(filepath.Dir(src)) == filepath.Dir(filepath.Dir(dst)) {
		link := dst + ".new"
		os.Remove(link)
		if os.Link(src, link) == nil && os.Rename(link, dst) == nil {
			return nil
		}
	}
	if _, err := in.Seek(0, io.SeekStart); err != nil {
		return fmt.Errorf("install: %w", err)
	}
	return replace(dst, in)
}

// same reports whether a file has the content of r, and is executable where the system
// requires it.
func same(r *os.File, path string) bool {
	f, err := os.Open(path)
	if err != nil {
		return false
	}
	defer f.Close()
	a, errA := r.Stat()
	b, errB := f.Stat()
	if errA != nil || errB != nil || a.Size() != b.Size() || runtime.GOOS != "windows" && b.Mode()&0o111 == 0 {
		return false
	}
	x, y := make([]byte, 1<<20), make([]byte, 1<<20)
	for {
		n, errX := io.ReadFull(r, x)
		m, _ := io.ReadFull(f, y)
		if n != m || !bytes.Equal(x[:n], y[:m]) {
			return false
		}
		if errX != nil {
			return true
		}
	}
}

// replace writes a program atomically: a temporary file in the same folder is renamed. Other names of the old program keep it.
func replace(path string, content io.Reader) (err error) {
	f, err := os.CreateTemp(filepath.Dir(path), "."+filepath.Base(path)+".*")
	if err != nil {
		return fmt.Errorf("install: %w", err)
	}
	defer func() {
		if err != nil {
			f.Close()
			os.Remove(f.Name())
		}
	}()
	if _, err := io.Copy(f, content); err != nil {
		return fmt.Errorf("install: write %s: %w", path, err)
	}
	if err := f.Chmod(0o755); err != nil && runtime.GOOS != "windows" {
		return fmt.Errorf("install: write %s: %w", path, err)
	}
	if err := f.Close(); err != nil {
		return fmt.Errorf("install: write %s: %w", path, err)
	}
	if err := os.Rename(f.Name(), path); err == nil {
		return nil
	}
	// Windows cannot replace a running program, but can rename it.
	old := path + ".old"
	os.Remove(old)
	os.Rename(path, old)
	if err := os.Rename(f.Name(), path); err != nil {
		return fmt.Errorf("install: write %s: %w", path, err)
	}
	return nil
}

package install

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"
)

// fakePython is a script in place of Python. It appends each call as a line to $CALLS.
// "pip install" fails while the file $FAIL exists. The server writes its address to a file
// and runs until it is asked to end. Python 2 knows no -I, and others must get it: it keeps the working folder out of imports.
const fakePython = `#!/bin/sh
case "$1 $VERSION" in
"--version "*) echo "Python $VERSION"; exit 0 ;;
"-I 2"*) exit 2 ;;
"-I "*) shift ;;
*) exit 3 ;;
esac
echo "$*" >>"$CALLS"
case "$*" in
"-c import jupyterlab, jupyterlab_widgets") exit 0 ;;
-c*) echo '{"path": "'"$0"'", "version": "'"${VERSION:-3.12.1}"'", "venv": '"${VENV:-true}"'}' ;;
"-m venv "*) mkdir -p "$3/bin" && cp "$0" "$3/bin/python" ;;
"-m pip install "*)
	if [ -e "$FAIL" ]; then echo "ERROR: Could not find a version" >&2; exit 1; fi ;;
"-m jupyterlab "*)
	[ -z "$JUPYTER_TOKEN" ] || exit 4
	echo "env $JUPYTER_PREFER_ENV_PATH $(cat "${JUPYTER_PATH%%:*}/kernels/halfnote/halfnote") $PYTHONPATH" >>"$CALLS"
	trap 'echo ended >>"$CALLS"; exit 0' TERM
	echo '{"url": "http://127.0.0.1:'"$SERVER_PORT"'/", "token": "'"$(cat "$JUPYTER_TOKEN_FILE")"'"}' >"$JUPYTER_RUNTIME_DIR/jpserver-1.json"
	while :; do sleep 0.05; done ;;
esac
`

// fakeLab is an environment in which Lab finds the fake Python.
type fakeLab struct {
	t          *testing.T
	dir, calls string
	options    LabOptions
	out        *lockedBuffer
	server     net.Listener // listener at the address that the fake server reports
}

func newFakeLab(t *testing.T) *fakeLab {
	t.Helper()
	if runtime.GOOS == "windows" {
		t.Skip("needs a Unix shell")
	}
	dir := t.TempDir()
	python := filepath.Join(dir, "bin", "python3")
	if err := os.Mkdir(filepath.Dir(python), 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(python, []byte(fakePython), 0o755); err != nil {
		t.Fatal(err)
	}
	server, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { server.Close() })
	f := &fakeLab{t: t, dir: dir, calls: filepath.Join(dir, "calls"), out: &lockedBuffer{}, server: server}
	for name, value := range map[string]string{
		"PATH": filepath.Dir(python) + ":/usr/bin:/bin", "PYTHON": "", "CALLS": f.calls, "FAIL": filepath.Join(dir, "fail"),
		"UV": "", "HALFNOTE_PYTHON": "", "JUPYTER_TOKEN": "abc", "PYTHONPATH": "/elsewhere", "SERVER_PORT": fmt.Sprint(server.Addr().(*net.TCPAddr).Port),
	} {
		t.Setenv(name, value)
	}
	f.options = LabOptions{
		Port: 8123, NoBrowser: true, Dir: dir, Binary: program(t, "kernel"), Version: "1",
		CacheDir: filepath.Join(dir, "cache"), Idle: 30 * time.Minute, Stdout: f.out, Stderr: f.out,
	}
	return f
}

// run runs Lab until the server is ready, then ends it as Ctrl-C does.
func (f *fakeLab) run() error {
	f.t.Helper()
	ctx, cancel := context.WithTimeout(f.t.Context(), time.Minute)
	defer cancel()
	f.out.on("Ctrl-C ends it.", cancel)
	return Lab(ctx, f.options)
}

func (f *fakeLab) called() []string {
	data, _ := os.ReadFile(f.calls)
	os.Remove(f.calls)
	var calls []string
	for line := range strings.Lines(string(data)) {
		line = strings.ReplaceAll(strings.TrimSpace(line), f.dir, "DIR")
		if strings.Contains(line, "import json") {
			line = "probe"
		}
		if words := strings.Fields(line); len(words) > 2 && words[0] == "-m" {
			line = strings.Join(words[:3], " ")
			if words[1] == "jupyterlab" {
				line = strings.Join(words, " ")
			}
		}
		calls = append(calls, line)
	}
	// Remove the other lines of the probe's source.
	return slices.DeleteFunc(calls, func(s string) bool {
		return !strings.HasPrefix(s, "-m") && !strings.HasPrefix(s, "-c import jupyterlab, jupyterlab_widgets") && s != "probe" && s != "ended" && !strings.HasPrefix(s, "env ")
	})
}

// A server writes its address to a file a little before it accepts connections.
func TestServerAddress(t *testing.T) {
	server, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	address, dir := server.Addr().String(), t.TempDir()
	server.Close()
	want := func(when, want string) {
		t.Helper()
		if got := serverAddress(dir); got != want {
			t.Errorf("%s: got address %q, want %q", when, got, want)
		}
	}
	want("without a file", "")
	file := filepath.Join(dir, "jpserver-1.json")
	if err := os.WriteFile(file, []byte(`{"url": "http:`), 0o600); err != nil {
		t.Fatal(err)
	}
	want("with half a file", "")
	if err := os.WriteFile(file, []byte(`{"url": "http://`+address+`/", "token": "a b"}`), 0o600); err != nil {
		t.Fatal(err)
	}
	want("before the server listens", "")
	if server, err = net.Listen("tcp", address); err != nil {
		t.Fatal(err)
	}
	defer server.Close()
	want("while the server listens", "http://"+address+"/lab?token=a+b")
}

// TestExporterArgs hides the exporters whose programs are missing.
func TestExporterArgs(t *testing.T) {
	if runtime.GOOS == "windows" {
		t.Skip("needs a Unix shell")
	}
	tests := []struct {
		programs []string
		want     string
	}{
		{nil, "ASCIIDoc Latex PDF QtPDF QtPNG RST WebPDF"},
		{[]string{"pandoc"}, "PDF QtPDF QtPNG WebPDF"},
		{[]string{"pandoc", "xelatex"}, "QtPDF QtPNG WebPDF"},
	}
	for _, test := range tests {
		dir := t.TempDir()
		for _, name := range test.programs {
			if err := os.WriteFile(filepath.Join(dir, name), []byte("#!/bin/sh\n"), 0o755); err != nil {
				t.Fatal(err)
			}
		}
		t.Setenv("PATH", dir)
		got := strings.Join(exporterArgs(), " ")
		got = strings.NewReplacer("--", "", "Exporter.enabled=False", "").Replace(got)
		if got != test.want {
			t.Errorf("with %v: hidden %s, want %s", test.programs, got, test.want)
		}
	}
}

func TestLab(t *testing.T) {
	f := newFakeLab(t)
	if err := f.run(); err != nil {
		t.Fatalf("%v\n%s", err, f.out)
	}
	env, err := labRecipe.in(f.options.CacheDir)
	if err != nil {
		t.Fatal(err)
	}
	rel := strings.Replace(env.dir, f.dir, "DIR", 1)
	root := ""
	if os.Geteuid() == 0 {
		root = " --allow-root"
	}
	serve := []string{
		"-m jupyterlab --ServerApp.root_dir=DIR --ServerApp.answer_yes=True --MultiKernelManager.default_kernel_name=halfnote --KernelSpecManager.ensure_native_kernel=False --custom-css --log-level=ERROR --LabApp.log_level=ERROR " + strings.Join(exporterArgs(), " ") + " --MappingKernelManager.cull_idle_timeout=1800 --MappingKernelManager.cull_interval=300 --port=8123 --no-browser" + root,
		"env 1 kernel", "ended",
	}
	want := append([]string{"probe", "-m venv " + rel, "-m pip install", "-c import jupyterlab, jupyterlab_widgets"}, serve...)
	if got := f.called(); !slices.Equal(got, want) {
		t.Errorf("first run: got calls of Python\n%s\nwant\n%s", strings.Join(got, "\n"), strings.Join(want, "\n"))
	}
	if got, want := f.out.String(), "JupyterLab: http://"+f.server.Addr().String()+"/lab?token=abc\n"; !strings.Contains(got, want) {
		t.Errorf("got output %q, want it to contain %q", got, want)
	}
	if left, _ := filepath.Glob(filepath.Join(env.dir, "run-*")); len(left) > 0 {
		t.Errorf("files left behind: got %v, want none", left)
	}

	// The second run uses the existing environment.
	if err := f.run(); err != nil {
		t.Fatal(err)
	}
	if got, want := f.called(), append([]string{"-c import jupyterlab, jupyterlab_widgets"}, serve...); !slices.Equal(got, want) {
		t.Errorf("second run: got calls of Python\n%s\nwant\n%s", strings.Join(got, "\n"), strings.Join(want, "\n"))
	}

	// An environment without its stamp is incomplete and is made again.
	if err := os.Remove(env.stamp()); err != nil {
		t.Fatal(err)
	}
	if err := f.run(); err != nil {
		t.Fatal(err)
	}
	if got := f.called(); len(got) == 0 || got[0] != "probe" {
		t.Errorf("got calls of Python %q, want the environment made again", got)
	}
}

// TestLabPortInUse checks that Lab says why the address has another port than the user wants.
func TestLabPortInUse(t *testing.T) {
	f := newFakeLab(t)
	other, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer other.Close()
	f.options.Port = other.Addr().(*net.TCPAddr).Port
	if err := f.run(); err != nil {
		t.Fatalf("%v\n%s", err, f.out)
	}
	want := fmt.Sprintf("Port %d is in use, so the server uses %d.\n", f.options.Port, f.server.Addr().(*net.TCPAddr).Port)
	if got := f.out.String(); !strings.Contains(got, want) {
		t.Errorf("got output %q, want it to contain %q", got, want)
	}
}

func TestLabWithoutNetwork(t *testing.T) {
	f := newFakeLab(t)
	if err := os.WriteFile(filepath.Join(f.dir, "fail"), nil, 0o644); err != nil {
		t.Fatal(err)
	}
	err := f.run()
	if err == nil {
		t.Fatal("pip fails: got no error")
	}
	for _, want := range []string{"ERROR: Could not find a version", "needs a network"} {
		if !strings.Contains(err.Error(), want) {
			t.Errorf("got error %v, want it to contain %q", err, want)
		}
	}
	f.emptyCache(t)
}

// emptyCache checks that the cache holds only the empty lock file.
func (f *fakeLab) emptyCache(t *testing.T) {
	t.Helper()
	left, _ := os.ReadDir(f.options.CacheDir)
	for _, e := range left {
		if !strings.HasSuffix(e.Name(), ".lock") {
			t.Errorf("the cache contains %v, want only the lock", e)
		}
	}
}

func TestLabInterruptedDuringInstallation(t *testing.T) {
	f := newFakeLab(t)
	ctx, cancel := context.WithCancel(t.Context())
	f.out.on("Making a private Python environment", cancel)
	err := Lab(ctx, f.options)
	if err == nil || !strings.Contains(err.Error(), "interrupted") {
		t.Errorf("got error %v, want one about the interrupt", err)
	}
	f.emptyCache(t)
}

func TestLabRefuses(t *testing.T) {
	for _, test := range []struct {
		name, variable, value, want string
	}{
		{"old Python", "VERSION", "3.8.18", "needs Python 3.10 or newer, but python3 is Python 3.8.18"},
		{"Python 2", "VERSION", "2.7.18", "python3 is Python 2.7.18"},
		{"no ensurepip", "VENV", "false", "its module ensurepip is missing"},
		{"no Python", "PATH", "/nowhere", "none was found (tried python3, python,"},
		{"wrong PYTHON", "PYTHON", "/nowhere/python", `names "/nowhere/python"`},
	} {
		t.Run(test.name, func(t *testing.T) {
			f := newFakeLab(t)
			t.Setenv("PATH", filepath.Join(f.dir, "bin")) // no other Python
			linkTools(t, filepath.Join(f.dir, "bin"))
			t.Setenv(test.variable, test.value)
			err := f.run()
			if err == nil || !strings.Contains(err.Error(), test.want) || !strings.Contains(err.Error(), "`halfnote run NOTEBOOK` needs no Python") {
				t.Errorf("got error %v, want one with %q", err, test.want)
			}
		})
	}
}

// linkTools links the programs that the fake Python uses into a folder.
func linkTools(t *testing.T, dir string) {
	t.Helper()
	for _, tool := range []string{"sh", "mkdir", "cp", "sleep"} {
		path, err := exec.LookPath("/bin/" + tool)
		if err != nil {
			path = "/usr/bin/" + tool
		}
		if err := os.Symlink(path, filepath.Join(dir, tool)); err != nil {
			t.Fatal(err)
		}
	}
}

func TestLabNeedsAFolder(t *testing.T) {
	err := Lab(t.Context(), LabOptions{Dir: filepath.Join(t.TempDir(), "none")})
	if err == nil || !strings.Contains(err.Error(), "is not a folder") {
		t.Errorf("got error %v, want one with %q", err, "is not a folder")
	}
}

// lockedBuffer collects output, and calls a function once the output contains some text.
type lockedBuffer struct {
	mu   sync.Mutex
	b    bytes.Buffer
	text string
	then func()
}

func (l *lockedBuffer) on(text string, then func()) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.b.Reset()
	l.text, l.then = text, then
}

func (l *lockedBuffer) Write(p []byte) (int, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.b.Write(p)
	if l.then != nil && strings.Contains(l.b.String(), l.text) {
		l.then()
		l.then = nil
	}
	return len(p), nil
}

func (l *lockedBuffer) String() string {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.b.String()
}

func TestDoctor(t *testing.T) {
	f := newFakeLab(t)
	t.Setenv("JUPYTER_PATH", "")
	t.Setenv("VIRTUAL_ENV", "")
	t.Setenv("CONDA_PREFIX", "")
	t.Setenv("JUPYTER_DATA_DIR", filepath.Join(f.dir, "data"))
	doctor := func() report {
		t.Helper()
		var out bytes.Buffer
		if err := Doctor(t.Context(), &out, DoctorOptions{JSON: true, Version: "2", GPU: "no GPU", CacheDir: f.options.CacheDir}); err != nil {
			t.Fatal(err)
		}
		var r report
		if err := json.Unmarshal(out.Bytes(), &r); err != nil {
			t.Fatal(err)
		}
		return r
	}
	r := doctor()
	if r.Python == nil || r.Python.Version != "3.12.1" || r.LabReady || r.GPU != "no GPU" || r.Loopback != "ok" || r.Version != "2" {
		t.Errorf("got report %+v, want Python 3.12.1, no environment and working loopback", r)
	}
	for _, test := range []struct{ version, want string }{{"1", `stale: its version is "1"`}, {"2", ""}} {
		dir, err := Install(Options{Binary: f.options.Binary, Version: test.version})
		if err != nil {
			t.Fatal(err)
		}
		r := doctor()
		if len(r.Kernelspecs) == 0 || r.Kernelspecs[0].Dir != dir || !strings.HasPrefix(r.Kernelspecs[0].Problem, test.want) || (test.want == "") != (r.Kernelspecs[0].Problem == "") {
			t.Errorf("got kernelspecs %+v, want first %s with problem %q", r.Kernelspecs, dir, test.want)
		}
		if err := os.Remove(filepath.Join(dir, "halfnote")); err != nil {
			t.Fatal(err)
		}
		if r := doctor(); !strings.Contains(r.Kernelspecs[0].Problem, "its program is missing") || r.Kernelspecs[0].Fix != "halfnote install" {
			t.Errorf("got kernelspecs %+v, want the problem that the program is missing, and halfnote install", r.Kernelspecs)
		}
	}
	var out bytes.Buffer
	if err := Doctor(t.Context(), &out, DoctorOptions{Version: "2", GPU: "no GPU at all", Compiled: "cells can be compiled", CacheDir: f.options.CacheDir}); err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{"no GPU at all", "cells can be compiled", "!!  kernelspec  " + f.dir, "ok  Python      3.12.1", "--  lab         not made yet"} {
		if !strings.Contains(out.String(), want) {
			t.Errorf("the report lacks %q:\n%s", want, &out)
		}
	}
}

func TestCPUFeatures(t *testing.T) {
	for _, test := range []struct{ in, want string }{
		{"", ""},
		{"processor\t: 0\nflags\t\t: fpu avx2 fma f16c avx512_bf16 avx2x\nflags : sve\n", "avx2 fma f16c avx512_bf16"},
		{"Features\t: fp asimd fphp asimdhp bf16\n", "asimd fphp asimdhp bf16"},
	} {
		if got := strings.Join(featuresOf(test.in), " "); got != test.want {
			t.Errorf("featuresOf(%q) = %q, want %q", test.in, got, test.want)
		}
	}
}

// TestOverrides checks that JupyterLab can read its settings, and that each names its plugin.
func TestOverrides(t *testing.T) {
	var settings map[string]map[string]any
	if err := json.Unmarshal([]byte(overrides), &settings); err != nil {
		t.Fatal(err)
	}
	if got := settings["@jupyterlab/completer-extension:manager"]["showDocumentationPanel"]; got != true {
		t.Errorf("showDocumentationPanel: got %v, want true", got)
	}
}

// TestLabUsesUV checks that uv makes the environment where it is installed, and Python where uv fails.
func TestLabUsesUV(t *testing.T) {
	for _, fails := range []bool{false, true} {
		f := newFakeLab(t)
		uv := filepath.Join(f.dir, "uv")
		script := "#!/bin/sh\necho \"uv $*\" >>\"$CALLS.uv\"\n[ \"$1\" = venv ] && mkdir -p \"$5/bin\" && cp \"$4\" \"$5/bin/python\"\nexit 0\n"
		if fails {
			script = "#!/bin/sh\nexit 2\n"
		}
		if err := os.WriteFile(uv, []byte(script), 0o755); err != nil {
			t.Fatal(err)
		}
		t.Setenv("UV", uv)
		if err := f.run(); err != nil {
			t.Fatalf("%v\n%s", err, f.out)
		}
		usedPip := slices.Contains(f.called(), "-m pip install")
		if usedPip != fails {
			t.Errorf("uv fails: %t, pip was called: %t", fails, usedPip)
		}
		text, _ := os.ReadFile(f.calls + ".uv")
		if got := strings.Count(string(text), "uv "); !fails && got != 2 {
			t.Errorf("got %d calls of uv, want venv and pip install:\n%s", got, text)
		}
	}
}

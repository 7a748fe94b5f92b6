package install

import (
	"archive/zip"
	"bytes"
	"crypto/sha256"
	"encoding/base64"
	"encoding/json"
	"fmt"
	"image/png"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"reflect"
	"runtime"
	"slices"
	"strings"
	"testing"

	"halfnote/internal/testenv"
)

// program writes a file in place of the program and returns its path.
func program(t *testing.T, content string) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), "program")
	if err := os.WriteFile(path, []byte(content), 0o755); err != nil {
		t.Fatal(err)
	}
	return path
}

func contents(t *testing.T, path string) string {
	t.Helper()
	data, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	return string(data)
}

func TestKernelJSON(t *testing.T) {
	const want = `{
  "argv": [
    "{resource_dir}/halfnote",
    "kernel",
    "--theme",
    "auto",
    "--charts",
    "interactive",
    "{connection_file}"
  ],
  "display_name": "Go <&> (halfnote)",
  "language": "go",
  "interrupt_mode": "message",
  "kernel_protocol_version": "5.5",
  "env": {
    "MALLOC_ARENA_MAX": "1"
  },
  "metadata": {
    "debugger": true,
    "supported_encryption": [
      "curve"
    ],
    "halfnote": {
      "version": "1.2.3"
    }
  }
}
`
	o := Options{DisplayName: "Go <&> (halfnote)", Version: "1.2.3"}
	if got := string(kernelJSON(o, "linux")); got != want {
		t.Errorf("got %s\nwant %s", got, want)
	}
	if got := string(kernelJSON(o, "windows")); !strings.Contains(got, `"{resource_dir}/halfnote.exe"`) {
		t.Errorf("got %s\nwant a program named halfnote.exe", got)
	}
}

// TestInstallRanks checks that a kernel with several ranks is another kernel, and what does not fit.
func TestInstallRanks(t *testing.T) {
	for _, c := range []struct {
		o                    Options
		folder, display, end string
	}{
		{Options{Ranks: 2}, "halfnote-2-ranks", "Go (halfnote, 2 ranks)", "--ranks 2 {connection_file}"},
		{Options{Ranks: 4, Engine: "native"}, "halfnote-native-4-ranks", "Go (halfnote, compiled cells, 4 ranks)", "--engine native --ranks 4 {connection_file}"},
		{Options{Ranks: 1}, "halfnote", "Go (halfnote)", "interactive {connection_file}"},
		{Options{Ranks: 8, Launcher: "srun --mpi=pmix"}, "halfnote-8-ranks", "Go (halfnote, 8 ranks)", "--ranks 8 --launcher srun --mpi=pmix {connection_file}"},
	} {
		c.o.Prefix, c.o.Binary, c.o.Version = t.TempDir(), program(t, "one"), "1"
		dir, err := Install(c.o)
		if err != nil {
			t.Fatal(err)
		}
		var got spec
		if err := json.Unmarshal([]byte(contents(t, filepath.Join(dir, "kernel.json"))), &got); err != nil {
			t.Fatal(err)
		}
		if argv := strings.Join(got.Argv, " "); filepath.Base(dir) != c.folder || got.DisplayName != c.display || !strings.HasSuffix(argv, c.end) {
			t.Errorf("got folder %s, name %s, argv %s, want %s, %s, … %s", dir, got.DisplayName, argv, c.folder, c.display, c.end)
		}
	}
	for _, o := range []Options{{Ranks: -1}, {Ranks: 2, Remote: "ssh"}} {
		o.Prefix, o.Binary = t.TempDir(), program(t, "one")
		if _, err := Install(o); err == nil || !strings.Contains(err.Error(), "ranks with remote") {
			t.Errorf("%+v: got error %v", o, err)
		}
	}
}

// TestInstallEngine checks that another engine becomes a kernel with its own name.
func TestInstallEngine(t *testing.T) {
	dir, err := Install(Options{Prefix: t.TempDir(), Engine: "native", Binary: program(t, "one"), Version: "1"})
	if err != nil {
		t.Fatal(err)
	}
	if got := filepath.Base(dir); got != "halfnote-native" {
		t.Errorf("got kernel %s, want halfnote-native", got)
	}
	var s spec
	if err := json.Unmarshal([]byte(contents(t, filepath.Join(dir, "kernel.json"))), &s); err != nil {
		t.Fatal(err)
	}
	want := []string{"{resource_dir}/" + binaryName(runtime.GOOS), "kernel", "--theme", "auto", "--charts", "interactive", "--engine", "native", "{connection_file}"}
	if !slices.Equal(s.Argv, want) || s.DisplayName != "Go (halfnote, compiled cells)" {
		t.Errorf("got %v and %q, want %v", s.Argv, s.DisplayName, want)
	}
}

// TestInstallSecond checks that two kernels for choice share one program.
func TestInstallSecond(t *testing.T) {
	dir, err := Install(Options{Prefix: t.TempDir(), Second: "native", Binary: program(t, "one"), Version: "1"})
	if err != nil {
		t.Fatal(err)
	}
	second := dir + "-native"
	for folder, want := range map[string]string{dir: "Go (halfnote)", second: "Go (halfnote, compiled cells)"} {
		var s spec
		if err := json.Unmarshal([]byte(contents(t, filepath.Join(folder, "kernel.json"))), &s); err != nil {
			t.Fatal(err)
		}
		if s.DisplayName != want || slices.Contains(s.Argv, "native") != (folder == second) {
			t.Errorf("got %q and %v, want %q", s.DisplayName, s.Argv, want)
		}
	}
	a, errA := os.Stat(filepath.Join(dir, binaryName(runtime.GOOS)))
	b, errB := os.Stat(filepath.Join(second, binaryName(runtime.GOOS)))
	if errA != nil || errB != nil || !os.SameFile(a, b) {
		t.Errorf("the programs are not one file: %v, %v", errA, errB)
	}
}

func TestInstall(t *testing.T) {
	prefix := t.TempDir()
	dir, err := Install(Options{Prefix: prefix, Binary: program(t, "one"), Version: "1"})
	if err != nil {
		t.Fatal(err)
	}
	if want := filepath.Join(prefix, "share", "jupyter", "kernels", "halfnote"); dir != want {
		t.Errorf("got folder %s, want %s", dir, want)
	}
	binary := binaryName(runtime.GOOS)
	wantFiles := func(version string) []string {
		return []string{binary, "halfnote_jupyter-" + version + "-py3-none-any.whl", "kernel.json", "logo-32x32.png", "logo-64x64.png", "logo-svg.svg"}
	}
	files := func() (names []string) {
		entries, _ := os.ReadDir(dir)
		for _, e := range entries {
			names = append(names, e.Name())
		}
		return names
	}
	if got, want := files(), wantFiles("1"); !slices.Equal(got, want) {
		t.Errorf("got files %q, want %q", got, want)
	}
	if info, err := os.Stat(filepath.Join(dir, binary)); err != nil || runtime.GOOS != "windows" && info.Mode().Perm() != 0o755 {
		t.Errorf("got a copy with mode %v (%v), want it executable", info.Mode(), err)
	}
	// Install a new program of the same size.
	if _, err := Install(Options{Prefix: prefix, Binary: program(t, "two"), Version: "2"}); err != nil {
		t.Fatal(err)
	}
	if got := contents(t, filepath.Join(dir, binary)); got != "two" {
		t.Errorf("got a copy with content %q, want the new program", got)
	}
	if got := contents(t, filepath.Join(dir, "kernel.json")); !strings.Contains(got, `"version": "2"`) {
		t.Errorf("got kernel.json\n%s\nwant version 2", got)
	}
	if got, want := files(), wantFiles("2"); !slices.Equal(got, want) {
		t.Errorf("after the second installation: got files %q, want %q", got, want)
	}
}

func TestInstallLocations(t *testing.T) {
	data, env := t.TempDir(), t.TempDir()
	t.Setenv("JUPYTER_DATA_DIR", data)
	t.Setenv("VIRTUAL_ENV", env)
	binary := program(t, "x")
	for _, test := range []struct {
		name string
		o    Options
		want string
	}{
		{"default", Options{}, filepath.Join(data, "kernels", "halfnote")},
		{"user", Options{User: true}, filepath.Join(data, "kernels", "halfnote")},
		{"name", Options{Name: "halfnote-dev"}, filepath.Join(data, "kernels", "halfnote-dev")},
		{"environment", Options{SysPrefix: true}, filepath.Join(env, "share", "jupyter", "kernels", "halfnote")},
	} {
		test.o.Binary = binary
		if got, err := Install(test.o); err != nil || got != test.want {
			t.Errorf("%s: got %s, %v, want %s", test.name, got, err, test.want)
		}
	}
	for _, test := range []struct {
		name string
		o    Options
		want string
	}{
		{"two locations", Options{User: true, SysPrefix: true}, "want only one"},
		{"bad name", Options{Name: "half note"}, `kernel name "half note"`},
		{"no program", Options{Binary: filepath.Join(data, "none")}, "the program to copy"},
	} {
		if test.o.Binary == "" {
			test.o.Binary = binary
		}
		if _, err := Install(test.o); err == nil || !strings.Contains(err.Error(), test.want) {
			t.Errorf("%s: got error %v, want one with %q", test.name, err, test.want)
		}
	}
}

// TestInstallWheel checks that the wheel is installed in the active environment,
// as pip would, and that it replaces an older one.
func TestInstallWheel(t *testing.T) {
	env := t.TempDir()
	t.Setenv("VIRTUAL_ENV", env)
	site := filepath.Join(env, "lib", "python3.13", "site-packages")
	if err := os.MkdirAll(site, 0o755); err != nil {
		t.Fatal(err)
	}
	for _, version := range []string{"1", "2"} {
		if _, err := Install(Options{SysPrefix: true, Binary: program(t, "x"), Version: version}); err != nil {
			t.Fatal(err)
		}
	}
	infos, _ := filepath.Glob(filepath.Join(site, "*.dist-info"))
	if want := []string{filepath.Join(site, "halfnote_jupyter-2.dist-info")}; !slices.Equal(infos, want) {
		t.Fatalf("got %q, want %q", infos, want)
	}
	if got := contents(t, filepath.Join(env, "share", "jupyter", "labextensions", "halfnote", "package.json")); !strings.Contains(got, `"version": "2"`) {
		t.Errorf("JupyterLab's extension: got\n%s", got)
	}
	if _, err := os.Stat(filepath.Join(site, "halfnote", "magic.py")); err != nil {
		t.Errorf("%%go: %v", err)
	}
	for _, line := range strings.Fields(contents(t, filepath.Join(infos[0], "RECORD"))) {
		name, _, _ := strings.Cut(line, ",")
		if _, err := os.Stat(filepath.Join(site, filepath.FromSlash(name))); err != nil {
			t.Error(err)
		}
	}
}

func TestDataDir(t *testing.T) {
	for _, test := range []struct {
		goos, env, want string
	}{
		{"linux", "", "/h/.local/share/jupyter"},
		{"linux", "XDG_DATA_HOME=/x", "/x/jupyter"},
		{"linux", "JUPYTER_DATA_DIR=/j XDG_DATA_HOME=/x", "/j"},
		{"darwin", "XDG_DATA_HOME=/x", "/h/Library/Jupyter"},
		{"windows", "APPDATA=/a", "/a/jupyter"},
		{"windows", "", "/h/.jupyter/data"},
	} {
		s := surroundings{test.goos, "/h", fakeEnv(test.env)}
		if got := filepath.ToSlash(s.dataDir()); got != test.want {
			t.Errorf("%s with %q: got %s, want %s", test.goos, test.env, got, test.want)
		}
	}
}

func TestDataPath(t *testing.T) {
	if runtime.GOOS == "windows" {
		t.Skip("needs Unix paths")
	}
	s := surroundings{"linux", "/h", fakeEnv("JUPYTER_PATH=/a:/b:/a VIRTUAL_ENV=/v")}
	want := []string{"/a", "/b", "/v/share/jupyter", "/h/.local/share/jupyter", "/usr/local/share/jupyter", "/usr/share/jupyter"}
	if got := s.dataPath(); !slices.Equal(got, want) {
		t.Errorf("got %q, want %q", got, want)
	}
}

// fakeEnv returns a lookup function for an environment given as NAME=value words.
func fakeEnv(words string) func(string) string {
	return func(name string) string {
		for _, w := range strings.Fields(words) {
			if value, ok := strings.CutPrefix(w, name+"="); ok {
				return value
			}
		}
		return ""
	}
}

func TestLogo(t *testing.T) {
	for size, content := range map[int][]byte{32: logo32, 64: logo64} {
		img, err := png.Decode(bytes.NewReader(content))
		if err != nil {
			t.Fatal(err)
		}
		if b := img.Bounds(); b.Dx() != size || b.Dy() != size {
			t.Errorf("got a logo of %v, want %d x %d", b, size, size)
		}
		for _, p := range []struct {
			name string
			x, y float64 // position, from 0 to 64
			want [4]uint32
		}{
			{"corner", 0.5, 0.5, [4]uint32{}},
			{"float32's side", 8, 20, [4]uint32{0x00, 0x72, 0xB2, 0xFF}},
			{"float16's side", 54, 54, [4]uint32{0xC2, 0x41, 0x0C, 0xFF}},
			{"stem", 36.5, 20, [4]uint32{0xFF, 0xFF, 0xFF, 0xFF}},
		} {
			r, g, b, a := img.At(int(p.x*float64(size)/64), int(p.y*float64(size)/64)).RGBA()
			if got := [4]uint32{r >> 8, g >> 8, b >> 8, a >> 8}; got != p.want {
				t.Errorf("%s of logo %d: got %x, want %x", p.name, size, got, p.want)
			}
		}
	}
	if svg := string(logoSVG); !strings.HasPrefix(svg, "<svg ") {
		t.Errorf("SVG %s", svg)
	}
}

// TestJupyterFindsKernelspec checks that jupyter_client finds and reads the kernelspec.
func TestJupyterFindsKernelspec(t *testing.T) {
	python := needPython(t, "jupyter_client")
	prefix := t.TempDir()
	dir, err := Install(Options{Prefix: prefix, Binary: program(t, "x"), Version: "1"})
	if err != nil {
		t.Fatal(err)
	}
	cmd := exec.Command(python, "-c", `
import json
from jupyter_client.kernelspec import KernelSpecManager
spec = KernelSpecManager().get_kernel_spec("halfnote")
print(json.dumps({**spec.to_dict(), "dir": spec.resource_dir}))
`)
	cmd.Env = append(os.Environ(), "JUPYTER_PATH="+shareJupyter(prefix))
	out, err := cmd.Output()
	if err != nil {
		t.Fatal(err)
	}
	var got map[string]any
	if err := json.Unmarshal(out, &got); err != nil {
		t.Fatal(err)
	}
	want := map[string]any{
		"argv": []any{"{resource_dir}/" + binaryName(runtime.GOOS), "kernel", "--theme", "auto", "--charts", "interactive", "{connection_file}"}, "display_name": "Go (halfnote)",
		"language": "go", "interrupt_mode": "message", "kernel_protocol_version": "5.5", "env": map[string]any{"MALLOC_ARENA_MAX": "1"},
		"metadata": map[string]any{"debugger": true, "supported_encryption": []any{"curve"}, "halfnote": map[string]any{"version": "1"}}, "dir": dir,
	}
	if !reflect.DeepEqual(got, want) {
		t.Errorf("jupyter_client: got %v, want %v", got, want)
	}
}

// needPython returns the path of a Python that has the modules, or skips the test.
func needPython(t *testing.T, modules ...string) string {
	t.Helper()
	for _, python := range pythonNames(runtime.GOOS, os.Getenv("PYTHON"), "")[:1] {
		if exec.Command(python[0], "-c", "import "+strings.Join(modules, ", ")).Run() == nil {
			return python[0]
		}
	}
	testenv.Missing(t, "jupyter", "needs a Python with "+strings.Join(modules, " and "))
	return ""
}

// TestDistribution checks that equal programs give equal wheels, whose RECORD lists every other file with its checksum, and that the kernelspec
// names the program in its own folder.
func TestDistribution(t *testing.T) {
	var wheels []string
	for range 2 {
		w, err := Distribution([]byte("program"), "windows", "1.2", []string{"py3-none-win_amd64"})
		if err != nil {
			t.Fatal(err)
		}
		if got, want := w.FileName(), "halfnote-1.2-py3-none-win_amd64.whl"; got != want {
			t.Errorf("got the name %s, want %s", got, want)
		}
		var b bytes.Buffer
		if err := w.Write(&b); err != nil {
			t.Fatal(err)
		}
		wheels = append(wheels, b.String())
	}
	if wheels[0] != wheels[1] {
		t.Error("two wheels of one program differ")
	}
	z, err := zip.NewReader(strings.NewReader(wheels[0]), int64(len(wheels[0])))
	if err != nil {
		t.Fatal(err)
	}
	spec := "halfnote-1.2.data/data/share/jupyter/kernels/halfnote/"
	record, err := fs.ReadFile(z, "halfnote-1.2.dist-info/RECORD")
	if err != nil {
		t.Fatal(err)
	}
	for _, f := range z.File {
		text, err := fs.ReadFile(z, f.Name)
		if err != nil {
			t.Fatal(err)
		}
		sum := sha256.Sum256(text)
		line := fmt.Sprintf("%s,sha256=%s,%d\n", f.Name, base64.RawURLEncoding.EncodeToString(sum[:]), len(text))
		if strings.HasSuffix(f.Name, "/RECORD") {
			line = f.Name + ",,\n"
		}
		if !strings.Contains(string(record), line) {
			t.Errorf("RECORD lacks the line %s", line)
		}
		if program := f.Name == spec+"halfnote.exe"; program != (f.Mode()&0o111 != 0) {
			t.Errorf("%s has mode %v", f.Name, f.Mode())
		}
	}
	text, err := fs.ReadFile(z, spec+"kernel.json")
	if err != nil || !strings.Contains(string(text), `"{resource_dir}/halfnote.exe"`) {
		t.Errorf("got kernel.json, error %v:\n%s", err, text)
	}
}

package e2e

import (
	"bufio"
	"bytes"
	"cmp"
	"context"
	"encoding/base64"
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"image"
	_ "image/png"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"sync"
	"testing"
	"time"

	"halfnote/internal/testenv"
	"halfnote/interp"
)

var (
	engine = flag.String("engine", interp.Engines[0], "the engine of the kernels that the tests start")
	built  = flag.String("program", "", "the program to test; by default it is built")
)

// need returns the path of the first of the programs that is installed. If none is installed, it
// skips the test, or fails it if HALFNOTE_REQUIRE lists what.
func need(t *testing.T, what string, programs ...string) string {
	t.Helper()
	for _, p := range programs {
		if path, err := exec.LookPath(p); err == nil {
			return path
		}
	}
	miss := fmt.Sprintf("needs %s: none of %s is on PATH", what, strings.Join(programs, ", "))
	testenv.Missing(t, what, miss)
	return ""
}

// program builds halfnote once for all tests, unless -program names one.
var program = sync.OnceValues(func() (string, error) {
	if *built != "" {
		return *built, nil
	}
	dir, err := os.MkdirTemp("", "halfnote-test")
	if err != nil {
		return "", err
	}
	exe := filepath.Join(dir, "halfnote")
	if out, err := exec.Command("go", "build", "-o", exe, ".").CombinedOutput(); err != nil {
		return "", fmt.Errorf("go build: %w\n%s", err, out)
	}
	return exe, nil
})

func TestMain(m *testing.M) {
	flag.Parse()
	os.Setenv("HALFNOTE_HISTORY", "")         // tests must not write to the user's history
	if err := os.Chdir("../.."); err != nil { // users type paths relative to the root
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
	code := m.Run()
	if exe, err := program(); err == nil && *built == "" {
		os.RemoveAll(filepath.Dir(exe))
	}
	os.Exit(code)
}

// halfnote runs the program and returns its output and exit code.
func halfnote(t *testing.T, args ...string) (output string, code int) {
	t.Helper()
	exe, err := program()
	if err != nil {
		t.Fatal(err)
	}
	out, err := exec.Command(exe, args...).CombinedOutput()
	var exit *exec.ExitError
	if err != nil && !errors.As(err, &exit) {
		t.Fatal(err)
	}
	if exit != nil {
		code = exit.ExitCode()
	}
	return string(out), code
}

// executed holds the fields of an executed notebook that the tests read.
type executed struct {
	Cells []struct {
		CellType string `json:"cell_type"`
		Source   []string
		Outputs  []struct {
			OutputType string `json:"output_type"`
			Name       string
			Text       []string
			Data       map[string]any
			Ename      string
			Traceback  []string
		}
	}
}

func readExecuted(t *testing.T, file string) (nb executed) {
	t.Helper()
	data, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	if err := json.Unmarshal(data, &nb); err != nil {
		t.Fatalf("%s: %v", file, err)
	}
	return nb
}

// printed returns all text output of the cells of a notebook.
func (nb executed) printed() string {
	var b strings.Builder
	for _, c := range nb.Cells {
		for _, o := range c.Outputs {
			b.WriteString(strings.Join(o.Text, ""))
			if lines, ok := o.Data["text/plain"].([]any); ok {
				for _, l := range lines {
					fmt.Fprint(&b, l)
				}
				b.WriteString("\n")
			}
			b.WriteString(strings.Join(o.Traceback, "\n"))
		}
	}
	return ansi.ReplaceAllString(b.String(), "")
}

var ansi = regexp.MustCompile("\x1b\\[[0-9;]*m")

// pngs returns the charts of a notebook, decoded.
func (nb executed) pngs(t *testing.T) (list []image.Image) {
	t.Helper()
	for _, c := range nb.Cells {
		for _, o := range c.Outputs {
			text, ok := o.Data["image/png"].(string)
			if lines, many := o.Data["image/png"].([]any); many {
				for _, l := range lines {
					text += fmt.Sprint(l)
				}
				ok = true
			}
			if !ok {
				continue
			}
			raw, err := base64.StdEncoding.DecodeString(strings.ReplaceAll(text, "\n", ""))
			if err != nil {
				t.Fatal(err)
			}
			img, _, err := image.Decode(bytes.NewReader(raw))
			if err != nil {
				t.Fatal(err)
			}
			list = append(list, img)
		}
	}
	return list
}

// losses returns the lines with losses, which are the same in every run.
func (nb executed) losses() []string { return losses(nb.printed()) }

func losses(printed string) []string {
	return regexp.MustCompile(`(?m)^loss \S+$`).FindAllString(printed, -1)
}

var threeLoops = sync.OnceValues(func() (string, error) {
	exe, err := program()
	if err != nil {
		return "", err
	}
	dir := filepath.Dir(exe)
	out, err := exec.Command(exe, "run", "notebooks/05-three-loops.ipynb",
		"--html", filepath.Join(dir, "out.html"), "--output", filepath.Join(dir, "out.ipynb")).CombinedOutput()
	if err != nil {
		return "", fmt.Errorf("%w\n%s", err, out)
	}
	return dir, nil
})

func TestThreeLoops(t *testing.T) {
	dir, err := threeLoops()
	if err != nil {
		t.Fatal(err)
	}
	nb := readExecuted(t, filepath.Join(dir, "out.ipynb"))
	if n := len(nb.pngs(t)); n != 3 {
		t.Errorf("got %d charts, want 3: dtypes, throughput, loss scale", n)
	}
	for _, want := range []string{
		"output is float16", "loss is float32", // the original's assertions
		"step 25 skipped", "scale halves from", // the forced overflow
	} {
		if !strings.Contains(nb.printed(), want) {
			t.Errorf("the output of the notebook lacks %q:\n%s", want, nb.printed())
		}
	}
	if n := len(nb.losses()); n != 5 {
		t.Errorf("got %d losses, want one of the first loop and four of run", n)
	}
}

func TestHello(t *testing.T) {
	out := filepath.Join(t.TempDir(), "out.ipynb")
	if text, code := halfnote(t, "run", "notebooks/00-hello.ipynb", "--output", out); code != 0 {
		t.Fatalf("got exit code %d\n%s", code, text)
	}
	printed := readExecuted(t, out).printed()
	for _, want := range []string{
		"the answer is 42", "It is 45.", "0 1 4 9", "+Inf 65536",
		"cannot use \"five\"", "undefined: undefinedName", "now I am a string", // both errors, and the variables that survive them
		"(32, 784)", "(512, 10)", // the shapes of the matmul
		"index out of range [3] with length 3", "Interrupted",
	} {
		if !strings.Contains(printed, want) {
			t.Errorf("the output of the notebook lacks %q:\n%s", want, printed)
		}
	}
}

// TestPageInBrowser takes a screenshot of the page and checks the colours of the charts.
func TestPageInBrowser(t *testing.T) {
	browser := need(t, "browser", "chromium", "chromium-browser", "google-chrome")
	dir, err := threeLoops()
	if err != nil {
		t.Fatal(err)
	}
	shot := filepath.Join(t.TempDir(), "page.png")
	cmd := exec.Command(browser, "--headless", "--no-sandbox", "--disable-gpu", "--hide-scrollbars",
		"--user-data-dir="+t.TempDir(), "--window-size=1000,12000", "--screenshot="+shot, "file://"+filepath.Join(dir, "out.html"))
	if out, err := cmd.CombinedOutput(); err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	f, err := os.Open(shot)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	img, _, err := image.Decode(f)
	if err != nil {
		t.Fatal(err)
	}
	count := map[uint32]int{}
	b := img.Bounds()
	for y := b.Min.Y; y < b.Max.Y; y++ {
		for x := b.Min.X; x < b.Max.X; x++ {
			r, g, bl, _ := img.At(x, y).RGBA()
			count[r>>8<<16|g>>8<<8|bl>>8]++
		}
	}
	for _, want := range []struct {
		name   string
		colour uint32
		pixels int // minimum; a bar has thousands, the cross of a skipped step a few
	}{{"float32", 0x1072d2, 1000}, {"float16", 0xc2410c, 1000}, {"a skipped step", 0xb00020, 5}} {
		if count[want.colour] < want.pixels {
			t.Errorf("the colour of %s, #%06x, covers %d pixels of the page, want %d: is a chart missing?", want.name, want.colour, count[want.colour], want.pixels)
		}
	}
}

// TestLab starts the private JupyterLab as "go run . lab" does, and runs a cell in it as a
// browser does. HALFNOTE_LAB_CACHE, if set, keeps the environment for the next run.
func TestLab(t *testing.T) {
	need(t, "jupyter", "python3")
	if !testenv.Requires("jupyter") {
		t.Skip("needs pip and its index: set HALFNOTE_REQUIRE=jupyter to run it")
	}
	exe, err := program()
	if err != nil {
		t.Fatal(err)
	}
	cache := cmp.Or(os.Getenv("HALFNOTE_LAB_CACHE"), t.TempDir())
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	port := listener.Addr().(*net.TCPAddr).Port
	listener.Close()
	ctx, cancel := context.WithTimeout(t.Context(), 8*time.Minute)
	defer cancel()
	cmd := exec.CommandContext(ctx, exe, "lab", "--no-browser", "--port", fmt.Sprint(port), "--", "--ServerApp.terminals_enabled=False")
	cmd.Dir = t.TempDir()
	cmd.Env = append(os.Environ(), "HALFNOTE_LAB_CACHE="+cache, "JUPYTER_TOKEN=secret")
	cmd.Cancel = func() error { return cmd.Process.Signal(os.Interrupt) }
	cmd.WaitDelay = 20 * time.Second
	stdout, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	defer cmd.Wait()
	defer cancel()
	lines, up := bufio.NewScanner(stdout), false
	for !up && lines.Scan() {
		up = strings.Contains(lines.Text(), "JupyterLab: http://")
	}
	if !up {
		t.Fatalf("lab did not start: %v", cmd.Wait())
	}
	base := fmt.Sprintf("http://localhost:%d/", port)
	specs, err := exec.Command("python3", "-c", `import sys, urllib.request
request = urllib.request.Request(sys.argv[1] + "api/kernelspecs", headers={"Authorization": "token secret"})
print(urllib.request.urlopen(request, timeout=30).read().decode())`, base).CombinedOutput()
	if err != nil || !strings.Contains(string(specs), `"halfnote"`) {
		t.Errorf("api/kernelspecs: %v\n%s\nwant halfnote in it", err, specs)
	}
	terminals, err := exec.Command("python3", "-c", `import sys, urllib.error, urllib.request
try:
    urllib.request.urlopen(urllib.request.Request(sys.argv[1] + "api/terminals", headers={"Authorization": "token secret"}), timeout=30)
except urllib.error.HTTPError as e:
    print(e.code)`, base).CombinedOutput()
	if err != nil || string(terminals) != "404\n" {
		t.Errorf("terminals, which an argument after -- disables: got %q, %v; want 404", terminals, err)
	}
	script, err := exec.Command("python3", "-c", `import sys, urllib.request
request = urllib.request.Request(sys.argv[1] + "nbconvert/script/00-hello.ipynb", headers={"Authorization": "token secret"})
print(urllib.request.urlopen(request, timeout=60).read().decode())`, base).CombinedOutput()
	if err != nil || !strings.Contains(string(script), "\npackage main\n") || !strings.Contains(string(script), "func main() {") {
		t.Errorf("export as a script: %v\n%.1000s\nwant a Go program", err, script)
	}
	for _, name := range []string{"00-hello.ipynb", "images/loss-scale.png"} {
		if _, err := os.Stat(filepath.Join(cmd.Dir, "halfnote-notebooks", name)); err != nil {
			t.Errorf("the tutorials have not been copied: %v", err)
		}
	}
	pythons, _ := filepath.Glob(filepath.Join(cache, "lab-*", "bin", "python"))
	if len(pythons) == 0 {
		t.Fatalf("no environment in %s", cache)
	}
	got, err := exec.Command(pythons[0], "internal/e2e/testdata/cell_over_websocket.py", base, "secret", "x := 20\nx + 22").CombinedOutput()
	if err != nil || string(got) != "42\n" {
		t.Errorf("cell: got %q, %v; want 42", got, err)
	}
}

// TestRunSavesWidgets checks that "halfnote run" saves the last states of widgets, as text and in the form that
// front ends draw without a kernel.
func TestRunSavesWidgets(t *testing.T) {
	dir := t.TempDir()
	in, out, page := filepath.Join(dir, "in.ipynb"), filepath.Join(dir, "out.ipynb"), filepath.Join(dir, "out.html")
	const cells = `{"cells": [
{"cell_type": "code", "id": "a", "metadata": {}, "execution_count": null, "outputs": [], "source": "n := widget.NewIntSlider(1, 0, 9, widget.Description(\"n\"))\nn"},
{"cell_type": "code", "id": "b", "metadata": {}, "execution_count": null, "outputs": [], "source": "picture := widget.NewImage([]byte(\"abc\"))\npicture"},
{"cell_type": "code", "id": "c", "metadata": {}, "execution_count": null, "outputs": [], "source": "n.SetValue(7)"}
], "metadata": {"widgets": {"application/vnd.jupyter.widget-state+json": {"state": {"old": {}}, "version_major": 2, "version_minor": 0}}}, "nbformat": 4, "nbformat_minor": 5}`
	if err := os.WriteFile(in, []byte(cells), 0o644); err != nil {
		t.Fatal(err)
	}
	if text, code := halfnote(t, "run", in, "--output", out, "--html", page); code != 0 {
		t.Fatalf("got exit code %d\n%s", code, text)
	}
	data, err := os.ReadFile(out)
	if err != nil {
		t.Fatal(err)
	}
	var nb struct {
		Metadata struct {
			Widgets map[string]struct {
				Major int `json:"version_major"`
				State map[string]struct {
					Name    string `json:"model_name"`
					State   map[string]any
					Buffers []struct {
						Path           []string
						Encoding, Data string
					}
				}
			}
		}
	}
	if err := json.Unmarshal(data, &nb); err != nil {
		t.Fatal(err)
	}
	saved := nb.Metadata.Widgets["application/vnd.jupyter.widget-state+json"]
	model := func(cell int) string {
		view, _ := readExecuted(t, out).Cells[cell].Outputs[0].Data["application/vnd.jupyter.widget-view+json"].(map[string]any)
		return fmt.Sprint(view["model_id"])
	}
	if s := saved.State[model(0)]; saved.Major != 2 || s.Name != "IntSliderModel" || s.State["value"] != 7.0 {
		t.Errorf("slider: got %+v of version %d, want the value 7 of version 2", s, saved.Major)
	}
	if s := saved.State[model(1)]; len(s.Buffers) != 1 || fmt.Sprint(s.Buffers[0]) != "{[value] base64 YWJj}" {
		t.Errorf("picture: got buffers %v, want abc in base64", s.Buffers)
	}
	if _, ok := saved.State["old"]; ok {
		t.Error("a state of an earlier run was kept")
	}
	if got, want := readExecuted(t, out).printed(), "n: 7 (0 to 9)\npicture of 3 bytes\n"; got != want {
		t.Errorf("text: got %q, want %q", got, want)
	}
	if html, err := os.ReadFile(page); err != nil || !strings.Contains(string(html), "n: 7 (0 to 9)") {
		t.Errorf("the page lacks the slider's last state: %v", err)
	}
}

func TestRunFailsWithTheCell(t *testing.T) {
	nb := filepath.Join(t.TempDir(), "bad.ipynb")
	text := `{"cells": [{"cell_type": "code", "id": "a", "metadata": {}, "execution_count": null, "outputs": [], "source": ["x := []int{1}\n", "x[len(x)]"]}],
"metadata": {}, "nbformat": 4, "nbformat_minor": 5}`
	if err := os.WriteFile(nb, []byte(text), 0o644); err != nil {
		t.Fatal(err)
	}
	out, code := halfnote(t, "run", nb)
	if code != 1 || !strings.Contains(out, "index out of range [1] with length 1") || !strings.Contains(out, "x[len(x)]") {
		t.Errorf("got exit code %d, want 1 and the cell with its traceback in:\n%s", code, out)
	}
	if out, code := halfnote(t, "run", "--allow-errors", nb); code != 0 {
		t.Errorf("--allow-errors: got exit code %d, want 0\n%s", code, out)
	}
}

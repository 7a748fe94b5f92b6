package install

import (
	"context"
	"encoding/json"
	"fmt"
	"net"
	"net/http"
	"os"
	"os/exec"
	"strings"
	"testing"
	"time"

	"halfnote/internal/testenv"
	"halfnote/kernel/jupyter"
	"halfnote/kernel/kerneltest"
)

// TestMain makes the test binary a kernel of the echo language if it is started with the
// command line of a kernelspec.
func TestMain(m *testing.M) {
	if len(os.Args) > 2 && os.Args[1] == "kernel" {
		err := jupyter.Serve(context.Background(), jupyter.Config{ConnectionFile: os.Args[len(os.Args)-1], Log: os.Stderr, Process: true}, &kerneltest.Echo{})
		if err != nil {
			fmt.Fprintln(os.Stderr, err)
			os.Exit(1)
		}
		os.Exit(0)
	}
	os.Exit(m.Run())
}

// has reports whether a program is in PATH.
func has(program string) bool {
	_, err := exec.LookPath(program)
	return err == nil
}

func freePort(t *testing.T) int {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	return l.Addr().(*net.TCPAddr).Port
}

// executeCell is a script that runs a cell through the websocket of a Jupyter server.
const executeCell = "../internal/e2e/testdata/cell_over_websocket.py"

// TestRealLab makes and runs a real JupyterLab as users do. It must list the kernelspec, run
// a cell and end together with its kernels. HALFNOTE_LAB_CACHE names a folder that keeps the
// environment for the next run.
func TestRealLab(t *testing.T) {
	if os.Getenv("HALFNOTE_LAB") == "" && !testenv.Requires("jupyter") {
		t.Skip("needs pip and its index: set HALFNOTE_LAB to run it")
	}
	cache := os.Getenv("HALFNOTE_LAB_CACHE")
	if cache == "" {
		cache = t.TempDir()
	}
	ctx, cancel := context.WithTimeout(t.Context(), 10*time.Minute)
	defer cancel()
	out, stderr := &lockedBuffer{}, &lockedBuffer{}
	up := make(chan bool)
	out.on("Ctrl-C ends it.", func() { close(up) })
	t.Setenv("JUPYTER_TOKEN", "secret")
	ended := make(chan error, 1)
	go func() {
		ended <- Lab(ctx, LabOptions{Port: freePort(t), NoBrowser: true, Dir: t.TempDir(), Version: "1", CacheDir: cache, Stdout: out, Stderr: stderr})
	}()
	select {
	case <-up:
	case err := <-ended:
		t.Fatalf("Lab returned early: %v\n%s", err, stderr)
	}
	_, address, _ := strings.Cut(out.String(), "\nJupyterLab: ")
	base, _, _ := strings.Cut(address, "lab?token=secret\n")

	if status, _ := getJSON(t, base+"api/kernelspecs", "wrong"); status != http.StatusForbidden {
		t.Errorf("wrong token: got status %d, want 403", status)
	}
	status, body := getJSON(t, base+"api/kernelspecs", "secret")
	specs, _ := body["kernelspecs"].(map[string]any)
	if _, ok := specs["halfnote"]; status != 200 || !ok || body["default"] != "halfnote" {
		t.Errorf("got status %d, default %v, kernelspecs %v, want halfnote among them and as the default", status, body["default"], specs)
	}
	status, offered := getJSON(t, base+"api/nbconvert", "secret")
	for name, want := range map[string]bool{
		"html": true, "markdown": true, "notebook": true, "slides": true,
		"script": true, "webpdf": false, "qtpdf": false, "qtpng": false,
		"latex": has("pandoc"), "rst": has("pandoc"), "asciidoc": has("pandoc"), "pdf": has("pandoc") && has("xelatex"),
	} {
		if _, ok := offered[name]; status != 200 || ok != want {
			t.Errorf("exporter %s: status %d, offered %v, want %v", name, status, ok, want)
		}
	}
	env, err := labRecipe.in(cache)
	if err != nil {
		t.Fatal(err)
	}
	got, err := exec.CommandContext(ctx, env.python(), executeCell, base, "secret", "result 42").CombinedOutput()
	if err != nil || string(got) != "42\n" {
		t.Errorf("cell: got %q, %v, want 42\n%s", got, err, stderr)
	}
	cancel()
	if err := <-ended; err != nil {
		t.Errorf("Lab: got error %v, want none\n%s", err, stderr)
	}
	if _, err := http.Get(base); err == nil {
		t.Error("the server is still running")
	}
}

func getJSON(t *testing.T, url, token string) (status int, body map[string]any) {
	t.Helper()
	req, err := http.NewRequest("GET", url, nil)
	if err != nil {
		t.Fatal(err)
	}
	req.Header.Set("Authorization", "token "+token)
	resp, err := http.DefaultClient.Do(req)
	if err != nil {
		t.Fatal(err)
	}
	defer resp.Body.Close()
	json.NewDecoder(resp.Body).Decode(&body)
	return resp.StatusCode, body
}

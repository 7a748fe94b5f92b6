package e2e

import (
	"context"
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"testing"

	"halfnote/install"
	"halfnote/internal/testenv"
)

// liteWalk are the cells that testdata/browser/lite.py runs.
var liteWalk = []string{
	"x := 6 * 7\nx",
	"var name string\nfmt.Scanln(&name)\nfmt.Println(\"hello\", name)",
	"fmt.Println(\"begun\")\nfor {}",
	"fmt.Println(\"x is\", x)",
	"k := widget.NewIntSlider(3, 0, 9)\nwidget.Interact(func() { fmt.Println(\"slider at\", k.Value()) }, k)",
	"import \"go/parser\"\nparser.ParseExpr(strings.Repeat(\"(\", 90000))", // compiled code that nests deeper than the stack of a browser
	"fmt.Println(\"again\")",
	"f, err := os.Create(\"kept.csv\")\nfmt.Fprintln(f, \"a,b\\n1,ø\")\nf.Close()\ntext, err := os.ReadFile(\"kept.csv\")\nfmt.Printf(\"%s%v\\n\", text, err)",
	"data.LoadCSV(\"given.csv\", data.CSVOptions{})",
	"os.WriteFile(\"/tmp/a\", make([]byte, 3), 0o600)\nos.Rename(\"/tmp/a\", \"b.npy\")\nos.Remove(\"kept.csv\")\nentries, err := os.ReadDir(\".\")\nfor _, e := range entries { fmt.Print(e.Name(), \" \") }",
	"strings.Cut?",
}

// TestLite writes a site, and runs a notebook there in a browser.
func TestLite(t *testing.T) {
	chromium := need(t, "browser", "chromium", "chromium-browser", "google-chrome", "chrome")
	if !testenv.Requires("jupyter") {
		t.Skip("needs pip and its index: set HALFNOTE_REQUIRE=jupyter to run it")
	}
	if os.Getenv("HALFNOTE_LAB_CACHE") == "" {
		t.Setenv("HALFNOTE_LAB_CACHE", t.TempDir())
	}
	contents, site := t.TempDir(), filepath.Join(t.TempDir(), "site")
	cells := []map[string]any{}
	for i, code := range liteWalk {
		cells = append(cells, map[string]any{"cell_type": "code", "id": fmt.Sprint("cell", i), "source": code, "metadata": struct{}{}, "outputs": []any{}, "execution_count": nil})
	}
	data, err := json.Marshal(map[string]any{
		"nbformat": 4, "nbformat_minor": 5, "cells": cells,
		"metadata": map[string]any{"kernelspec": map[string]string{"name": "halfnote", "display_name": "Go (halfnote)", "language": "go"}},
	})
	if err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(contents, "walk.ipynb"), data, 0o644); err != nil {
		t.Fatal(err)
	}
	if text, code := halfnote(t, "lite", "--output", site, "--dir", contents); code != 0 {
		t.Fatalf("got exit code %d\n%s", code, text)
	}
	if text, code := halfnote(t, "lite", "--output", contents, "--dir", contents); code == 0 {
		t.Errorf("a folder of something else was taken for a site\n%s", text)
	}
	expose(t, filepath.Join(site, "jupyter-lite.json"))

	ctx, stop := context.WithCancel(t.Context())
	ready, ended := make(chan string, 1), make(chan error, 1)
	go func() { ended <- install.ServeSite(ctx, site, 0, func(url string) { ready <- url }) }()
	base := <-ready
	environments, _ := filepath.Glob(filepath.Join(os.Getenv("HALFNOTE_LAB_CACHE"), "lite-*", "bin", "python"))
	if len(environments) == 0 {
		t.Fatal("JupyterLite is not installed")
	}
	args := []string{"internal/e2e/testdata/browser/lite.py", chromium, base, site}
	if shots := os.Getenv("HALFNOTE_SCREENSHOTS"); shots != "" {
		args = append(args, filepath.Join(shots, "lite.failed.png"), filepath.Join(shots, "lite"))
	}
	t.Log(runPython(t, environments[0], args...))
	stop()
	if err := <-ended; err != nil {
		t.Error(err)
	}
}

// pageFiles are the calls of testdata/lite/files.mjs below one folder, and what they return.
const pageFiles = `missing: ENOENT
write: "one ø two"
append: "one ø two!"
exclusive: EEXIST
in the middle: "one ø TWO!"
size: 11
folder: ["b"]
a folder that exists: EEXIST
a folder that is not empty: ENOTEMPTY
not a folder: ENOTDIR
`

// TestFilesOfPage calls the files of a page, below a folder in memory and below the drive of JupyterLite, as the kernel there does.
func TestFilesOfPage(t *testing.T) {
	node := need(t, "node", "node")
	got, err := exec.Command(node, "internal/e2e/testdata/lite/files.mjs", "install/lite/static/files.js").CombinedOutput()
	if err != nil {
		t.Fatalf("%v\n%s", err, got)
	}
	want := pageFiles + "rename: [[\"d\"],\"one ø TWO!\"]\nremove: []\n" +
		pageFiles + "rename: [[\"walk.ipynb\",\"folder\",\"d\"],\"one ø TWO!\"]\nremove: [\"walk.ipynb\",\"folder\"]\n" + `from memory to the drive: [[],"moved"]
a notebook: "{\"cells\":[]}"
a site without a server: ENOENT
`
	if string(got) != want {
		t.Errorf("got\n%s\nwant\n%s", got, want)
	}
}

// expose lets the script reach the application of a site.
func expose(t *testing.T, file string) {
	t.Helper()
	text, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	var config map[string]any
	if err := json.Unmarshal(text, &config); err != nil {
		t.Fatal(err)
	}
	config["jupyter-config-data"].(map[string]any)["exposeAppInBrowser"] = true
	if text, err = json.Marshal(config); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(file, text, 0o644); err != nil {
		t.Fatal(err)
	}
}

package e2e

import (
	"cmp"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
)

// TestSite reads the site of the tutorials in a browser, from files: every page fits a phone, the search finds
// sections, and its links lead to them.
func TestSite(t *testing.T) {
	t.Parallel()
	chromium := need(t, "browser", "chromium", "chromium-browser", "google-chrome", "chrome")
	python := need(t, "browser", "python3")
	if exec.Command(python, "-c", "import websocket").Run() != nil {
		need(t, "browser", "python3 with websocket-client")
	}
	dir := filepath.Join(t.TempDir(), "site")
	if out, code := halfnote(t, "site", "--dir", dir); code != 0 || !strings.Contains(out, "index.html in a browser") {
		t.Fatalf("site: exit code %d\n%s", code, out)
	}
	out, err := exec.CommandContext(t.Context(), python, "internal/e2e/testdata/browser/site.py", chromium, dir, os.Getenv("HALFNOTE_SCREENSHOTS")).CombinedOutput()
	if err != nil {
		t.Errorf("browser: %v\n%s", err, out)
	}
}

// TestPicturesOfLessons takes the README's pictures of cells. HALFNOTE_PICTURES names the folder for them, such as notebooks/images.
func TestPicturesOfLessons(t *testing.T) {
	chromium := need(t, "browser", "chromium", "chromium-browser", "google-chrome", "chrome")
	python := need(t, "browser", "python3")
	if exec.Command(python, "-c", "import PIL, websocket").Run() != nil {
		need(t, "browser", "python3 with pillow and websocket-client")
	}
	dir := filepath.Join(t.TempDir(), "site")
	if out, code := halfnote(t, "site", "--dir", dir); code != 0 {
		t.Fatalf("site: exit code %d\n%s", code, out)
	}
	pictures := cmp.Or(os.Getenv("HALFNOTE_PICTURES"), t.TempDir())
	out, err := exec.CommandContext(t.Context(), python, "internal/e2e/testdata/browser/pictures.py", chromium, dir, pictures).CombinedOutput()
	if want := "loss-scale True\nwhich-dtype True\noverflow True\n"; err != nil || string(out) != want {
		t.Errorf("got %v\n%s\nwant\n%s", err, out, want)
	}
}

// TestSiteOfAFailingNotebook checks that a site whose notebooks run first is not written if one of them fails.
func TestSiteOfAFailingNotebook(t *testing.T) {
	dir := t.TempDir()
	bad, good := filepath.Join(dir, "bad.ipynb"), filepath.Join(dir, "good.ipynb")
	for path, source := range map[string]string{bad: "panic(1)", good: "1 + 1"} {
		content := `{"nbformat": 4, "nbformat_minor": 5, "metadata": {}, "cells": [{"cell_type": "code", "id": "a", "metadata": {}, "source": "` + source + `", "outputs": [], "execution_count": null}]}`
		if err := os.WriteFile(path, []byte(content), 0o666); err != nil {
			t.Fatal(err)
		}
	}
	site := filepath.Join(dir, "site")
	index := filepath.Join(site, "index.html")
	if out, code := halfnote(t, "site", "--run", "--dir", site, good, bad); code == 0 || !strings.Contains(out, "panic") {
		t.Errorf("a failing notebook: exit code %d\n%s", code, out)
	}
	if _, err := os.Stat(index); err == nil {
		t.Error("a failing notebook: the site has an index")
	}
	if out, code := halfnote(t, "site", "--run", "--dir", site, good); code != 0 {
		t.Errorf("exit code %d\n%s", code, out)
	}
	if page, err := os.ReadFile(filepath.Join(site, "good.html")); err != nil || !strings.Contains(string(page), "<pre>2</pre>") {
		t.Errorf("page: %v\n%s", err, page)
	}
	if before, err := os.ReadFile(good); err != nil || strings.Contains(string(before), `"2"`) {
		t.Errorf("the notebook itself has changed: %v\n%s", err, before)
	}
}

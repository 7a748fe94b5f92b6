package e2e

import (
	"encoding/json"
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"halfnote/internal/testenv"
)

// catalogue returns a cell for each function of package chart that makes a chart: the body of the function's
// example, or one of moreCharts. Each cell shows its chart as a picture and in its interactive form.
func catalogue(t *testing.T) (cells []string) {
	t.Helper()
	files := token.NewFileSet()
	paths, err := filepath.Glob("display/chart/*.go")
	if err != nil || len(paths) == 0 {
		t.Fatal("no sources", err)
	}
	sources, makers := map[string]string{}, []string{}
	for _, path := range paths {
		text, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		f, err := parser.ParseFile(files, path, text, 0)
		if err != nil {
			t.Fatal(err)
		}
		for _, d := range f.Decls {
			fn, ok := d.(*ast.FuncDecl)
			if !ok || fn.Recv != nil {
				continue
			}
			if name, ok := strings.CutPrefix(fn.Name.Name, "Example"); ok && strings.HasSuffix(path, "_test.go") {
				body := string(text[files.Position(fn.Body.Lbrace).Offset+1 : files.Position(fn.Body.Rbrace).Offset])
				if source, _, ok := strings.Cut(body, "\tos.WriteFile("); ok {
					sources[name] = source
				}
			}
			if r := fn.Type.Results; fn.Name.IsExported() && r != nil && len(r.List) == 1 {
				if star, ok := r.List[0].Type.(*ast.StarExpr); ok && fmt.Sprint(star.X) == "Figure" {
					makers = append(makers, fn.Name.Name)
				}
			}
		}
	}
	slices.Sort(makers)
	for i, name := range makers {
		source := sources[name]
		if source == "" {
			if source = moreCharts[name]; source == "" {
				t.Errorf("chart.%s has neither an example nor a cell in moreCharts", name)
				continue
			}
		}
		cells = append(cells, fmt.Sprintf("{%s\nfor k, f := range []*chart.Figure{figure.Picture(), figure.Interactive()} {\ndisplay.Show(f.Title(fmt.Sprintf(\"Chart %%d: %s\", k+%d)))\n}\n}", source, name, 2*i+1))
	}
	return cells
}

// moreCharts holds cells that make the charts without an example.
var moreCharts = map[string]string{
	"DTypes": `figure := chart.DTypes([]chart.OpDType{{Name: "linear", Module: "0", DType: "float16", Casts: 2, Why: "lower"}, {Name: "mse_loss", DType: "float32", Casts: 1, Why: "fp32"}})`,
	"Needed": `figure := chart.Needed("memory", "B", []chart.Series{{Name: "float32", DType: "float32", Values: []float64{1e6, 3e6, 2e6}}, {Name: "float16", DType: "float16", Values: []float64{5e5, 2e6, 1e6}}})`,
	"Spectrum": `var grads []float32
for e := -40; e < 10; e++ {
	grads = append(grads, float32(math.Ldexp(1, e)))
}
figure := chart.Spectrum(grads)`,
	"ScaleSweep": `var shares []chart.ScaleShare
for k := range 24 {
	shares = append(shares, chart.ScaleShare{Flushed: 1 / (1 + math.Exp(float64(k-8))), Subnormal: .1, Overflow: max(0, float64(k-15)*.002)})
}
figure := chart.ScaleSweep(chart.Sweep{DType: "float16", Shares: shares, Low: 1 << 12, High: 1 << 15, Taken: []float64{65536, 32768}})`,
}

// writeNotebook writes a notebook. A cell that begins with "# " is Markdown.
func writeNotebook(t *testing.T, file string, cells []string) {
	t.Helper()
	var list []map[string]any
	for i, source := range cells {
		cell := map[string]any{"cell_type": "markdown", "id": fmt.Sprint("cell", i), "source": source, "metadata": struct{}{}}
		if !strings.HasPrefix(source, "# ") {
			cell["cell_type"], cell["outputs"], cell["execution_count"] = "code", []any{}, nil
		}
		list = append(list, cell)
	}
	data, err := json.Marshal(map[string]any{
		"nbformat": 4, "nbformat_minor": 5, "cells": list,
		"metadata": map[string]any{"kernelspec": map[string]string{"name": "halfnote", "display_name": "Go (halfnote)", "language": "go"}},
	})
	if err == nil {
		err = os.WriteFile(file, data, 0o644)
	}
	if err != nil {
		t.Fatal(err)
	}
}

// TestExportsKeepCharts checks that the page of "halfnote run" and nbconvert's HTML, Markdown, LaTeX and PDF show every
// chart of the catalogue, with its alt text and whole, as a picture and in the interactive form.
func TestExportsKeepCharts(t *testing.T) {
	python := jupyter(t, "nbconvert", "playwright", "pypdfium2", "websocket")
	chromium := need(t, "browser", "chromium", "chromium-browser", "google-chrome", "chrome")
	dir := t.TempDir()
	in, out, page := filepath.Join(dir, "in.ipynb"), filepath.Join(dir, "out.ipynb"), filepath.Join(dir, "out.html")
	cells := catalogue(t)
	writeNotebook(t, in, append([]string{`import "math"`}, cells...))
	if text, code := halfnote(t, "run", in, "--output", out, "--html", page); code != 0 {
		t.Fatalf("got exit code %d\n%s", code, text)
	}
	results := filepath.Join(dir, "results")
	if shots := os.Getenv("HALFNOTE_SCREENSHOTS"); shots != "" {
		results = filepath.Join(shots, "exports")
	}
	text, err := python("internal/e2e/testdata/jupyter/exports.py", chromium, out, page, results).Output()
	want := fmt.Sprintf(`halfnote: %d of %[1]d charts, alt texts: True, cut off: 0
nbconvert, HTML: %[1]d of %[1]d charts, alt texts: True, cut off: 0
nbconvert, Markdown: alt texts: True
nbconvert, LaTeX: %[1]d of %[1]d charts
nbconvert, PDF: titles of %[1]d of %[1]d charts
`, 2*len(cells))
	if err != nil || string(text) != want {
		t.Errorf("%v: got\n%s\nwant\n%s", err, text, want)
	}
}

// TestPrintedPagesAreLegible prints pages for a reader whose system is dark: a report, a lesson of the site, and
// nbconvert's page, which is what JupyterLab prints in any theme. Paper is white, and each character has a contrast of
// 4.5:1 on it. The page is without code and prompts, for which nbconvert has weaker colours.
func TestPrintedPagesAreLegible(t *testing.T) {
	python := jupyter(t, "nbconvert", "pypdfium2", "websocket", "numpy")
	chromium := need(t, "browser", "chromium", "chromium-browser", "google-chrome", "chrome")
	dir, shots := t.TempDir(), os.Getenv("HALFNOTE_SCREENSHOTS")
	in, out := filepath.Join(dir, "in.ipynb"), filepath.Join(dir, "out.ipynb")
	writeNotebook(t, in, []string{
		"# Printed pages\n\nA *lesson* with `code`, a [link](https://go.dev), and a table:\n\n| a | b |\n|---|---|\n| 1 | 2 |\n\n> A quotation.\n\n```go\nx := 1 // one\n```\n",
		"%theme auto\nimport \"os\"\nfmt.Println(\"a line of output\")\nfmt.Fprintln(os.Stderr, \"a warning\")\n",
		`losses := []chart.Series{{Name: "float32", DType: "float32", Values: []float64{5, 4, 3, 2.5, 2.2, 2}}, {Name: "autocast", DType: "float16", Values: []float64{5, 4.5, 3.5, 3, 2.5, 2.1}}}
chart.Loss(losses)`,
		"chart.Loss(losses).Interactive()",
		"tensor.Randn(3, 4).To(tensor.Float16)",
		`experiment.Bits(0.1)`,
		`nn.NewSequential(nn.NewLinear(64, 64), nn.NewReLU(), nn.NewLinear(64, 1))`,
		"losses[2] // fails",
	})
	report := filepath.Join(dir, "report.html")
	if text, code := halfnote(t, "run", in, "--output", out, "--html", report); code == 0 || !strings.Contains(text, "index out of range") {
		t.Fatalf("got exit code %d\n%s", code, text)
	}
	if text, code := halfnote(t, "site", "--dir", filepath.Join(dir, "site"), "notebooks/00-hello.ipynb"); code != 0 {
		t.Fatalf("site: exit code %d\n%s", code, text)
	}
	if text, err := python("-m", "nbconvert", "--to", "html", "--no-input", out, "--output", "nbconvert").CombinedOutput(); err != nil {
		t.Fatalf("nbconvert: %v\n%s", err, text)
	}
	args, want := []string{"internal/e2e/testdata/jupyter/printed.py", chromium, shots}, ""
	for _, p := range []string{"report.html", "site/00-hello.html", "nbconvert.html"} {
		args = append(args, filepath.Join(dir, p))
		for _, background := range []string{"False", "True"} {
			want += fmt.Sprintf("%s, backgrounds %s: True, weak characters 0, dark sheets []\n", filepath.Base(p), background)
		}
	}
	if text, err := python(args...).Output(); err != nil || string(text) != want {
		t.Errorf("%v: got\n%s\nwant\n%s", err, text, want)
	}
}

// TestVSCodeDrawsCharts draws every interactive chart of the catalogue with the versions of Vega that VS Code's renderer is
// built from, newer than JupyterLab's, and with that renderer's options. The renderer itself is not on npm.
func TestVSCodeDrawsCharts(t *testing.T) {
	modules := os.Getenv("HALFNOTE_VSCODE")
	if modules == "" {
		testenv.Missing(t, "vega", "HALFNOTE_VSCODE is not set to a node_modules folder with the packages of internal/e2e/testdata/vscode")
	}
	python := need(t, "browser", "python3")
	if exec.Command(python, "-c", "import websocket").Run() != nil {
		need(t, "browser", "python3 with websocket-client")
	}
	chromium := need(t, "browser", "chromium", "chromium-browser", "google-chrome", "chrome")
	dir, shot := t.TempDir(), ""
	if shots := os.Getenv("HALFNOTE_SCREENSHOTS"); shots != "" {
		shot = filepath.Join(shots, "vscode.png")
	}
	in, out := filepath.Join(dir, "in.ipynb"), filepath.Join(dir, "out.ipynb")
	cells := catalogue(t)
	writeNotebook(t, in, append([]string{`import "math"`}, cells...))
	if text, code := halfnote(t, "run", in, "--output", out); code != 0 {
		t.Fatalf("got exit code %d\n%s", code, text)
	}
	text, err := exec.CommandContext(t.Context(), python, "internal/e2e/testdata/browser/vscode.py", chromium, modules, out, filepath.Join(dir, "page.html"), shot).CombinedOutput()
	want := fmt.Sprintf("light: %d charts, %[1]d drawn, 0 of them dark\ndark: %[1]d charts, %[1]d drawn, %[1]d of them dark\nversions: 6.2.0 6.4.1 7.1.0\ncontrols: True\n", len(cells))
	if err != nil || string(text) != want {
		t.Errorf("%v: got\n%s\nwant\n%s", err, text, want)
	}
}

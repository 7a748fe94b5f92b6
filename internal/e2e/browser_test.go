package e2e

import (
	"encoding/json"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
)

// browserCells train a network under autocast.
var browserCells = []string{`tensor.ManualSeed(2)
net := nn.NewSequential(nn.NewLinear(16, 32), nn.NewReLU(), nn.NewLinear(32, 4))
opt, lossFn, scaler := optim.NewSGD(nn.Parameters(net), 0.1), nn.NewMSELoss(), amp.NewGradScaler()
x, y := tensor.Randn(8, 16), tensor.Randn(8, 4)`,
	`for range 3 {
	var loss *tensor.Tensor
	amp.Autocast(amp.Float16, func() { loss = lossFn.Forward(net.Forward(x), y) })
	scaler.Scale(loss).Backward()
	scaler.Step(opt)
	scaler.Update()
	opt.ZeroGrad()
	fmt.Println(loss.DType(), loss.Item())
}`,
	"net",
}

// TestCellsInNode runs cells in one process compiled for js/wasm, in Node, and with the program here. Both print the same.
func TestCellsInNode(t *testing.T) {
	need(t, "node", "node")
	root, err := exec.Command("go", "env", "GOROOT").Output()
	if err != nil {
		t.Fatal(err)
	}
	node := filepath.Join(strings.TrimSpace(string(root)), "lib", "wasm", "go_js_wasm_exec")
	dir := t.TempDir()
	page := filepath.Join(dir, "page.wasm")
	build := exec.Command("go", "build", "-o", page, "./internal/systems/page")
	build.Env = append(os.Environ(), "GOOS=js", "GOARCH=wasm", "CGO_ENABLED=0")
	if out, err := build.CombinedOutput(); err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	run := exec.Command(node, append([]string{page}, browserCells...)...)
	run.Env = []string{"PATH=" + os.Getenv("PATH")} // arguments and environment together may have 8 KiB there
	var failure strings.Builder
	run.Stderr = &failure
	got, err := run.Output()
	if err != nil {
		t.Fatalf("%v\n%s%s", err, got, failure.String())
	}

	cells := []map[string]any{}
	for _, c := range browserCells {
		cells = append(cells, map[string]any{"cell_type": "code", "metadata": map[string]any{}, "outputs": []any{}, "execution_count": nil, "source": c})
	}
	data, err := json.Marshal(map[string]any{"cells": cells, "metadata": map[string]any{}, "nbformat": 4, "nbformat_minor": 4})
	if err != nil {
		t.Fatal(err)
	}
	file := filepath.Join(dir, "cells.ipynb")
	if err := os.WriteFile(file, data, 0o644); err != nil {
		t.Fatal(err)
	}
	if text, code := halfnote(t, "run", file, "--output", file); code != 0 {
		t.Fatalf("got exit code %d\n%s", code, text)
	}
	if want := readExecuted(t, file).printed(); string(got) != want || !strings.Contains(want, "float32") {
		t.Errorf("in Node:\n%s\nhere:\n%s", got, want)
	}
}

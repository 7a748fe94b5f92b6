package e2e

import (
	"encoding/json"
	"image/png"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"halfnote/internal/bench"
)

// TestBench runs the command bench on small work without a peer.
func TestBench(t *testing.T) {
	chart := filepath.Join(t.TempDir(), "bench.png")
	exe, err := program()
	if err != nil {
		t.Fatal(err)
	}
	out, err := exec.Command(exe, "bench", "gemm", "--json", "--peer", "none", "--match", `64\^3 NN float`, "--threads", "1", "--rounds", "2", "--chart", chart).Output()
	if err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	var rows bench.Rows
	if err := json.Unmarshal(out, &rows); err != nil || len(rows) != 2 || rows[0].Work != "gemm 64^3 NN" || rows[0].Unit != "GFLOP/s" || !(rows[0].Ours > 0) || rows[0].PeerName != "" {
		t.Errorf("got %v, %s, want a row for float32 and one for float16", err, out)
	}
	file, err := os.Open(chart)
	if err != nil {
		t.Fatal(err)
	}
	defer file.Close()
	if _, err := png.DecodeConfig(file); err != nil {
		t.Errorf("chart of gemm: %v", err)
	}
	for _, c := range []struct{ args, want string }{
		{"bench gemm --peer none --match nothing", "no row"},
		{"bench gem", "gemm"},
		{"bench gemm --peer gonum", "gonum"},
		{"bench mlp --python /nowhere/python --match step", "/nowhere/python"},
	} {
		if out, code := halfnote(t, strings.Fields(c.args)...); code == 0 || !strings.Contains(out, c.want) {
			t.Errorf("%s: got exit code %d, want an error that contains %q in\n%s", c.args, code, c.want, out)
		}
	}
}

// TestBenchCells measures a cell in a kernel.
func TestBenchCells(t *testing.T) {
	chart := filepath.Join(t.TempDir(), "cells.svg")
	table, code := halfnote(t, "bench", "cell", "--peer", "none", "--match", `1 \+ 1`, "--rounds", "1", "--chart", chart)
	if code != 0 || !strings.Contains(table, "1 + 1, request to idle") || !strings.Contains(table, "spread") {
		t.Errorf("bench cell: got exit code %d, want 0 and a table of cells\n%s", code, table)
	}
	if svg, err := os.ReadFile(chart); err != nil || !strings.Contains(string(svg), "<svg") {
		t.Errorf("chart of cells: %v", err)
	}
}

package notebook

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// TestFormatFiles checks that only code cells change, that a cell that cannot be formatted stays
// and is named, and that a notebook without a change is not written.
func TestFormatFiles(t *testing.T) {
	dir := t.TempDir()
	upper := func(code string) (string, error) {
		if strings.Contains(code, "wrong") {
			return "", errors.New("does not parse")
		}
		return strings.ToUpper(code), nil
	}
	write := func(name, text string) string {
		file := filepath.Join(dir, name)
		if err := os.WriteFile(file, []byte(text), 0o666); err != nil {
			t.Fatal(err)
		}
		return file
	}
	const head = `{"nbformat": 4, "nbformat_minor": 5, "metadata": {}, "cells": [`
	changing := write("a.ipynb", head+`{"id": "a", "cell_type": "markdown", "metadata": {}, "source": "text"},
		{"id": "b", "cell_type": "code", "metadata": {"own": 1}, "execution_count": 3, "outputs": [], "source": "x := 1"},
		{"id": "c", "cell_type": "code", "metadata": {}, "execution_count": null, "outputs": [], "source": "wrong"}]}`)
	same := write("b.ipynb", head+`{"id": "a", "cell_type": "code", "metadata": {}, "execution_count": null, "outputs": [], "source": "X"}]}`)
	before, _ := os.ReadFile(same)
	changed, err := FormatFiles([]string{changing, same}, upper, false)
	if len(changed) != 1 || changed[0] != changing {
		t.Errorf("got the changed files %q, want %q", changed, changing)
	}
	if err == nil || !strings.Contains(err.Error(), "a.ipynb: code cell 2: does not parse") {
		t.Errorf("got the error %v, want one that names code cell 2 of a.ipynb", err)
	}
	if nb, err := ReadFile(changing); err != nil || nb.Cells[1].Source != "x := 1" {
		t.Errorf("without write: got %v, %v, want the file unchanged", nb, err)
	}
	if _, err := FormatFiles([]string{changing, same}, upper, true); err == nil {
		t.Error("got no error for a cell that cannot be formatted")
	}
	nb, err := ReadFile(changing)
	if err != nil {
		t.Fatal(err)
	}
	for i, want := range []string{"text", "X := 1", "wrong"} {
		if got := nb.Cells[i].Source; got != want {
			t.Errorf("cell %d: got %q, want %q", i, got, want)
		}
	}
	if nb.Cells[1].Count != 3 || nb.Cells[1].Metadata["own"] == nil {
		t.Errorf("got %+v, want the count and metadata kept", nb.Cells[1])
	}
	if after, _ := os.ReadFile(same); string(after) != string(before) {
		t.Error("a notebook without a change was written")
	}
}

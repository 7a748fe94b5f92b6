package main

import (
	"errors"
	"os"
	"path/filepath"
	"testing"

	"halfnote/interp"
)

// TestAvailable asks another program whether it compiles cells, as it is asked that has been built for a GPU.
func TestAvailable(t *testing.T) {
	dir := t.TempDir()
	program := func(name, script string) string {
		file := filepath.Join(dir, name)
		if err := os.WriteFile(file, []byte("#!/bin/sh\n[ \"$*\" = cells ] && "+script+"\n"), 0o777); err != nil {
			t.Fatal(err)
		}
		return file
	}
	yes := program("yes", "exit 0")
	no := program("no", "{ echo 'halfnote: the reason' >&2; exit 1; }")
	for _, tt := range []struct{ program, engine, want string }{
		{yes, interp.Compiled, ""},
		{no, interp.Compiled, "--engine native: cells cannot be compiled: the reason"},
		{no, interp.Engines[0], ""},
	} {
		err := available(t.Context(), tt.program, tt.engine)
		got := ""
		if missing := (*engineError)(nil); errors.As(err, &missing) {
			got = missing.Error()
		}
		if got != tt.want || (err != nil) != (tt.want != "") {
			t.Errorf("%s, %s: got %v, want %q", tt.program, tt.engine, err, tt.want)
		}
	}
	if err := available(t.Context(), filepath.Join(dir, "none"), interp.Compiled); err == nil {
		t.Error("a program that does not exist: got no error")
	}
	for program, want := range map[string]string{yes: interp.Compiled, no: ""} {
		if got := secondEngine(t.Context(), program, interp.Engines[0]); got != want {
			t.Errorf("the second engine of %s: got %q, want %q", program, got, want)
		}
	}
}

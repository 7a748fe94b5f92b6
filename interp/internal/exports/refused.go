package exports

import "fmt"

// refused says why cells cannot import packages of the standard library that no engine can give them, and what serves instead.
var refused = map[string]string{
	"embed":                  "files are embedded by a build, and a cell has none: read them with os.ReadFile, or os.DirFS for a whole folder",
	"log/syslog":             "it is not for every system: write to the log with os/exec and the command logger, or send to its port with net",
	"net/http/pprof":         "importing it would publish profiles of the kernel: %prun shows a profile of a cell, and runtime/pprof writes one",
	"plugin":                 "a cell cannot link a program's plugins: import the source of the package",
	"runtime/cgo":            "cells cannot use cgo: write the code in Go, or run a program with os/exec",
	"runtime/coverage":       "the kernel is not built for coverage: go test -cover measures packages of your module",
	"runtime/race":           "the kernel is not built with the race detector: go test -race checks packages of your module",
	"syscall":                "it goes around Go's types and differs between systems: os, os/exec, os/signal and net do the same for every system",
	"testing/cryptotest":     "it changes the source of random numbers for a test that go test runs: take math/rand/v2 with a seed where a cell needs the same numbers again",
	"crypto/mlkem/mlkemtest": "it is for tests of crypto/mlkem, which cells can import",
	"testing/synctest":       "its bubbles are for tests that go test runs: pass times as values, or wait on channels",
	"time/tzdata":            "the database of time zones is the system's: install its package tzdata, or set ZONEINFO to the file lib/time/zoneinfo.zip of a Go installation",
	"unsafe":                 "it goes around Go's types: math.Float64bits and encoding/binary give the bits of values, and reflect their types, sizes and alignments",
	"weak":                   "a weak pointer belongs to the collector, and the session keeps the values of its variables: hold a key and look the value up in a map, or delete the entry yourself",
}

// Refused returns the error for a package of the standard library that cells cannot import on any engine, or nil.
func Refused(path string) error {
	if e, _ := find(path); e.system {
		return fmt.Errorf("package %q is not available in a browser tab, whose program leaves out what needs sockets, processes, databases, object files or public keys: run the notebook in a kernel on your computer", path)
	}
	if why := refused[path]; why != "" {
		return fmt.Errorf("package %q is not available in cells: %s", path, why)
	}
	return nil
}

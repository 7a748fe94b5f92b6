package main

import (
	"encoding/json"
	"errors"
	"io"
	"os"
	"os/exec"
	"path"
	"slices"
	"strings"
	"testing"

	"halfnote/internal/testenv"
)

// rules lists the allowed imports: "a, b < c, d" allows c and d to import a and b, but
// not the packages that a and b import. A trailing "/..." means the package and all
// packages below it. STD is the standard library, "everything" is every package. A
// package that is on no right-hand side may import nothing.
//
// The rules are the design: a change that breaks a rule is wrong, not the rule.
const rules = `
STD < tensor/driver, tensor/internal/..., display, internal/goid, internal/near, internal/text
internal/text < display, internal/receipt, tensor/driver, tensor/internal/..., tensor, tensor/nn, tensor/optim, tensor/data, cuda/internal/gpu, display/chart, amp, amp/diagnose, amp/experiment, amp/trace, interp, interp/internal/live, interp/internal/exports, interp/internal/assist, interp/internal/front, notebooks/notebook
STD < internal/plumbing, internal/save
STD < internal/receipt
internal/receipt < amp/trace, amp/diagnose, notebooks/notebook, interp/internal/magic
internal/save < tensor/data, display/chart, amp/trace, notebooks/exercise, notebooks/notebook, interp/internal/magic, install
internal/plumbing < tensor, tensor/nn, tensor/optim, tensor/data, tensor/quant, amp/..., dist, internal/bench, interp/internal/symbols
x/sys < tensor/internal/asm
tensor/internal/asm/gen/ssa < tensor/internal/asm/gen
float16 < tensor/internal/half
internal/goid < tensor/internal/scope, amp/trace, amp/diagnose, interp/internal/live, interp/internal/fatal, interp/internal/native/loader
tensor/driver, tensor/internal/half, tensor/internal/elementary, tensor/internal/asm < tensor/internal/cpu
tensor/driver, tensor/internal/elementary < tensor/internal/linalg
STD, tensor/driver, tensor/internal/... < tensor
STD, tensor < tensor/nn, tensor/optim, tensor/data, tensor/autograd, tensor/quant
STD, tensor, tensor/nn < tensor/nn/models
tensor/driver, tensor/quant, x/text < tensor/data
tensor/driver, tensor/internal/asm < tensor/quant
tensor/quant < tensor/optim
tensor/driver < tensor/nn
STD, tensor, tensor/nn, tensor/nn/models, tensor/optim, tensor/data < tensor/torchtest
STD, tensor/driver, tensor/internal/half < tensor/drivertest
STD, tensor/driver, tensor, tensor/nn, tensor/quant, display, internal/near < amp
STD, tensor/driver, cuda/internal/... < cuda
STD, cuda/internal/link < cuda/internal/lt
STD, tensor/driver, cuda/kernels, cuda/internal/drv, cuda/internal/lt < cuda/internal/gpu
STD, tensor/driver, cuda/kernels/source < cuda/kernels/...
STD < cuda/internal/link/...
STD, cuda/internal/link, cu < cuda/internal/drv
STD < cuda/internal/ptx
STD, cuda/internal/ptx < cuda/internal/fake
STD, cuda, cuda/internal/fake < cuda/cudatest
STD, display, gonum/plot, fonts < display/chart
STD, display < display/widget
STD, amp, display, tensor, tensor/nn < amp/apex
STD, amp, display, tensor, tensor/driver, tensor/nn < amp/fp8
STD, display, display/chart < amp/roofline
STD, amp, dist, tensor, tensor/nn, display, display/chart, amp/roofline, protowire < amp/trace
STD, amp, dist, tensor, tensor/nn, tensor/optim, tensor/quant, display, display/chart, display/widget, amp/trace < amp/diagnose
STD, amp, amp/apex, cuda, tensor, tensor/nn, tensor/nn/models, tensor/optim, tensor/data, tensor/quant, display, display/chart, display/widget, amp/fp8, amp/trace, amp/roofline < amp/experiment
STD, x/sys, amp, cuda, display, display/chart, tensor, tensor/nn, tensor/nn/models, tensor/optim, tensor/quant, kernel/client < internal/bench

STD, purego < dist/internal/mpi
STD, dist/internal/mpi < dist/internal/mpi/mpitest
STD, dist/internal/mpi, tensor/driver < dist/internal/nccl
STD, amp, dist/internal/mpi, dist/internal/nccl, tensor, tensor/driver, tensor/nn, tensor/optim, tensor/data < dist

STD, display < kernel/eval
STD, nacl < kernel/curve
STD, kernel/curve, zmq4 < kernel/guard
STD, display, kernel/eval < kernel
STD, kernel, kernel/curve, kernel/guard, zmq4, sqlite < kernel/jupyter
STD, kernel, kernel/jupyter, kernel/curve, kernel/guard, display, zmq4 < kernel/client
STD, kernel < kernel/worker
STD, kernel, kernel/jupyter, kernel/curve < kernel/remote
STD, kernel, display < kernel/ranks
STD, kernel, kernel/jupyter, kernel/client, kernel/curve, display, x/tools < kernel/kerneltest
STD < interp/internal/engine, interp/internal/clone, interp/internal/proof
STD, interp/internal/mapaccess, interp/internal/typemaker, interp/internal/words < interp/internal/dynamic
STD, interp/internal/engine, interp/internal/clone, interp/internal/dynamic, x/tools < interp/internal/lower
STD, interp/internal/lower < interp/internal/lower/core
STD, display, kernel/eval, interp/internal/engine < interp/internal/live
STD, internal/goid, internal/receipt, interp/internal/dynamic, tensor, tensor/nn < interp/internal/hashes
STD < interp/internal/ansi
STD, internal/near, display, kernel/eval, interp/internal/lower, interp/internal/exports, interp/internal/library, interp/internal/peek, interp/internal/syntax < interp/internal/assist
STD, interp/internal/dynamic < interp/internal/loggers, interp/internal/peek
STD < interp/internal/history, interp/internal/shell, interp/internal/words
STD, display, internal/text, interp/internal/engine, interp/internal/dynamic, interp/internal/mapaccess, interp/internal/peek, interp/internal/words < interp/internal/render
STD, interp/internal/syntax < interp/internal/files
STD, interp/internal/engine, interp/internal/lower, interp/internal/front, interp/internal/history, interp/internal/syntax < interp/internal/places
STD, internal/text, kernel/eval, interp/internal/engine, interp/internal/ansi, interp/internal/dynamic, interp/internal/exports, interp/internal/front, interp/internal/live, interp/internal/mapaccess, interp/internal/peek, interp/internal/places, interp/internal/symbols, interp/internal/syntax, interp/internal/words < interp/internal/failure
STD, internal/near, internal/text, display, kernel/eval, pprof, interp/internal/ansi, interp/internal/assist, interp/internal/debug, interp/internal/export, interp/internal/files, interp/internal/front, interp/internal/hashes, interp/internal/hints, interp/internal/history, interp/internal/live, interp/internal/shell, interp/internal/stdio, interp/internal/syntax < interp/internal/magic
STD, interp/internal/engine, interp/internal/lower, interp/internal/exports, interp/internal/files, interp/internal/front, interp/internal/history, interp/internal/syntax < interp/internal/export
STD, kernel/eval, interp/internal/engine, interp/internal/lower, interp/internal/assist, interp/internal/front, interp/internal/history, interp/internal/live, interp/internal/syntax < interp/internal/debug
STD, kernel/eval, interp/internal/dynamic, interp/internal/live < interp/internal/stdio
STD, interp/internal/lower, interp/internal/ansi < interp/internal/syntax
STD, internal/near, x/tools, interp/internal/exports, interp/internal/syntax < interp/internal/hints
STD, x/tools, interp/internal/engine, interp/internal/lower, interp/internal/clone, interp/internal/dynamic, interp/internal/exports, interp/internal/hints, interp/internal/library, interp/internal/live, interp/internal/syntax < interp/internal/front
STD < interp/internal/mapaccess, interp/internal/typemaker
STD, interp/internal/engine, interp/internal/mapaccess, interp/internal/words, yaegi < interp/internal/yaegi
STD < interp/internal/native/object, interp/internal/native/toolchain
STD, interp/internal/native/object, interp/internal/native/toolchain < interp/internal/native/loader, interp/internal/native/carry
STD, interp/internal/engine, interp/internal/clone, interp/internal/native/..., x/tools < interp/internal/native
STD, interp/internal/native/loader < interp/internal/fatal
STD, display, display/widget, interp/internal/debug, interp/internal/dynamic, interp/internal/engine, interp/internal/fatal, interp/internal/front, interp/internal/history, interp/internal/live, interp/internal/loggers, interp/internal/lower, interp/internal/mapaccess, interp/internal/stdio, interp/internal/symbols, interp/internal/words < interp/internal/support
STD, x/tools, internal/near < interp/internal/exports/...
STD, interp/internal/lower, interp/internal/exports/..., x/mod < interp/internal/library/...
interp/internal/library < interp/internal/library/gen
interp/internal/exports/... < interp/internal/exports/gen, interp/internal/symbols/...
STD, float16, interp/internal/dynamic, tensor, tensor/autograd, tensor/nn, tensor/nn/models, tensor/optim, tensor/data, tensor/quant, amp, amp/apex, amp/fp8, amp/trace, amp/roofline, amp/diagnose, amp/experiment, cuda, display, display/chart, display/widget, dist, notebooks/exercise < interp/internal/symbols/...
STD, display, display/widget, kernel/eval, internal/near, interp/internal/..., x/tools < interp

STD, tensor, tensor/nn, tensor/optim, amp, amp/apex, amp/trace, amp/roofline, display < notebooks/exercise
STD < notebooks
STD, kernel/client, goldmark < notebooks/notebook
STD, flock < install/...
install/wheel < install, internal/wheel
install, internal/release < internal/wheel
STD < internal/release, internal/wheel
STD < internal/e2e, internal/newgo, internal/systems, internal/testenv
STD, amp, internal/plumbing, internal/release, interp, kernel, kernel/worker, tensor/driver < internal/lite
everything < .
`

// modules are the names that rules use for packages of other modules.
var modules = map[string][]string{
	"cu":         {"gorgonia.org/cu"},
	"float16":    {"github.com/x448/float16"},
	"flock":      {"github.com/gofrs/flock"},
	"fonts":      {"codeberg.org/go-fonts/dejavu", "golang.org/x/image"},
	"goldmark":   {"github.com/yuin/goldmark"},
	"gonum/plot": {"gonum.org/v1/plot"},
	"nacl":       {"golang.org/x/crypto/nacl/secretbox", "golang.org/x/crypto/salsa20/salsa"},
	"pprof":      {"github.com/google/pprof/profile"},
	"purego":     {"github.com/ebitengine/purego"},
	"protowire":  {"google.golang.org/protobuf/encoding/protowire"},
	"sqlite":     {"modernc.org/sqlite"},
	"x/mod":      {"golang.org/x/mod"},
	"x/sys":      {"golang.org/x/sys"},
	"x/text":     {"golang.org/x/text"},
	"x/tools":    {"golang.org/x/tools"},
	"yaegi":      {"github.com/traefik/yaegi"},
	"zmq4":       {"github.com/go-zeromq/zmq4"},
}

func TestImports(t *testing.T) {
	allowed := parseRules(t)
	tracked := map[string]bool{}
	for _, file := range testenv.Tracked(t, ".") {
		tracked[path.Dir(file)] = true
	}
	for _, p := range listPackages(t) {
		name := strings.TrimSuffix(strings.TrimPrefix(p.ImportPath+"/", "halfnote/"), "/")
		if name == "" {
			name = "."
		}
		if !tracked[name] {
			continue // a user's own package
		}
		var may []string
		known := false
		for _, r := range allowed {
			if slices.ContainsFunc(r.importers, func(pattern string) bool { return matches(pattern, name) }) {
				may, known = append(may, r.imported...), true
			}
		}
		if !known {
			t.Errorf("%s: missing in the rules; add it to a right-hand side", name)
			continue
		}
		for _, imp := range p.Imports {
			if !slices.ContainsFunc(may, func(pattern string) bool { return provides(pattern, imp) }) {
				t.Errorf("%s imports %s: the rules do not allow it", name, imp)
			}
		}
	}
}

// absent lists what a page in a browser has no use for: sockets, keys, databases, processes, MPI and GPUs.
var absent = []string{
	"github.com/ebitengine/purego", "github.com/go-zeromq/zmq4", "gorgonia.org/cu", "modernc.org/sqlite",
	"halfnote/cuda/internal", "halfnote/kernel/curve", "halfnote/kernel/guard", "halfnote/kernel/jupyter",
}

// TestPage checks what is linked into the program of a page.
func TestPage(t *testing.T) {
	cmd := exec.Command("go", "list", "-deps", "./internal/lite")
	cmd.Env = append(os.Environ(), "GOOS=js", "GOARCH=wasm", "CGO_ENABLED=0")
	out, err := cmd.Output()
	if e := (*exec.ExitError)(nil); errors.As(err, &e) {
		t.Fatalf("go list: %v\n%s", err, e.Stderr)
	} else if err != nil {
		t.Skipf("needs the go command: %v", err)
	}
	if !strings.Contains(string(out), "\nsyscall/js\n") {
		t.Errorf("syscall/js is missing: the list is not that of a page\n%s", out)
	}
	for path := range strings.Lines(string(out)) {
		path = strings.TrimSpace(path)
		if slices.ContainsFunc(absent, func(a string) bool { return path == a || strings.HasPrefix(path, a+"/") }) {
			t.Errorf("%s is linked into the program of a page", path)
		}
	}
}

// matches reports whether a pattern of the rules covers a package of this module.
func matches(pattern, name string) bool {
	if below, ok := strings.CutSuffix(pattern, "/..."); ok {
		return name == below || strings.HasPrefix(name, below+"/")
	}
	return pattern == name
}

// provides reports whether a left-hand name covers an import path.
func provides(pattern, path string) bool {
	own, isOwn := strings.CutPrefix(path+"/", "halfnote/")
	own = strings.TrimSuffix(own, "/")
	switch {
	case pattern == "everything":
		return true
	case pattern == "STD":
		first, _, _ := strings.Cut(path, "/")
		return !isOwn && !strings.Contains(first, ".")
	case modules[pattern] != nil:
		return slices.ContainsFunc(modules[pattern], func(m string) bool { return path == m || strings.HasPrefix(path, m+"/") })
	}
	return isOwn && matches(pattern, own)
}

type rule struct{ imported, importers []string }

func parseRules(t *testing.T) (list []rule) {
	t.Helper()
	for line := range strings.Lines(rules) {
		line = strings.TrimSpace(line)
		if line == "" {
			continue
		}
		left, right, ok := strings.Cut(line, " < ")
		if !ok {
			t.Fatalf("rule %q: want imported < importers", line)
		}
		list = append(list, rule{strings.Split(left, ", "), strings.Split(right, ", ")})
	}
	return list
}

type listed struct {
	ImportPath string
	Imports    []string
}

// listPackages lists every package without and with the tag cuda. It asks the go
// command, so that build constraints apply as in a build.
func listPackages(t *testing.T) []listed {
	t.Helper()
	return append(listTagged(t, ""), listTagged(t, "cuda")...)
}

func listTagged(t *testing.T, tag string) (list []listed) {
	t.Helper()
	out, err := exec.Command("go", "list", "-e", "-tags="+tag, "-json=ImportPath,Imports", "./...").Output()
	if err != nil {
		var e *exec.ExitError
		if errors.As(err, &e) {
			t.Fatalf("go list: %v\n%s", err, e.Stderr)
		}
		t.Skipf("needs the go command: %v", err)
	}
	for d := json.NewDecoder(strings.NewReader(string(out))); ; {
		var p listed
		switch err := d.Decode(&p); {
		case errors.Is(err, io.EOF):
			return list
		case err != nil:
			t.Fatal(err)
		}
		list = append(list, p)
	}
}

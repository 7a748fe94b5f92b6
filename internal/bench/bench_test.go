package bench

import (
	"context"
	"errors"
	"fmt"
	"io"
	"maps"
	"os"
	"os/exec"
	"regexp"
	"slices"
	"strings"
	"testing"

	"halfnote/internal/testenv"
)

// TestMain makes the test binary halfnote's side if it is started with "work", and a peer if
// it is started as Python is, with the program, the library, the number of threads and the
// device. The variable FAKE selects how the peer fails.
func TestMain(m *testing.M) {
	switch {
	case len(os.Args) == 3 && os.Args[1] == "work":
		if err := Serve(os.Args[2], os.Stdin, os.Stdout); err != nil {
			fmt.Fprintln(os.Stderr, err)
			os.Exit(1)
		}
	case len(os.Args) == 7 && os.Args[1] == "-u":
		fake(os.Getenv("FAKE"))
	default:
		os.Exit(m.Run())
	}
}

// fake runs a peer: halfnote's own side, or one that fails.
func fake(how string) {
	switch how {
	case "dies":
		fmt.Fprintln(os.Stderr, "no module named torch")
		os.Exit(3)
	case "babbles":
		fmt.Println("Welcome!")
	case "cannot":
		fmt.Print(`{"about": "a peer"}` + "\n" + `{"error": "NotImplementedError: no products"}` + "\n")
		fmt.Scanln() // end of the requests
		select {}
	case "differs":
		a := `{"ns": 9000000, "losses": [7]}` + "\n"
		fmt.Print(`{"about": "a peer"}` + "\n{}\n" + a + a + a)
		select {}
	default:
		Serve("cpu", os.Stdin, os.Stdout)
	}
}

// options returns the settings of a short measurement.
func options(t *testing.T, match string, peers ...string) Options {
	exe, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	return Options{Device: "cpu", Peers: peers, Threads: []int{1}, Rounds: 2, Match: regexp.MustCompile(match), Python: exe, Worker: []string{exe, "work"}, Log: io.Discard}
}

// small returns steps of a network of 64 features, and a product that is compared with one of
// halfnote's.
func small() []task {
	t := multiply([]int{8, 8, 8}, "NT", "float16")
	t.name = "gemm 8x8x8 NT"
	t.own = []rival{{"own float32", multiply([]int{8, 8, 8}, "NT", "float32").spec, t.amount}}
	return append(steps("mlp", []int{8, 64, 3}), t)
}

func TestRun(t *testing.T) {
	for _, c := range []struct {
		subject, match string
		peers          []string
		want           []string // work, dtype and peer of each row
	}{
		{"gemm", `64\^3 NN float(32|16)$`, nil, []string{"gemm 64^3 NN float32 ", "gemm 64^3 NN float16 "}},
		{"gemm", `64\^3 NN float32$`, []string{"torch", "openblas"}, []string{"gemm 64^3 NN float32 openblas", "gemm 64^3 NN float32 torch"}},
		{"ops", `^(add|to float16) 131072 float32$`, []string{"torch"}, []string{
			"add 131072 float32 copy", "add 131072 float32 torch", "to float16 131072 float32 copy", "to float16 131072 float32 torch",
		}},
		{"formats", `quantise mxfp4`, []string{"torch"}, []string{
			"quantise mxfp4 float32 copy", "quantise mxfp4 float32 torch", "de-quantise mxfp4 float32 copy", "de-quantise mxfp4 float32 torch",
		}},
		{"ops", `16 numbers, tape, forward and`, []string{"torch"}, []string{"16 numbers, tape, forward and backward float32 torch"}},
		{"small", `gemm`, nil, []string{"gemm 8x8x8 NT float16 own float32"}},
		{"small", `bfloat16`, []string{"torch"}, []string{
			"mlp step bfloat16 torch", "mlp step, peak memory bfloat16 torch", "mlp step, peak memory of tensors bfloat16 ",
		}},
	} {
		o := options(t, c.match, c.peers...)
		run := func() (Rows, error) { return Run(t.Context(), c.subject, o) }
		if c.subject == "small" {
			run = func() (Rows, error) { return o.measure(t.Context(), small(), 1) }
		}
		rows, err := run()
		if err != nil {
			t.Fatalf("%s: %v", c.subject, err)
		}
		var got []string
		for _, r := range rows {
			peer := r.PeerName
			if strings.HasPrefix(peer, "openblas ") { // the name of its kernels, which depend on the processor
				peer = "openblas"
			}
			if peer == "own" {
				peer = r.PeerName
			}
			if name := r.Work + " " + r.DType + " " + peer; !slices.Contains(got, name) {
				got = append(got, name)
			}
			if !(r.Ours > 0) || r.Threads != 1 || (r.PeerName != "") != (r.Ratio > 0 && r.Peer > 0) {
				t.Errorf("%s: got row %+v, want positive numbers", c.subject, r)
			}
		}
		if peaks := strings.Contains(c.want[len(c.want)-1], "peak"); peaks && len(got) == 1 {
			continue // only Linux has /proc
		}
		if !slices.Equal(got, c.want) {
			t.Errorf("%s %s: got %q, want %q", c.subject, c.match, got, c.want)
		}
	}
}

// TestPeerFails runs peers that die, print other text, cannot do the work, or compute other
// losses.
func TestPeerFails(t *testing.T) {
	for _, c := range []struct{ how, subject, match, want string }{
		{"dies", "gemm", `64\^3 NN float32$`, "no module named torch"},
		{"babbles", "gemm", `64\^3 NN float32$`, "did not reply to about"},
		{"differs", "small", `step float32$`, "losses of the first steps"},
	} {
		t.Setenv("FAKE", c.how)
		list := tasks[c.subject]
		if list == nil {
			list = func(bool) []task { return small() }
		}
		_, err := options(t, c.match, "torch").measure(t.Context(), list(false), 1)
		if err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("a peer that %s: got error %v, want it to contain %q", c.how, err, c.want)
		}
	}
	t.Setenv("FAKE", "cannot")
	rows, err := Run(t.Context(), "gemm", options(t, `64\^3 NN float32$`, "torch"))
	if err != nil || len(rows) != 1 || rows[0].PeerName != "" {
		t.Errorf("a peer that cannot do the work: got %v, %v, want only halfnote's row", rows, err)
	}
}

func TestRunEnds(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := Run(ctx, "gemm", options(t, "64")); !errors.Is(err, context.Canceled) {
		t.Errorf("after the end of its context: got error %v, want the context's", err)
	}
	many := options(t, "64")
	many.Threads = []int{1000}
	if _, err := Run(t.Context(), "gemm", many); err == nil || !strings.Contains(err.Error(), "1000 threads") {
		t.Errorf("1000 threads: got error %v, want it to contain %q", err, "1000 threads")
	}
	if _, err := Run(t.Context(), "gem", options(t, "64")); err == nil || !strings.Contains(err.Error(), "gemm, ops") {
		t.Errorf("unknown subject: got error %v, want it to list the subjects", err)
	}
}

// withoutPeer are the formats that torchao quantises otherwise, not on a CPU, or not at all.
var withoutPeer = []string{"mxint8", "nvfp4 16x16", "nvfp4 stochastic", "float8 1x128", "float8 128x128"}

// TestTasks checks the tables of tasks: each name occurs once, and both sides know every
// operation.
func TestTasks(t *testing.T) {
	all := maps.Clone(tasks)
	for _, subject := range []string{"mlp", "resnet", "bert"} {
		all[subject+" on GPUs"] = func(full bool) []task { return gpuSteps(subject, full) }
	}
	for subject, list := range all {
		for _, full := range []bool{false, true} {
			seen := map[string]bool{}
			for _, task := range list(full) {
				name := task.name + " " + task.spec.DType
				if seen[name] {
					t.Errorf("%s: two rows are named %q", subject, name)
				}
				seen[name] = true
				_, optimizer := optimizers[task.spec.Op]
				if _, name, _ := strings.Cut(task.spec.Op, " "); task.spec.Work == "format" && !strings.Contains(peerProgram, `"`+name+`"`) && !slices.Contains(withoutPeer, name) {
					t.Errorf("%s: peer.py does not know %q", subject, name)
				}
				if _, known := operations[task.spec.Op]; task.spec.Work == "op" && !known && !optimizer && task.spec.Op != "unscale" {
					t.Errorf("%s: operation %q is unknown", subject, task.spec.Op)
				}
			}
		}
	}
	for _, op := range append(slices.Collect(maps.Keys(operations)), slices.Collect(maps.Keys(optimizers))...) {
		if !strings.Contains(peerProgram, `"`+op+`":`) {
			t.Errorf("peer.py does not know the operation %q", op)
		}
	}
}

// TestPeers runs the real libraries, with the Python that PYTHON names or the one on PATH.
func TestPeers(t *testing.T) {
	python := os.Getenv("PYTHON")
	if python == "" {
		python = "python3"
	}
	if out, err := exec.Command(python, "-c", "import torch, numpy").CombinedOutput(); err != nil {
		testenv.Missing(t, "torch", "needs a Python with PyTorch and numpy: name it in PYTHON; HALFNOTE_REQUIRE=torch makes this a failure: ", err, "\n", string(out))
	}
	var all Rows
	for subject, match := range map[string]string{"gemm": `64\^3 NN float(32|16)$`, "mlp": "step", "resnet": "step b?float(32|16)$", "bert": "step b?float(32|16)$", "ops": "131072 float32|16 numbers"} {
		o := options(t, match, "torch", "openblas")
		o.Python = python
		rows, err := Run(t.Context(), subject, o)
		if err != nil {
			t.Fatal(err)
		}
		all = append(all, rows...)
	}
	for _, r := range all {
		if r.PeerName == "" && !strings.Contains(r.Work, "tensors") && r.Work+r.DType != "resnet stepfloat16" {
			t.Errorf("%s in %s: got a row without a peer", r.Work, r.DType)
		}
	}
	t.Logf("\n%s", all)
}

// TestPeersRunNothing measures a peer in a folder with a file for every module that Python could import. None may run.
func TestPeersRunNothing(t *testing.T) {
	python := testenv.Python(t)
	if err := exec.Command(python, "-c", "import numpy").Run(); err != nil {
		testenv.Missing(t, "torch", "needs numpy: ", err)
	}
	o := options(t, `64\^3 NN float32$`, "openblas")
	o.Python, o.Rounds = python, 1
	sprung := testenv.Trap(t, python)
	rows, err := Run(t.Context(), "gemm", o)
	if names := sprung(); err != nil || len(rows) != 1 || len(names) > 0 {
		t.Errorf("got %d rows, modules of the working folder %q, %v, want one row and no modules", len(rows), names, err)
	}
}

package trace_test

import (
	"os"
	"path/filepath"
	"reflect"
	"slices"
	"strings"
	"testing"

	"halfnote/amp/trace"
)

// TestSaveAndOpen compares a recording with what its file says.
func TestSaveAndOpen(t *testing.T) {
	rec := train(3, trace.CountAlways())
	path := filepath.Join(t.TempDir(), "run.hnt")
	if err := rec.Save(path); err != nil {
		t.Fatal(err)
	}
	got, err := trace.Open(path)
	if err != nil {
		t.Fatal(err)
	}
	if got.Producer != "halfnote" {
		t.Errorf("producer %q", got.Producer)
	}
	want, ops := rec.Ops(), got.Ops()
	if len(ops) != len(want) || len(ops) == 0 {
		t.Fatalf("%d operations; want %d", len(ops), len(want))
	}
	for i := range ops {
		a, b := want[i], ops[i]
		if a.Counted && a.Counts.AbsMax != a.Counts.AbsMax { // NaN differs from NaN
			a.Counts.AbsMin, a.Counts.AbsMax, b.Counts.AbsMin, b.Counts.AbsMax = 0, 0, 0, 0
		}
		if a.String() != b.String() || !reflect.DeepEqual(a.InIDs, b.InIDs) || a.ID != b.ID || a.Duration != b.Duration || a.Start != b.Start {
			t.Fatalf("operation %d is\n%v%v\nwant\n%v%v", i, b, b.InIDs, a, a.InIDs)
		}
	}
	for _, f := range []func(*trace.Recorder) string{
		func(r *trace.Recorder) string { return r.DTypes().String() },
		func(r *trace.Recorder) string { return r.LossScale().String() },
		func(r *trace.Recorder) string { return r.CastGraph().String() },
		func(r *trace.Recorder) string { return r.Ranges().String() },
		func(r *trace.Recorder) string { return r.Memory().String() },
		func(r *trace.Recorder) string { return r.By("module").String() },
	} {
		if a, b := f(rec), f(got.Recorder); a != b {
			t.Errorf("the file shows %s\nwant %s", b, a)
		}
	}
}

// TestOpenRefuses checks the errors for files that are not recordings.
func TestOpenRefuses(t *testing.T) {
	const head = `{"halfnote":"recording","version":1,"producer":"torch 2.15.0","begun":1,"notes":[],"parameters":[]}` + "\n"
	const kind = `{"k":0,"op":"relu","phase":"forward","in":[["float32",[2]]],"out":[["float32",[2]]]}` + "\n"
	for text, want := range map[string]string{
		"":                                    "empty",
		"x":                                   "want the first line of a recording",
		"{}":                                  "want the first line of a recording",
		strings.Replace(head, "1,", "99,", 1): "reads up to version 1",
		head + "[0,0,0,0,0,[1],[2]]":          "line 2: an operation of kind 0",
		head + kind + "[0,0,0,0,0,[1,2],[2]]": "2 operands",
		head + kind + "[0,0,0]":               "3 parts",
		head + kind + "[0,-1,0,0,0,[1],[2]]":  "step -1",
		head + kind + `[0,0,0,0,0,[1],[2],[1,"a"]]`:          "counts",
		head + `{"e":"step","step":-5}`:                      "step -5",
		head + "what":                                        "neither an object nor an array",
		head + `{"k":0,"op":"relu","in":[["float32",[-2]]]}`: "size -2",
		"\x1f\x8b": "trace: read",
	} {
		_, err := trace.Read(strings.NewReader(text))
		if err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%.60q: %v; want %q", text, err, want)
		}
	}
	if _, err := trace.Open(filepath.Join(t.TempDir(), "none")); !os.IsNotExist(unwrap(err)) {
		t.Errorf("a file that does not exist: %v", err)
	}
}

func unwrap(err error) error {
	for {
		next, ok := err.(interface{ Unwrap() error })
		if !ok {
			return err
		}
		err = next.Unwrap()
	}
}

// TestSaveHashes compares the hashes of a recording with those of its file, and damages one.
func TestSaveHashes(t *testing.T) {
	rec := train(2, trace.Hashes())
	path := filepath.Join(t.TempDir(), "run.hnt")
	if err := rec.Save(path); err != nil {
		t.Fatal(err)
	}
	got, err := trace.Open(path)
	if err != nil {
		t.Fatal(err)
	}
	operands := 0
	for i, op := range rec.Ops() {
		if read := got.Op(i); op.Hash == "" || read.Hash != op.Hash || !slices.Equal(read.InHashes, op.InHashes) {
			t.Errorf("operation %d: got %q %q, want %q %q", i, read.Hash, read.InHashes, op.Hash, op.InHashes)
		}
		operands += len(op.InHashes)
	}
	if operands == 0 {
		t.Error("no operand has a hash")
	}
	text, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	_, err = trace.Read(strings.NewReader(strings.Replace(string(text), `["float32[`, `["float33[`, 1)))
	if err == nil || !strings.Contains(err.Error(), `hashes: receipt: "float33[`) {
		t.Errorf("a damaged hash: got %v", err)
	}
}

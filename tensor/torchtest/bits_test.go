package torchtest

import (
	"encoding/json"
	"flag"
	"fmt"
	"hash/fnv"
	"maps"
	"os"
	"runtime"
	"slices"
	"testing"

	"halfnote/internal/testenv"
	"halfnote/tensor"
)

var update = flag.Bool("update", false, "rewrite testdata/*.bits.json")

// TestBits compares the bits of all results of all cases (forward, backward and double
// backward), with several workers, with recorded files that were made with one. With
// HALFNOTE_REQUIRE=long it also compares those with one. The files were written on
// amd64; on another processor portable code must give the same bits:
//
//	GOARCH=arm64 go test -exec qemu-aarch64-static -run TestBits ./tensor/torchtest
//
// It logs how many tensors were compared with PyTorch's, and how many agree to the last bit.
func TestBits(t *testing.T) {
	defer runtime.GOMAXPROCS(runtime.GOMAXPROCS(0))
	counts, share := counter{}, 1
	if !*update {
		share = testenv.Share(t, 3)
	}
	for _, name := range slices.Sorted(maps.Keys(families)) {
		file := "testdata/" + name + ".bits.json"
		if *update {
			runtime.GOMAXPROCS(1)
			got := bitsOf(t, name, 1, nil)
			text, _ := json.MarshalIndent(got, "", "\t")
			if err := os.WriteFile(file, append(text, '\n'), 0o644); err != nil {
				t.Fatal(err)
			}
			continue
		}
		runtime.GOMAXPROCS(3)
		stop := tensor.Observe(func(tensor.Event) {})
		got := bitsOf(t, name, share, counts)
		stop()
		text, err := os.ReadFile(file)
		if err != nil {
			t.Errorf("%v: run go test ./tensor/torchtest -run TestBits -update", err)
			continue
		}
		var want map[string]string
		if err := json.Unmarshal(text, &want); err != nil {
			t.Fatalf("%s: %v", file, err)
		}
		for c, bits := range got {
			if bits != want[c] {
				t.Errorf("%s: %s: bits are %s, want %s; if the definition has changed, run go test ./tensor/torchtest -run TestBits -update", name, c, bits, want[c])
			}
		}
		if testenv.Requires("long") {
			runtime.GOMAXPROCS(1)
			if one := bitsOf(t, name, 1, nil); !maps.Equal(got, one) {
				t.Errorf("%s: the bits depend on the number of workers, or on whether operations are observed", name)
			}
		}
		if share == 1 && len(got) != len(want) {
			t.Errorf("%s: got %d cases, want %d as in the file: run go test ./tensor/torchtest -run TestBits -update", name, len(got), len(want))
		}
	}
	if !*update {
		counts.log(t)
	}
}

// bitsOf returns for each case of a family a checksum of the bits of its results in all
// dtypes, and counts comparisons. It computes one case in share.
func bitsOf(t *testing.T, family string, share int, counts counter) map[string]string {
	f, err := readFixtures(family)
	if err != nil {
		t.Fatal(err)
	}
	out := map[string]string{}
	for i, c := range f.cases {
		if i%share != 0 {
			continue
		}
		h := fnv.New64a()
		for _, d := range c.DTypes {
			r := run{errorf: func(string, ...any) {}, f: f, c: c, dtype: d, counts: counts, sees: func(got T) {
				fmt.Fprint(h, got.DType(), got.Shape(), canonical(got))
			}}
			if err := tensor.Try(func() { r.run(bodyOf(family, c)) }); err != nil {
				t.Errorf("%s: %v", c.Name, err)
			}
		}
		out[c.Name] = fmt.Sprintf("%016x", h.Sum64())
	}
	return out
}

// canonical returns the bits of x. All NaNs give the same bits, because processors differ.
func canonical(x T) []uint64 {
	bits := x.Bits()
	if x.DType().IsFloat() {
		for i, v := range x.Detach().Float64s() {
			if v != v {
				bits[i] = ^uint64(0)
			}
		}
	}
	return bits
}

package receipt

import (
	"encoding/binary"
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
)

// digestOf returns the digest of elements in pieces of random sizes.
func digestOf(r *rand.Rand, dtype string, shape []int, bits []uint64) Digest {
	w := NewWriter(dtype, shape...)
	size := elements[dtype].size
	var b []byte
	for _, x := range bits {
		b = append(b, binary.LittleEndian.AppendUint64(nil, x)[:size]...)
	}
	for len(b) > 0 {
		n := min(len(b), size*(1+r.IntN(40)))
		w.Write(b[:n])
		b = b[n:]
	}
	return w.Digest()
}

// TestDigest changes elements at random and compares what digests say with what was changed.
func TestDigest(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 2))
	for dtype, e := range elements {
		only := 0
		for range 300 {
			shape := []int{1 + r.IntN(9), r.IntN(30)}
			n := shape[0] * shape[1]
			bits := make([]uint64, n)
			for i := range bits {
				if bits[i] = r.Uint64() >> (64 - 8*e.size); e.nan != 0 {
					bits[i] &= e.inf >> 1 // finite
				}
			}
			was := digestOf(r, dtype, shape, bits)
			if read, err := Parse(was.String()); err != nil || !read.Equal(was) || !slices.Equal(read.Blocks, was.Blocks) {
				t.Fatalf("%s: read %v, %v; want %v", dtype, read, err, was)
			}
			changed := map[int]bool{}
			after := slices.Clone(bits)
			for range min(n, r.IntN(4)) {
				i := r.IntN(n)
				if r.IntN(2) == 0 && len(changed) > 0 { // the same difference with the other sign: the sum stays
					after[i] -= 1
				} else {
					after[i] += 1
				}
				after[i] &= 1<<(8*e.size-1)<<1 - 1
				if e.nan != 0 {
					after[i] &= e.inf>>1 | 1
				}
				if delete(changed, i); after[i] != bits[i] {
					changed[i] = true
				}
			}
			now := digestOf(r, dtype, shape, after)
			if got := now.Equal(was); got != (len(changed) == 0) {
				t.Fatalf("%s %v: equal is %v with %d changed elements", dtype, shape, got, len(changed))
			}
			i, delta, ok := now.Only(was)
			if ok && (len(changed) != 1 || !changed[i] || after[i]-bits[i] != uint64(delta)) {
				t.Errorf("%s %v: got element %d by %d, changed %v", dtype, shape, i, delta, changed)
			}
			if len(changed) == 1 {
				if !ok {
					t.Errorf("%s %v: the only change, of %v, was not found", dtype, shape, changed)
				}
				only++
			}
		}
		if only < 30 {
			t.Errorf("%s: only %d cases changed one element", dtype, only)
		}
	}
}

func TestNaNsAreEqual(t *testing.T) {
	r := rand.New(rand.NewPCG(3, 4))
	for dtype, e := range elements {
		if e.nan == 0 {
			continue
		}
		sign := e.without + 1
		nans := []uint64{e.nan, e.nan | sign, e.without, e.without | sign}
		for _, x := range nans[1:] {
			if a, b := digestOf(r, dtype, []int{2}, []uint64{0, nans[0]}), digestOf(r, dtype, []int{2}, []uint64{0, x}); !a.Equal(b) {
				t.Errorf("%s: NaN %x differs from %x", dtype, x, nans[0])
			}
		}
		if a, b := digestOf(r, dtype, []int{1}, []uint64{e.inf}), digestOf(r, dtype, []int{1}, []uint64{e.inf | sign}); a.Equal(b) {
			t.Errorf("%s: the largest value equals its negative", dtype)
		}
	}
}

func TestAgainst(t *testing.T) {
	r := rand.New(rand.NewPCG(5, 6))
	of := func(dtype string, shape []int, change ...int) Digest {
		n := 1
		for _, k := range shape {
			n *= k
		}
		bits := make([]uint64, n)
		for i := range bits {
			bits[i] = uint64(i)
		}
		for _, i := range change {
			bits[i]++
		}
		return digestOf(r, dtype, shape, bits)
	}
	for _, tt := range []struct {
		now, was Digest
		want     string
	}{
		{of("int32", []int{2, 3}), of("int32", []int{2, 3}), ""},
		{of("int32", []int{2, 3}), of("int16", []int{2, 3}), "its dtype is int32; recorded int16"},
		{of("int32", []int{2, 3}), of("int32", []int{3, 2}), "its shape is (2, 3); recorded (3, 2)"},
		{of("int32", []int{}, 0), of("int32", []int{}), "its element differs by +1 in its bits, and no other element does"},
		{of("int32", []int{40, 5}, 101), of("int32", []int{40, 5}), "element [20, 1] differs by +1 in its bits, and no other element does"},
		{of("int32", []int{2, 3}, 1, 2), of("int32", []int{2, 3}), "2 of 6 elements differ, the first is element [0, 1]"},
		{of("int32", []int{2}, 0, 1), of("int32", []int{2}), "all 2 elements differ"},
		{of("int32", []int{40, 5}, 101, 199), of("int32", []int{40, 5}), "the first difference is from element [18, 1] to [20, 3]; 2 of its 16 parts differ"},
	} {
		if got := tt.now.Against(tt.was, nil); got != tt.want {
			t.Errorf("got %q, want %q", got, tt.want)
		}
	}
	for bits, want := range map[string]string{"float32 3f800001": "1.0000001 (0x3f800001)", "bfloat16 3f80": "1 (0x3f80)", "float16 3c00": "0x3c00", "int8 ff": "-1", "uint8 ff": "255", "float64 3ff0000000000000": "1 (0x3ff0000000000000)"} {
		var x uint64
		dtype, hex, _ := strings.Cut(bits, " ")
		fmt.Sscanf(hex, "%x", &x)
		if got := (Digest{DType: dtype}).number(x); got != want {
			t.Errorf("%s: got %s, want %s", bits, got, want)
		}
	}
}

// TestTrail changes one of n results, or their number, and checks that the parting includes the first change.
func TestTrail(t *testing.T) {
	trail := func(n, changed int) Trail {
		var tr Trailer
		for i := range n {
			h := uint64(i)
			if i == changed {
				h += 1 << 40
			}
			tr.Add(h)
		}
		return tr.Trail()
	}
	for _, n := range []int{0, 1, 2, 1000, 1024, 1025, 2047, 2048, 2049, 5000, 10000} {
		if _, _, ok := trail(n, -1).Parting(trail(n, -1)); ok {
			t.Errorf("%d operations differ from themselves", n)
		}
		if kept, _ := trail(n, -1).read(); len(kept) > maxTrail {
			t.Errorf("%d operations: %d hashes are kept", n, len(kept))
		}
		for _, at := range []int{0, 1, n / 2, n - 1} {
			if at < 0 || at >= n {
				continue
			}
			first, after, ok := trail(n, at).Parting(trail(n, -1))
			if stride := trail(n, -1).Stride; !ok || at < first || at >= after || after-first > 2*stride {
				t.Errorf("%d operations: operation %d differs, got %d to %d, %v", n, at, first, after, ok)
			}
		}
		for _, more := range []int{1, 3, 3000} {
			first, after, ok := trail(n, -1).Parting(trail(n+more, -1))
			if !ok || n < first || n >= after {
				t.Errorf("%d operations and %d: got %d to %d, %v", n, n+more, first, after, ok)
			}
		}
	}
}

func FuzzParse(f *testing.F) {
	f.Add("float32[2 3] AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA")
	f.Add("int8[] AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA")
	f.Fuzz(func(t *testing.T, line string) {
		if d, err := Parse(line); err == nil {
			d.Against(Digest{DType: d.DType, Shape: d.Shape, Blocks: make([]uint16, len(d.Blocks))}, nil)
		}
	})
}

func BenchmarkDigest(b *testing.B) {
	for _, dtype := range []string{"float16", "float32", "float64"} {
		p := make([]byte, 1<<20)
		b.Run(dtype, func(b *testing.B) {
			b.SetBytes(int64(len(p)))
			for b.Loop() {
				w := NewWriter(dtype, len(p)/elements[dtype].size)
				w.Write(p)
				w.Digest()
			}
		})
	}
}

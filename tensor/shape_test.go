package tensor

import (
	"slices"
	"strings"
	"testing"
)

// Shape arithmetic compared with its definition, element by element.

// fuzzSizes returns up to four small sizes, made from the first bytes, and the remaining bytes.
func fuzzSizes(p []byte) (shape []int, rest []byte) {
	if len(p) == 0 {
		return []int{}, nil
	}
	n := min(int(p[0]%5), len(p)-1)
	shape = make([]int, n)
	for i := range shape {
		shape[i] = int(p[1+i] % 5)
	}
	return shape, p[1+n:]
}

// allIndices returns all indices of a shape, in row-major order.
func allIndices(shape []int) [][]int {
	list := [][]int{{}}
	for _, n := range shape {
		var longer [][]int
		for _, index := range list {
			for i := range n {
				longer = append(longer, append(slices.Clone(index), i))
			}
		}
		list = longer
	}
	return list
}

func fuzzOffset(index, stride []int) int {
	sum := 0
	for i, x := range index {
		sum += x * stride[i]
	}
	return sum
}

func FuzzRowMajor(f *testing.F) {
	f.Add([]byte{3, 2, 3, 4})
	f.Add([]byte{2, 0, 3})
	f.Fuzz(func(t *testing.T, p []byte) {
		shape, _ := fuzzSizes(p)
		stride, all := rowMajor(shape), allIndices(shape)
		if len(all) != size(shape) {
			t.Fatalf("%v: got %d elements, want %d", shape, len(all), size(shape))
		}
		for i, index := range all {
			if fuzzOffset(index, stride) != i {
				t.Fatalf("%v with strides %v: element %v is number %d", shape, stride, index, i)
			}
		}
	})
}

func FuzzBroadcastShapes(f *testing.F) {
	f.Add([]byte{3, 2, 3, 4, 2, 1, 4})
	f.Add([]byte{1, 0, 1, 1})
	f.Add([]byte{2, 3, 1, 1, 2})
	f.Fuzz(func(t *testing.T, p []byte) {
		a, rest := fuzzSizes(p)
		b, _ := fuzzSizes(rest)
		got, ok := broadcastShapes(a, b)
		if swapped, okSwapped := broadcastShapes(b, a); ok != okSwapped || !slices.Equal(got, swapped) {
			t.Fatalf("%v with %v gives %v, exchanged %v", a, b, got, swapped)
		}
		// Missing leading sizes count as 1, and a size of 1 repeats.
		at := func(shape []int, i int) int { // i counts from the end
			if i >= len(shape) {
				return 1
			}
			return shape[len(shape)-1-i]
		}
		want, fits := make([]int, max(len(a), len(b))), true
		for i := range want {
			x, y := at(a, i), at(b, i)
			if x == 1 {
				x = y
			}
			fits = fits && (y == 1 || x == y)
			want[len(want)-1-i] = x
		}
		if ok != fits || ok && !slices.Equal(got, want) {
			t.Fatalf("%v with %v gives %v, %v; want %v, %v", a, b, got, ok, want, fits)
		}
		if !ok {
			return
		}
		// The strides of the broadcast a locate its element for every index.
		x := &Tensor{shape: a, stride: rowMajor(a)}
		stride := expandStride(x, got)
		for _, index := range allIndices(got) {
			own := slices.Clone(index[len(got)-len(a):])
			for i, n := range a {
				own[i] %= n // 0 along dimensions that repeat
			}
			if fuzzOffset(index, stride) != fuzzOffset(own, x.stride) {
				t.Fatalf("%v repeated to %v has strides %v: element %v is not %v", a, got, stride, index, own)
			}
		}
	})
}

func FuzzViewStride(f *testing.F) {
	f.Add([]byte{2, 2, 3, 3, 1, 1, 2, 3})
	f.Add([]byte{3, 2, 1, 2, 4, 0, 2, 2, 4, 1})
	f.Add([]byte{2, 2, 2, 0, 0, 1, 4})
	f.Add([]byte{4, 1, 2, 2, 2, 8, 4, 2, 1, 2, 4, 2})
	f.Fuzz(func(t *testing.T, p []byte) {
		shape, rest := fuzzSizes(p)
		stride := make([]int, len(shape))
		for i := range stride {
			if i < len(rest) {
				stride[i] = int(rest[i] % 17)
			}
		}
		to, _ := fuzzSizes(rest[min(len(shape), len(rest)):])
		if size(to) != size(shape) {
			return
		}
		got, ok := viewStride(shape, stride, to)
		var offsets []int
		for _, index := range allIndices(shape) {
			offsets = append(offsets, fuzzOffset(index, stride))
		}
		// The strides that select the same elements follow from the neighbours of the first element.
		want, possible, position := make([]int, len(to)), true, rowMajor(to)
		for i, n := range to {
			if n > 1 && len(offsets) > 0 {
				want[i] = offsets[position[i]] - offsets[0]
			}
		}
		for i, index := range allIndices(to) {
			possible = possible && fuzzOffset(index, want) == offsets[i]
			if ok && fuzzOffset(index, got) != offsets[i] {
				t.Fatalf("%v with strides %v as %v has strides %v: element %v is at %d, not %d", shape, stride, to, got, index, fuzzOffset(index, got), offsets[i])
			}
		}
		if ok != possible {
			t.Fatalf("%v with strides %v as %v: got %v %v; strides %v are correct: %v", shape, stride, to, got, ok, want, possible)
		}
	})
}

// TestHugeShapes checks that shapes whose size overflows are rejected and not mistaken for small
// shapes.
func TestHugeShapes(t *testing.T) {
	one := Ones(1)
	for name, f := range map[string]func(){
		"2^64 elements":           func() { Zeros(1<<32, 1<<32) },
		"2^64 bytes":              func() { Zeros(1<<31, 1<<31) },
		"strides beyond 2^63":     func() { Zeros(0, 1<<62, 8) },
		"a view":                  func() { one.Expand(1<<32, 1<<32) },
		"a copy":                  func() { one.Expand(1<<31, 1<<31).Clone() },
		"a sum of two":            func() { one.Expand(1<<32, 1).Add(one.Expand(1, 1<<32)) },
		"bytes for many elements": func() { FromBytes(Float64, nil, 1<<31, 1<<31) },
	} {
		if err := Try(f); err == nil || !strings.Contains(err.Error(), "the size overflows; the limit is") {
			t.Errorf("%s: got error %v", name, err)
		}
	}
	for _, shape := range [][]int{{-2}, {-1, 1}} {
		if err := Try(func() { one.Expand(shape...) }); err == nil || !strings.Contains(err.Error(), "a size is negative; want") {
			t.Errorf("expand to %v: got error %v", shape, err)
		}
	}
}

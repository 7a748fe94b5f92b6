package torchtest

import (
	"encoding/binary"
	"encoding/json"
	"fmt"
	"hash/crc32"
	"math"
	"os"
	"slices"
	"strings"
	"testing"

	"halfnote/tensor"
)

// TestCasts compares conversions between all dtypes with PyTorch's, by the checksums of blocks that
// make_casts.py wrote. Both generate the same numbers.
func TestCasts(t *testing.T) {
	data, err := os.ReadFile("testdata/casts.json")
	if err != nil {
		t.Fatal(err)
	}
	var file struct {
		Casts []struct {
			From, To, CRC string
			N             int
		}
	}
	if err := json.Unmarshal(data, &file); err != nil {
		t.Fatal(err)
	}
	sources := map[string]T{
		"all float16": patterns(tensor.Float16), "all bfloat16": patterns(tensor.BFloat16),
		"all float8_e4m3fn": patterns(tensor.Float8E4M3), "all float8_e5m2": patterns(tensor.Float8E5M2),
		"float32 edges": tensor.FromFloat32s(float32Edges()), "float64 edges": float64Edges(),
		"int64": integersOf(64), "int32": integersOf(32).To(tensor.Int32), "all int16": tensor.Arange(-1<<15, 1<<15).To(tensor.Int16), "all int8": tensor.Arange(-128, 128).To(tensor.Int8), "all uint8": tensor.Arange(0, 256).To(tensor.Uint8),
	}
	total := 0
	for _, c := range file.Casts {
		t.Run(c.From+" to "+c.To, func(t *testing.T) {
			x, to := sources[c.From], named(c.To)
			if x.DType().IsFloat() && !to.IsFloat() && to != tensor.Bool {
				x = within(x, to)
			}
			if x.Numel() != c.N {
				t.Fatalf("got %d numbers, want %d as in make_casts.py", x.Numel(), c.N)
			}
			total += c.N
			y := x.To(to)
			want := strings.Fields(c.CRC)
			for i, got := range checksums(y) {
				if got != want[i] {
					from := i * block
					end := min(from+block, c.N)
					t.Errorf("numbers %d to %d differ, for example\n%v\ncast to\n%v", from, end-1, x.Slice(0, from, end), y.Slice(0, from, end))
					break
				}
			}
		})
	}
	t.Logf("compared %d casts of %d numbers", len(file.Casts), total)
}

const block = 1024

func named(name string) tensor.DType {
	for _, d := range tensor.DTypes() {
		if d.String() == name {
			return d
		}
	}
	panic(fmt.Sprintf("torchtest: unknown dtype %s", name))
}

// mixed is the finalizer of MurmurHash3 (A. Appleby, 2011) of an index.
func mixed(i int) uint32 {
	x := uint32(i) * 0x9E3779B9
	x = (x ^ x>>16) * 0x85EBCA6B
	x = (x ^ x>>13) * 0xC2B2AE35
	return x ^ x>>16
}

// patterns returns all bit patterns of a dtype of 8 or 16 bits.
func patterns(d tensor.DType) T {
	data := make([]float64, 1<<(8*d.Size()))
	for i := range data {
		data[i] = value(d, i)
	}
	return tensor.NewAs(d, data)
}

// value returns the number that a bit pattern of d represents.
func value(d tensor.DType, bits int) float64 {
	layout := map[tensor.DType][2]int{tensor.Float16: {10, 5}, tensor.BFloat16: {7, 8}, tensor.Float8E4M3: {3, 4}, tensor.Float8E5M2: {2, 5}}[d]
	fraction, exponent := layout[0], layout[1]
	f, e := bits&(1<<fraction-1), bits>>fraction&(1<<exponent-1)
	bias := 1<<(exponent-1) - 1
	x := math.Ldexp(float64(f), 1-bias-fraction)
	switch {
	case d == tensor.Float8E4M3 && e == 15 && f == 7:
		x = math.NaN()
	case e == 1<<exponent-1 && d != tensor.Float8E4M3 && f != 0:
		x = math.NaN()
	case e == 1<<exponent-1 && d != tensor.Float8E4M3:
		x = math.Inf(1)
	case e > 0:
		x = math.Ldexp(float64(f|1<<fraction), e-bias-fraction)
	}
	if bits>>(fraction+exponent) != 0 {
		x = -x
	}
	return x
}

// midpoints returns the bit patterns of float32 numbers halfway between neighbours of d, for
// every n-th neighbour, and one unit to either side.
func midpoints(d tensor.DType, step int) []uint32 {
	var finite []float64
	for i := range 1 << (8*d.Size() - 1) {
		if x := value(d, i); !math.IsInf(x, 0) && !math.IsNaN(x) {
			finite = append(finite, x)
		}
	}
	var below, at, above []uint32
	for i := 0; i+1 < len(finite); i += step {
		m := math.Float32bits(float32((finite[i] + finite[i+1]) / 2))
		below, at, above = append(below, m-1), append(at, m), append(above, m+1)
	}
	return slices.Concat(below, at, above)
}

func float32Edges() []float32 {
	bits := []uint32{0, 1, 2, 0x007FFFFF, 0x00800000, 0x7F7FFFFF, 0x7F800000, 0x7FC00000}
	bits = append(bits, midpoints(tensor.Float16, 5)...)
	bits = append(bits, midpoints(tensor.BFloat16, 11)...)
	bits = append(bits, midpoints(tensor.Float8E4M3, 1)...)
	bits = append(bits, midpoints(tensor.Float8E5M2, 1)...)
	for _, b := range bits {
		bits = append(bits, b|1<<31)
	}
	for i := range 20000 {
		bits = append(bits, mixed(i))
	}
	out := make([]float32, len(bits))
	for i, b := range bits {
		out[i] = math.Float32frombits(b)
	}
	return out
}

func float64Edges() T {
	var above, below, between []float64
	for _, x := range float32Edges() {
		if b := math.Float64bits(float64(x)); !math.IsInf(float64(x), 0) && x == x {
			above = append(above, math.Float64frombits(b+1))
			below = append(below, math.Float64frombits(b-1))
			between = append(between, math.Float64frombits(b^1<<28))
		}
	}
	var out []float64
	for _, x := range slices.Concat(above, below, between) {
		if !math.IsInf(x, 0) && !math.IsNaN(x) {
			out = append(out, x)
		}
	}
	return tensor.NewAs(tensor.Float64, out)
}

// integersOf returns int64 numbers that fit into the given number of bits.
func integersOf(bits int) T {
	var p, r []int64
	for k := range bits - 1 {
		p = append(p, 1<<k-1, 1<<k, 1<<k+1)
	}
	for i := range 4096 {
		r = append(r, int64((uint64(mixed(i))<<32|uint64(mixed(4096+i)))>>(63-i%bits)))
	}
	return tensor.FromInt64s(slices.Concat(p, negated(p), r, negated(r)))
}

func negated(x []int64) []int64 {
	out := make([]int64, len(x))
	for i, v := range x {
		out[i] = -v
	}
	return out
}

// within returns the elements of x that an integer dtype can represent.
func within(x T, d tensor.DType) T {
	r := map[tensor.DType][2]float64{tensor.Int64: {-0x1p62, 0x1p62}, tensor.Int32: {-0x1p31, 0x1p31 - 1}, tensor.Int16: {-0x1p15, 0x1p15 - 1}, tensor.Int8: {-128, 127}, tensor.Uint8: {0, 255}}[d]
	var out []float64
	for _, v := range x.Float64s() {
		if v > r[0]-1 && v < r[1]+1 {
			out = append(out, v)
		}
	}
	return tensor.NewAs(x.DType(), out)
}

// checksums returns the CRC-32 of blocks of x, with NaN as all ones.
func checksums(x T) []string {
	size := x.DType().Size()
	bits := x.Bits()
	if x.DType().IsFloat() {
		for i, v := range x.Float64s() {
			if v != v {
				bits[i] = math.MaxUint64
			}
		}
	}
	var out []string
	for i := 0; i < len(bits); i += block {
		var p []byte
		for _, b := range bits[i:min(i+block, len(bits))] {
			p = append(p, binary.LittleEndian.AppendUint64(nil, b)[:size]...)
		}
		out = append(out, fmt.Sprintf("%08x", crc32.ChecksumIEEE(p)))
	}
	return out
}

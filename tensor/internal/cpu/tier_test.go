package cpu

import (
	"math"
	"math/rand/v2"
	"testing"

	"halfnote/internal/testenv"
	"halfnote/tensor/driver"
	"halfnote/tensor/drivertest"
	"halfnote/tensor/internal/asm"
)

// on returns a backend with the given number of workers and a tier's kernels.
func on(workers int, t *asm.Tier) *Backend {
	b := New(workers)
	b.tier = t
	return b
}

// TestContract runs the conformance tests of contractions on each tier and on portable code.
func TestContract(t *testing.T) {
	for _, tier := range append(testTiers(), nil) {
		b := on(2, tier)
		t.Run(b.Tier(), func(t *testing.T) { drivertest.Contractions(t, InBrief(t, b)) })
	}
}

// TestPortable runs the conformance tests of products on portable code. TestTierBits compares the tiers
// with it. Other tests run on a tier if [asm.Variable] names it.
func TestPortable(t *testing.T) {
	if asm.Best() == nil {
		t.Skip("the other tests run on portable code already")
	}
	drivertest.Products(t, InBrief(t, on(3, nil)))
}

// TestTierBits compares the bits of products on each tier with portable code, for numbers of all
// magnitudes, infinities and NaN, at sizes and strides that use all kernels of a tier.
// HALFNOTE_REQUIRE=long compares more of each kind.
func TestTierBits(t *testing.T) {
	if len(asm.Tiers()) == 0 {
		t.Skip("this processor has only portable code")
	}
	r := rand.New(rand.NewPCG(5, 6))
	portable := on(1, nil)
	cases := 60 // each kind below with each dtype
	if testenv.Requires("long") {
		cases = 240
	}
	for i := range cases {
		d := []driver.DType{driver.Float32, driver.Float16, driver.BFloat16}[i%3]
		c := productCase{
			dtype: d, to: d, bias: r.IntN(3), high: i/3%2 == 1,
			batch: 1 + r.IntN(2)*r.IntN(3), m: 1 + r.IntN(40), n: 1 + r.IntN(70), k: 1 + r.IntN(80),
			orders: [3]int{r.IntN(4), r.IntN(4), r.IntN(4)},
		}
		switch i % 20 {
		case 5:
			c.k = 1000 + r.IntN(1200)
		case 6: // too large to be read in place
			c.m, c.n, c.k = 35+r.IntN(20), 60+r.IntN(60), 1000+r.IntN(1200)
		case 10:
			c.m, c.n = 1, 1+r.IntN(300)
		case 12, 13, 14:
			c.m, c.k, c.orders[1] = 1+r.IntN(4), 1+r.IntN(1200), 1
		case 15:
			c.m, c.n = 1+r.IntN(300), 1
		case 16, 17, 18: // large enough to be stored around the cache
			c.m, c.n, c.k = 530+r.IntN(8), 512+16*r.IntN(4), 1+r.IntN(30)
		}
		if d != driver.Float32 && r.IntN(2) == 0 {
			c.to = driver.Float32
		}
		words := magnitudes(r, d, i%2 == 0, 20000)
		want := c.run(t, portable, words)
		for _, tier := range testTiers() {
			got := c.run(t, on(1+r.IntN(3), tier), words)
			for j := range want {
				if got[j] != want[j] {
					t.Errorf("%s: %+v: element %d: got bits %08x, want %08x", tier.Name, c, j, got[j], want[j])
					break
				}
			}
		}
	}
}

// TestContractBits compares the bits of contractions of an image's windows on each tier with portable
// code, for a convolution and the gradient of its weight.
func TestContractBits(t *testing.T) {
	r := rand.New(rand.NewPCG(7, 9))
	portable := on(1, nil)
	for i := range 240 {
		d := []driver.DType{driver.Float32, driver.Float16, driver.BFloat16}[i%3]
		groups, o, n, channels, step := 1+r.IntN(3), 1+r.IntN(6), 1+r.IntN(3), 1+r.IntN(3), 1+r.IntN(2)
		kernel, height, width := 1+r.IntN(3), 1+r.IntN(5), 1+r.IntN(40)
		if i%8 == 1 {
			o, channels, width = 20+r.IntN(20), 10+r.IntN(10), 4+r.IntN(4)
		}
		if i%8 == 2 {
			height, width = 12, 48
		}
		words := magnitudes(r, d, i%2 == 0, 20000)
		image := func(b *Backend, list ...int) driver.View { // part (n, groups, channels, height, width) of a larger image
			v := ordered(t, b, d, 1, 1, list[0]*list[1]*list[2]*list[3]*list[4], 0, words)
			v.Shape, v.Stride = list, []int{list[1] * list[2] * list[3] * list[4], list[2] * list[3] * list[4], list[3] * list[4], list[4], 1}
			return v
		}
		k := driver.Kernel{Code: driver.Contract, Params: driver.ContractParams{Rows: 1, Columns: 3, Sum: 3}, High: i/3%2 == 1}
		run := func(b *Backend, weight bool) []uint32 {
			rows, cols := step*(height-1)+kernel, step*(width-1)+kernel
			x, y, w := image(b, n, groups, channels, rows, cols), image(b, n, groups, o, height, width), image(b, groups, o, channels, kernel, kernel)
			s := x.Stride
			pick := func(v driver.View, shape, stride []int) driver.View {
				v.Shape, v.Stride = shape, stride
				return v
			}
			if weight {
				y = pick(y, []int{groups, o, n, height, width}, []int{y.Stride[1], y.Stride[2], y.Stride[0], y.Stride[3], 1})
				x = pick(x, []int{groups, n, height, width, channels, kernel, kernel}, []int{s[1], s[0], step * s[3], step, s[2], s[3], 1})
				b.Run(k, w, y, x)
				return wordsOf(w)
			}
			x = pick(x, []int{groups, channels, kernel, kernel, n, height, width}, []int{s[1], s[2], s[3], 1, s[0], step * s[3], step})
			y = pick(y, []int{groups, o, n, height, width}, []int{y.Stride[1], y.Stride[2], y.Stride[0], y.Stride[3], 1})
			b.Run(k, y, w, x)
			return wordsOf(y)
		}
		for _, weight := range []bool{false, true} {
			want := run(portable, weight)
			for _, tier := range testTiers() {
				got := run(on(1+r.IntN(3), tier), weight)
				for j := range want {
					if got[j] != want[j] {
						t.Errorf("%s: %v, weight %v, groups %d, o %d, n %d, channels %d, step %d, kernel %d, %d x %d: element %d: got bits %08x, want %08x", tier.Name, d, weight, groups, o, n, channels, step, kernel, height, width, j, got[j], want[j])
						break
					}
				}
			}
		}
	}
}

// productCase is a product of views with various layouts: 0 row-major, 1 column-major, 2 with gaps along
// both axes, 3 backwards.
type productCase struct {
	dtype, to      driver.DType
	bias           int  // 0 without a bias, 1 for the same in all rows, 2 for one per element
	high           bool // whether the precision of float32 is high and not highest
	batch, m, n, k int
	orders         [3]int
}

// run returns the bits of all elements of the result. All NaN have the same bits.
func (c productCase) run(t *testing.T, b *Backend, words []uint32) []uint32 {
	t.Helper()
	x := ordered(t, b, c.dtype, c.batch, c.m, c.k, c.orders[0], words)
	y := ordered(t, b, c.dtype, c.batch, c.k, c.n, c.orders[1], words[7000:])
	dst := ordered(t, b, c.to, c.batch, c.m, c.n, c.orders[2], words)
	src := []driver.View{x, y}
	if c.bias > 0 {
		bias := ordered(t, b, c.dtype, c.batch, c.m, c.n, 0, words[5000:])
		if c.bias == 1 {
			bias.Stride[0], bias.Stride[1] = 0, 0
		}
		src = append(src, bias)
	}
	b.Run(driver.Kernel{Code: driver.Matmul, High: c.high}, dst, src...)
	return wordsOf(dst)
}

// wordsOf returns the bits of all elements. All NaN have the same bits.
func wordsOf(dst driver.View) []uint32 {
	out := make([]uint32, 0, dst.Len())
	l := layoutOf(dst)
	for i := range dst.Len() {
		var v uint32
		nan := false
		if dst.DType.Size() == 4 {
			v = elements[uint32](bufferOf(dst.Buffer))[l.index(i)]
			nan = v&0x7fffffff > 0x7f800000
		} else {
			v = uint32(elements[uint16](bufferOf(dst.Buffer))[l.index(i)])
			nan = dst.DType == driver.Float16 && v&0x7fff > 0x7c00 || dst.DType == driver.BFloat16 && v&0x7fff > 0x7f80
		}
		if nan {
			v = math.MaxUint32
		}
		out = append(out, v)
	}
	return out
}

func ordered(t *testing.T, b *Backend, d driver.DType, batch, rows, cols, order int, words []uint32) driver.View {
	t.Helper()
	buf, err := b.Alloc(batch * rows * cols * 6 * d.Size())
	if err != nil {
		t.Fatal(err)
	}
	v := driver.View{Buffer: buf, DType: d, Shape: []int{batch, rows, cols}}
	switch order {
	case 0:
		v.Stride = []int{rows * cols, cols, 1}
	case 1:
		v.Stride = []int{rows * cols, 1, rows}
	case 2:
		v.Stride = []int{rows * cols * 6, cols * 6, 2}
	default:
		v.Offset, v.Stride = batch*rows*cols-1, []int{-rows * cols, -cols, -1}
	}
	l := layoutOf(v)
	for i := range v.Len() {
		if w := words[i%len(words)]; d.Size() == 4 {
			elements[uint32](bufferOf(buf))[l.index(i)] = w
		} else {
			elements[uint16](bufferOf(buf))[l.index(i)] = uint16(w)
		}
	}
	return v
}

// magnitudes returns bits of random numbers. If tiny is set, products and sums are near the smallest
// normal float32. Otherwise the numbers have all exponents, including those of infinities and NaN.
func magnitudes(r *rand.Rand, d driver.DType, tiny bool, n int) []uint32 {
	list := make([]uint32, n)
	for i := range list {
		switch {
		case d == driver.Float16:
			list[i] = r.Uint32() & 0xffff
			if tiny || list[i]&0x7c00 == 0x7c00 && i%50 > 0 {
				list[i] &^= 0x4000
			}
		case tiny:
			e := uint32(64 - 4 + r.IntN(8))
			if i%7 == 0 {
				e = uint32(r.IntN(3))
			}
			list[i] = r.Uint32()&0x807fffff | e<<23
		default:
			list[i] = r.Uint32()
			if list[i]&0x7f800000 == 0x7f800000 && i%50 > 0 {
				list[i] &^= 0x40000000
			}
		}
		if d == driver.BFloat16 {
			list[i] >>= 16
		}
	}
	return list
}

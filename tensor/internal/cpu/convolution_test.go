package cpu

import (
	"math/rand/v2"
	"slices"
	"testing"

	"halfnote/internal/testenv"
	"halfnote/tensor/driver"
	"halfnote/tensor/internal/asm"
)

// TestConvolveBits compares the bits of convolutions without padding with those of products of padded images, for numbers
// of all magnitudes, on each tier that has them.
func TestConvolveBits(t *testing.T) {
	tiers := slices.DeleteFunc(slices.Clone(asm.Tiers()), func(t *asm.Tier) bool { return t.Windows == nil })
	if len(tiers) == 0 {
		t.Skip("this processor has no AVX512-BF16")
	}
	r := rand.New(rand.NewPCG(3, 4))
	cases := 60
	if testenv.Requires("long") {
		cases = 600
	}
	for _, tier := range tiers {
		taken, bands := 0, 0
		for i := range cases {
			c := randomWindow(r, i)
			b := on(1+r.IntN(3), tier)
			if c.special {
				c.w[r.IntN(len(c.w))] = []uint32{0x7f80, 0xff80, 0x7fc1}[r.IntN(3)]
			}
			got, ok := c.convolve(t, b)
			if ok && c.special {
				t.Errorf("%s: case %d, %+v: a weight with infinity or NaN is taken", tier.Name, i, c)
			}
			if !ok {
				continue
			}
			taken++
			if c.bands(t, b) > 2 {
				bands++
			}
			want := c.contract(t, b)
			for j := range want {
				if got[j] != want[j] {
					t.Errorf("%s: case %d, %v: element %d: got bits %04x, want %04x", tier.Name, i, c.sizes, j, got[j], want[j])
					break
				}
			}
		}
		if taken < cases/3 || bands < cases/30 {
			t.Errorf("%s: %d of %d convolutions are taken, and %d have more than two bands; want a third and a thirtieth or more", tier.Name, taken, cases, bands)
		}
	}
}

// TestConvolveGap checks that zeros around an image change a sum of -0 to 0 between the kernel elements that meet the image.
// The sums of -0 come from flushing: 1.5 and -1.75 times 2^-126.
func TestConvolveGap(t *testing.T) {
	const high, low = 0x00c0, 0x80e0
	c := windowCase{n: 16, c: 64, o: 256, sizes: []int{2, 1}, kernel: []int{2, 2}, places: []int{1, 1}}
	c.window = driver.Window{Stride: []int{1, 1}, Dilation: []int{1, 1}, Before: []int{0, 1}}
	c.x = slices.Repeat([]uint32{0x3f80}, c.n*c.c*2)
	c.w = make([]uint32, c.o*c.c*4)
	for o := range c.o {
		set := func(channel, tap int, bits uint32) { c.w[(o*c.c+channel)*4+tap] = bits }
		set(0, 1, high) // C becomes 1.5 times 2^-126 and then -0
		set(32, 1, low)
		for block := 0; block < 64; block += 32 { // after the gap, the sums of even and of odd products add up to -0
			set(block, 3, high)
			set(block+1, 3, low)
		}
	}
	for _, tier := range asm.Tiers() {
		b := on(1, tier)
		want := c.contract(t, b)
		if got, ok := c.convolve(t, b); ok && !slices.Equal(got, want) || want[0] != 0 {
			t.Errorf("%s: got bits %04x and %04x; want 0 twice", tier.Name, got[0], want[0])
		}
	}
}

// windowCase is a convolution of x (n, c, sizes…) with w (o, c, kernel…).
type windowCase struct {
	n, c, o       int
	sizes, kernel []int
	places        []int
	window        driver.Window
	x, w, b       []uint32 // bits of bfloat16; b is nil without a bias
	special       bool     // whether w has an infinity or NaN
}

func randomWindow(r *rand.Rand, i int) windowCase {
	dims := 1 + r.IntN(3)
	c := windowCase{n: []int{16, 15, 32, 47, 31}[r.IntN(5)], c: 32 * (1 + r.IntN(3)), o: 1 + r.IntN(45), special: i%9 == 8}
	for range dims {
		kernel, dilation, before, stride := 2+r.IntN(2), 1+r.IntN(2), r.IntN(3), 1+r.IntN(2)*r.IntN(2)
		size := max(1, (kernel-1)*dilation+1-2*before) + r.IntN([]int{0, 40, 8, 3}[dims])
		if i%6 == 0 { // several bands
			size += []int{0, 0, 16, 6}[dims]
		}
		places := (size+2*before-(kernel-1)*dilation-1)/stride + 1
		if r.IntN(4) == 0 { // as for the gradient of x
			before, dilation = (kernel-1)*dilation-before, -dilation
			before = -before
		}
		c.sizes, c.kernel, c.places = append(c.sizes, size), append(c.kernel, kernel), append(c.places, places)
		p := &c.window
		p.Stride, p.Dilation, p.Before = append(p.Stride, stride), append(p.Dilation, dilation), append(p.Before, before)
	}
	c.x = magnitudes(r, driver.BFloat16, i%2 == 0, c.n*c.c*lenOf(c.sizes))
	c.w = magnitudes(r, driver.BFloat16, i%2 == 0, c.o*c.c*lenOf(c.kernel))
	for j, v := range c.w {
		if v&0x7f80 == 0x7f80 {
			c.w[j] = v & 0xbfff
		}
	}
	if i%3 == 0 {
		c.b = magnitudes(r, driver.BFloat16, false, c.o)
	}
	return c
}

func lenOf(shape []int) int { return driver.View{Shape: shape}.Len() }

// dense returns a contiguous view of bfloat16 with these bits, or zeros without bits.
func dense(t *testing.T, b *Backend, words []uint32, shape ...int) driver.View {
	t.Helper()
	v := driver.View{DType: driver.BFloat16, Shape: shape, Stride: make([]int, len(shape))}
	n := 1
	for i := len(shape) - 1; i >= 0; i-- {
		v.Stride[i] = n
		n *= shape[i]
	}
	buf, err := b.Alloc(2 * n)
	if err != nil {
		t.Fatal(err)
	}
	v.Buffer = buf
	for i, w := range words {
		elements[uint16](bufferOf(buf))[i] = uint16(w)
	}
	return v
}

// operands returns w, the result and a bias or nil.
func (c windowCase) operands(t *testing.T, b *Backend) (w, dst driver.View, bias *driver.View) {
	t.Helper()
	if c.b != nil {
		v := dense(t, b, c.b, c.o)
		bias = &v
	}
	return dense(t, b, c.w, append([]int{c.o, c.c}, c.kernel...)...), dense(t, b, nil, append([]int{c.n, c.o}, c.places...)...), bias
}

// convolve returns the bits of the result without padding. ok is false if the backend declines.
func (c windowCase) convolve(t *testing.T, b *Backend) (bits []uint32, ok bool) {
	t.Helper()
	w, dst, bias := c.operands(t, b)
	ok = b.Convolve(c.window, dst, w, dense(t, b, c.x, append([]int{c.n, c.c}, c.sizes...)...), bias)
	return wordsOf(dst), ok
}

// bands returns the number of bands.
func (c windowCase) bands(t *testing.T, b *Backend) int {
	t.Helper()
	w, dst, _ := c.operands(t, b)
	x := dense(t, b, nil, append([]int{c.n, c.c}, c.sizes...)...)
	conv, ok := newConvolution(b.tier, c.window, dst, w, x)
	if !ok {
		t.Fatalf("%+v is declined", c.window)
	}
	return conv.bands()
}

// contract returns the bits of the product of w and the windows of padded images.
func (c windowCase) contract(t *testing.T, b *Backend) []uint32 {
	t.Helper()
	dims := len(c.sizes)
	w, dst, bias := c.operands(t, b)
	p := c.window
	lo, padded := make([]int, dims), []int{c.n, c.c}
	for i := range dims {
		a := windowAxis{stride: p.Stride[i], dilation: p.Dilation[i], before: p.Before[i]}
		last, end := c.places[i]-1, c.kernel[i]-1
		lo[i] = max(0, -min(a.at(0, 0), a.at(0, end)))
		padded = append(padded, lo[i]+max(c.sizes[i], max(a.at(last, 0), a.at(last, end))+1))
	}
	x := dense(t, b, nil, padded...)
	inside := x
	inside.Shape = append([]int{c.n, c.c}, c.sizes...)
	seen := x
	for i := range dims {
		inside.Offset += lo[i] * x.Stride[2+i]
		seen.Offset += (lo[i] - p.Before[i]) * x.Stride[2+i]
	}
	b.Run(driver.Kernel{Code: driver.Copy}, inside, dense(t, b, c.x, inside.Shape...))
	seen.Shape, seen.Stride = slices.Clone(c.kernel), nil
	for i := range dims {
		seen.Stride = append(seen.Stride, p.Dilation[i]*x.Stride[2+i])
	}
	seen.Shape, seen.Stride = append(seen.Shape, c.c, c.n), append(seen.Stride, x.Stride[1], x.Stride[0])
	for i := range dims {
		seen.Shape, seen.Stride = append(seen.Shape, c.places[i]), append(seen.Stride, p.Stride[i]*x.Stride[2+i])
	}
	move := func(v driver.View, from, to int) driver.View {
		for _, list := range []*[]int{&v.Shape, &v.Stride} {
			n := (*list)[from]
			*list = slices.Insert(slices.Delete(slices.Clone(*list), from, from+1), to, n)
		}
		return v
	}
	src := []driver.View{move(w, 1, 1+dims), seen}
	result := move(dst, 0, 1)
	if bias != nil {
		v := *bias
		v.Shape, v.Stride = result.Shape, append([]int{1}, make([]int, 1+dims)...)
		src = append(src, v)
	}
	b.Run(driver.Kernel{Code: driver.Contract, Params: driver.ContractParams{Rows: 1, Columns: 1 + dims, Sum: 1 + dims}}, result, src...)
	return wordsOf(dst)
}

package cpu

import (
	"math"
	"math/rand/v2"
	"testing"

	"halfnote/internal/testenv"
	"halfnote/tensor/driver"
	"halfnote/tensor/internal/asm"
)

// TestHalfPasses compares the bits of every code with a pass over half precision with portable Go. The
// operands include subnormal and infinite numbers, NaN and zeros. Lengths are near those of an
// iteration and of an item, at various offsets, in place or not, also with a second operand that
// repeats. Elements outside the result must not change.
func TestHalfPasses(t *testing.T) {
	defer func(l asm.Loops, s asm.Selects, f, b asm.HalfPasses) {
		loops, selects, float16s, bfloat16s = l, s, f, b
	}(loops, selects, float16s, bfloat16s)
	use := func(t *asm.Tier) {
		loops, selects = loopsOf(t), selectsOf(t)
		float16s, bfloat16s = halvesOf(t)
	}
	r := rand.New(rand.NewPCG(9, 10))
	b := New(2)
	share := testenv.Share(t, 2)
	for i, tier := range asm.Tiers() {
		if tier.Float16.Add == nil {
			t.Errorf("%s: passes over half precision are missing", tier.Name)
			continue
		}
		for code, p := range pointwises {
			if (code+i)%share != 0 {
				continue
			}
			k := driver.Kernel{Code: driver.Code(code), Alpha: []float64{0.7, -3, 1e-40, math.Inf(1), math.Float64frombits(0x7fffffffffffffff)}[r.IntN(5)]}
			if k.Code == driver.Pow {
				k.Alpha = 2
			}
			if k.Code == driver.Affine {
				k.Beta = float64(r.IntN(2)) * 0.1
			}
			use(tier)
			if run, _, _ := halfPassOf(k, driver.Float16); run == nil {
				continue
			}
			for _, n := range []int{16, 63, 64, 65, 127, 640, 650, 1024, 1000, bulk + 77, copyItem + 200} {
				for _, d := range []driver.DType{driver.Float16, driver.BFloat16} {
					how := r.IntN(8) // parameter of runHalves
					offset := 1 + r.IntN(40)
					words := halfWords(r, d, 3*(n+100))
					var got [2][]uint16
					for i, tier := range []*asm.Tier{nil, tier} {
						use(tier)
						got[i] = runHalves(t, b, k, d, n, offset, how, p.operands, words)
					}
					for i, want := range got[0] {
						if got[1][i] != want {
							t.Errorf("%s: %v of %d %v, offset %d, how %d: element %d: got bits %04x, want %04x", tier.Name, k, n, d, offset, how, i, got[1][i], want)
							break
						}
					}
				}
			}
		}
	}
}

// runHalves returns the buffer of k's result, which has n of n+100 elements from an offset on. how
// selects the layout: up to 5, whether the result replaces an operand and, if odd, that the second
// operand is one number; with 6 and 7 the second operand is a row or a column.
func runHalves(t *testing.T, b *Backend, k driver.Kernel, d driver.DType, n, offset, how, operands int, words []uint16) []uint16 {
	t.Helper()
	views := make([]driver.View, 3)
	for i := range views {
		buf, err := b.Alloc(2 * (n + 100))
		if err != nil {
			t.Fatal(err)
		}
		copy(elements[uint16](bufferOf(buf)), words[i*(n+100):][:n+100])
		views[i] = driver.View{Buffer: buf, DType: d, Offset: offset, Shape: []int{n}, Stride: []int{1}}
	}
	switch {
	case how >= 6:
		rows := 1
		for _, r := range []int{5, 4, 3} {
			if n%r == 0 {
				rows = r
				break
			}
		}
		for i := range views {
			views[i].Shape, views[i].Stride = []int{rows, n / rows}, []int{n / rows, 1}
		}
		views[2].Stride = [][]int{{0, 1}, {3, 0}}[how-6]
	case how%2 == 1:
		views[2].Stride = []int{0}
	}
	dst, src := views[0], views[1:1+operands]
	switch {
	case how == 4 && operands == 2:
		dst = src[1]
	case how >= 2:
		dst = src[0]
	}
	b.Run(k, dst, src...)
	return append([]uint16(nil), elements[uint16](bufferOf(dst.Buffer))[:n+100]...)
}

// halfWords returns bits of half precision, often with equal exponents, so that sums are ties.
func halfWords(r *rand.Rand, d driver.DType, n int) []uint16 {
	list := make([]uint16, n)
	for i := range list {
		list[i] = uint16(r.Uint32())
		switch r.IntN(8) {
		case 0:
			list[i] &= 0x8000
		case 1:
			list[i] &= 0x83ff // subnormal, or small
		case 2, 3:
			list[i] = list[i]&0x83ff | 0x3c00
		case 4:
			list[i] |= 0x7c00 // infinite, NaN, or large
			if d == driver.BFloat16 {
				list[i] |= 0x7f80
				if i%2 == 0 {
					list[i] &= 0xff80
				}
			} else if i%2 == 0 {
				list[i] &= 0xfc00
			}
		}
	}
	return list
}

// TestFiniteHalves compares every pattern of 16 bits, at a random place of vectors of many lengths, with the bits of its exponent.
func TestFiniteHalves(t *testing.T) {
	defer func(l asm.Loops) { loops = l }(loops)
	r := rand.New(rand.NewPCG(11, 12))
	for _, tier := range asm.Tiers() {
		loops = loopsOf(tier)
		if loops.Largest16 == nil {
			t.Errorf("%s: the pass is missing", tier.Name)
			continue
		}
		for _, d := range []driver.DType{driver.Float16, driver.BFloat16} {
			exponent := uint16(0x7c00)
			if d == driver.BFloat16 {
				exponent = 0x7f80
			}
			for word := range 1 << 16 {
				x := make([]uint16, 2+2*r.IntN(100))
				for i := range x {
					x[i] = uint16(r.Uint32()) &^ 0x0400 &^ 0x0080 // finite in both dtypes
				}
				x[r.IntN(len(x))] = uint16(word)
				if got, want := finiteHalves(x, d), uint16(word)&exponent != exponent; got != want {
					t.Fatalf("%s: %v with %04x among %d elements: got %v, want %v", tier.Name, d, word, len(x), got, want)
				}
			}
		}
	}
}

package cpu

import (
	"math/rand/v2"
	"slices"
	"testing"
	"unsafe"

	"halfnote/internal/testenv"
	"halfnote/tensor/driver"
	"halfnote/tensor/internal/asm"
	"halfnote/tensor/internal/half"
)

// testTiers returns the tiers of this processor and, with AVX-512, that of AMX with tiles multiplied in
// Go, so that its packing and blocking are tested without AMX.
func testTiers() []*asm.Tier {
	list := asm.Tiers()
	if t := asm.WithTiles(modelTiles); t != nil {
		t.Name = "amx in Go"
		list = append(slices.Clone(list), t)
	}
	return list
}

// modelTiles implements [asm.Tiles] in Go.
func modelTiles(t *asm.Panels) {
	const lines, pairs = asm.TileLines, asm.TileBlock / 2
	float := func(base unsafe.Pointer, i int) *float32 { return (*float32)(unsafe.Add(base, i*4)) }
	for i := range t.Rows {
		a := unsafe.Add(t.A, i/lines*t.StepA+i%lines*t.RowA)
		for j := range lines {
			var c float32
			if t.Sums != nil {
				c = *float(unsafe.Add(t.Sums, i*t.LdSums), j)
			}
			for k := range t.K {
				x := (*[pairs][2]uint16)(unsafe.Add(a, k*t.SlotA))
				var even, odd float32
				for p, x := range x {
					y := *(*[2]uint16)(unsafe.Add(t.B, ((k*pairs+p)*lines+j)*4))
					even = flushedSmallFMA(flush(half.BFloat16frombits(x[0])), flush(half.BFloat16frombits(y[0])), even)
					odd = flushedSmallFMA(flush(half.BFloat16frombits(x[1])), flush(half.BFloat16frombits(y[1])), odd)
				}
				c = flush(c + flush(even+odd))
			}
			if t.Bias != nil {
				c += *float(unsafe.Add(t.Bias, i*t.LdBias), j)
			}
			to := unsafe.Add(t.C, i*t.Ldc)
			switch t.As {
			case asm.Float16:
				narrow(unsafe.Slice((*uint16)(unsafe.Add(to, 2*j)), 1), []float32{c}, driver.Float16)
			case asm.BFloat16, asm.StreamBFloat16:
				narrow(unsafe.Slice((*uint16)(unsafe.Add(to, 2*j)), 1), []float32{c}, driver.BFloat16)
			default:
				*float(to, j) = c
			}
		}
	}
}

// TestTiles compares products that are large enough for tiles, in all layouts, with portable code, and
// checks that tiles are used.
func TestTiles(t *testing.T) {
	calls := 0
	tier := asm.WithTiles(func(p *asm.Panels) { calls++; modelTiles(p) })
	if tier == nil {
		t.Skip("needs AVX-512, for the packs of the tier of AMX")
	}
	r := rand.New(rand.NewPCG(13, 14))
	portable := on(1, nil)
	for i := range 48 / testenv.Share(t, 2) {
		c := productCase{
			dtype: driver.BFloat16, to: []driver.DType{driver.BFloat16, driver.Float32}[i/16%2], bias: i % 3, batch: 1 + i%2,
			m: 32 + r.IntN(70), n: 32 + r.IntN(70), k: 32 + r.IntN(70), orders: [3]int{i % 4, i / 4 % 4, r.IntN(3)},
		}
		switch i % 8 {
		case 3: // several packed blocks of k
			c.m, c.n, c.k = 32+r.IntN(34), 32+r.IntN(34), 500+r.IntN(700)
		case 6: // several items, and C stored around the cache
			c.m, c.n, c.k, c.batch, c.bias, c.to = 720, 416, 32+r.IntN(4), 1, 0, []driver.DType{driver.Float32, driver.BFloat16}[i/8%2]
		}
		words := magnitudes(r, driver.BFloat16, i%2 == 0, 20000)
		want, before := c.run(t, portable, words), calls
		got := c.run(t, on(1, tier), words)
		if calls == before {
			t.Errorf("%+v: tiles were not used", c)
		}
		for j := range want {
			if got[j] != want[j] {
				t.Errorf("%+v: element %d: got bits %08x, want %08x", c, j, got[j], want[j])
				break
			}
		}
	}
}

package drivertest

import (
	"math"
	"slices"
	"testing"

	"halfnote/tensor/driver"
)

func testUnscale(t *testing.T, b driver.Backend) {
	inf, nan := math.Inf(1), math.NaN()
	for _, d := range dtypes {
		if !b.Offers(driver.Unscale, d, driver.Float32) {
			t.Logf("%v: not offered", d)
			continue
		}
		for _, shape := range shapes {
			for _, s := range layoutsOf(shape)[:min(3, len(layoutsOf(shape)))] {
				for _, alpha := range []float64{1.0 / 65536, 1, 3, inf} {
					for _, bad := range []float64{0, inf, -inf, nan} {
						x := slices.Clone(random(driver.View{Shape: shape}.Len()))
						if bad != 0 && len(x) > 0 {
							x[len(x)*3/4] = bad
						}
						v := newView(t, b, d, shape, s)
						if len(x) > 0 {
							set(b, v, x)
						}
						for _, before := range []float64{0, 1} {
							found := place(t, b, driver.Float32, []int{1}, dense, []float64{before})
							old := values(b, v)
							k, src := driver.Kernel{Code: driver.Unscale, Alpha: alpha}, []driver.View{found}
							if (alpha == 3 || alpha == 1) && b.Offers(k.Code, d, driver.Float32, driver.Float32) {
								k.Alpha, src = 7, append(src, place(t, b, driver.Float32, []int{1}, dense, []float64{alpha}))
							}
							b.Run(k, v, src...)
							want := before
							for i, got := range values(b, v) {
								if math.IsInf(old[i], 0) || math.IsNaN(old[i]) {
									want = 1
								}
								if to := round(d, round(wide(d), round(wide(d), alpha)*old[i])); !equal(got, to) {
									t.Fatalf("%s: element %d: %g * %g: got %g, want %g", name(d, s, shape), i, old[i], alpha, got, to)
								}
							}
							if got := values(b, found)[0]; got != want {
								t.Fatalf("%s with %g among the elements: the flag changed from %g to %g, want %g", name(d, s, shape), bad, before, got, want)
							}
							checkHoles(t, b, v)
						}
					}
				}
			}
		}
	}
}

func testSGD(t *testing.T, b driver.Backend) {
	const n = 3001
	for _, d := range dtypes {
		for _, c := range []struct {
			momentum, decay, dampening float64 // a momentum of -1 means that there is no velocity
			nesterov, first            bool
		}{
			{momentum: -1}, {}, {momentum: 0.9}, {momentum: -1, decay: 0.3}, {momentum: 0.9, decay: 0.3},
			{momentum: 0.9, dampening: 0.4}, {momentum: 0.9, dampening: 0.4, first: true},
			{momentum: 0.9, nesterov: true}, {momentum: 0.9, nesterov: true, first: true, decay: 0.3},
		} {
			for _, s := range []strategy{dense, reversed, gaps} {
				shape := []int{n, 2}
				w := place(t, b, d, shape, s, random(2*n))
				src := []driver.View{place(t, b, d, shape, dense, random(2*n+1))}
				if c.momentum >= 0 {
					src = append(src, place(t, b, d, shape, s, random(2*n+2)))
				}
				if !b.Offers(driver.SGD, d, []driver.DType{d, d}[:len(src)]...) {
					t.Logf("%v: not offered", d)
					continue
				}
				to := func(x float64) float64 { return round(d, x) }
				mid := func(x float64) float64 { return round(wide(d), x) }
				times := func(a, x float64) float64 { return mid(mid(a) * x) }
				want, g, v := values(b, w), values(b, src[0]), make([]float64, 2*n)
				h := slices.Clone(g)
				for i := range h {
					h[i] = to(h[i] + times(c.decay, want[i]))
				}
				copy(v, h)
				if c.momentum >= 0 && !c.first {
					for i, old := range values(b, src[1]) {
						v[i] = to(to(mid(c.momentum)*old) + times(1-c.dampening, h[i]))
					}
				}
				for i := range want {
					step := v[i]
					if c.nesterov {
						step = to(h[i] + times(c.momentum, v[i]))
					}
					want[i] = to(want[i] + times(-0.1, step))
				}
				params := driver.SGDParams{Rate: 0.1, Momentum: max(c.momentum, 0), Decay: c.decay, Dampening: c.dampening, Nesterov: c.nesterov, First: c.first}
				half := copiesOf(t, b, driver.SGD, w, src)
				b.Run(driver.Kernel{Code: driver.SGD, Params: params}, w, append(src, half...)...)
				compareCopies(t, name(d, s, c, "copy"), b, w, half)
				compare(t, name(d, s, c, "parameter"), values(b, w), want)
				if c.momentum >= 0 {
					compare(t, name(d, s, c, "buffer"), values(b, src[1]), v)
				}
				compare(t, name(d, s, c, "gradient"), values(b, src[0]), g)
			}
		}
	}
}

// testBatch compares kernels run together with kernels run one by one.
func testBatch(t *testing.T, b driver.Backend) {
	batcher, ok := b.(driver.Batcher)
	if !ok {
		t.Skip("not offered")
	}
	kernels := []driver.Kernel{
		{Code: driver.SGD, Params: driver.SGDParams{Rate: 0.1, Momentum: 0.9}}, {Code: driver.Unscale, Alpha: 0.25}, {Code: driver.Mul},
		{Code: driver.Adam, Params: adamParams},
	}
	var got, want []driver.Launch
	for i, n := range []int{0, 1, 5, 300, 40_000, 7, 100_000, 3, 1, 20, 33_000, 64} {
		k := kernels[i%len(kernels)]
		var views [2][]driver.View
		for j := range views {
			for l := range 4 {
				x := random(n + l)[:n]
				for e := range x {
					x[e] = math.Abs(x[e])
				}
				views[j] = append(views[j], place(t, b, driver.Float32, []int{n}, dense, x))
			}
		}
		count := map[driver.Code]int{driver.SGD: 3, driver.Mul: 3, driver.Adam: 4}[k.Code]
		for j, list := range []*[]driver.Launch{&got, &want} {
			src := views[j][1:max(count, 1)]
			if k.Code == driver.Unscale {
				bad := []float64{0}
				src = []driver.View{place(t, b, driver.Float32, []int{1}, dense, bad)}
			}
			if !b.Offers(k.Code, driver.Float32, []driver.DType{driver.Float32, driver.Float32, driver.Float32}[:len(src)]...) {
				t.Skipf("%v: not offered", k.Code)
			}
			*list = append(*list, driver.Launch{Kernel: k, Dst: views[j][0], Src: src})
		}
	}
	batcher.RunAll(nil)
	batcher.RunAll(got)
	for i, l := range want {
		b.Run(l.Kernel, l.Dst, l.Src...)
		for j, v := range append([]driver.View{l.Dst}, l.Src...) {
			other := append([]driver.View{got[i].Dst}, got[i].Src...)[j]
			compare(t, name(l.Kernel.Code, "of", l.Dst.Len(), "operand", j), values(b, other), values(b, v))
		}
	}
}

var adamParams = driver.AdamParams{Rate: 0.1, Beta1: 0.8, Beta2: 0.7, Eps: 1e-4, Decay: 0.1, Scale: 1.5}

func testAdam(t *testing.T, b driver.Backend) {
	const n = 3001
	for _, d := range []driver.DType{driver.Float32, driver.Float64} {
		if !b.Offers(driver.Adam, d, d, d, d) {
			t.Logf("%v: not offered", d)
			continue
		}
		for _, s := range []strategy{dense, reversed, gaps} {
			shape := []int{n, 2}
			w := place(t, b, d, shape, s, random(2*n))
			g := place(t, b, d, shape, dense, random(2*n+1))
			m := place(t, b, d, shape, s, random(2*n+2))
			squares := random(2*n + 3)
			for i, x := range squares {
				squares[i] = math.Abs(x)
			}
			v := place(t, b, d, shape, s, squares)
			to := func(x float64) float64 { return round(d, x) }
			p := adamParams
			share1, beta2, share2, kept := to(1-p.Beta1), to(p.Beta2), to(1-p.Beta2), to(1-p.Decay)
			rate, eps, scale := to(p.Rate), to(p.Eps), to(p.Scale)
			wantW, wantM, wantV, gs := values(b, w), values(b, m), values(b, v), values(b, g)
			for i, g := range gs {
				wantM[i] = to(wantM[i] + to(share1*to(g-wantM[i])))
				wantV[i] = to(to(beta2*wantV[i]) + to(share2*to(g*g)))
				divisor := to(to(scale*to(math.Sqrt(wantV[i]))) + eps)
				wantW[i] = to(to(kept*wantW[i]) - to(rate*to(wantM[i]/divisor)))
			}
			half := copiesOf(t, b, driver.Adam, w, []driver.View{g, m, v})
			b.Run(driver.Kernel{Code: driver.Adam, Params: p}, w, append([]driver.View{g, m, v}, half...)...)
			compareCopies(t, name(d, s, "copy"), b, w, half)
			compare(t, name(d, s, "parameter"), values(b, w), wantW)
			compare(t, name(d, s, "first mean"), values(b, m), wantM)
			compare(t, name(d, s, "second mean"), values(b, v), wantV)
			compare(t, name(d, s, "gradient"), values(b, g), gs)
		}
	}
}

// copiesOf returns an operand of a step of w for its copy in half precision, in float16 or bfloat16 by
// the number of the other operands and the layout, or none if the backend does not offer it.
func copiesOf(t *testing.T, b driver.Backend, code driver.Code, w driver.View, src []driver.View) []driver.View {
	var dtypes []driver.DType
	for _, v := range src {
		dtypes = append(dtypes, v.DType)
	}
	d, s := driver.BFloat16, dense
	if (len(src)+w.Offset)%2 == 0 {
		d, s = driver.Float16, reversed
	}
	if w.DType != driver.Float32 || !b.Offers(code, w.DType, append(dtypes, d)...) {
		return nil
	}
	return []driver.View{newView(t, b, d, w.Shape, s)}
}

// compareCopies compares the copies of w, if there are any, with w.
func compareCopies(t *testing.T, what string, b driver.Backend, w driver.View, half []driver.View) {
	t.Helper()
	for _, v := range half {
		want := values(b, w)
		for i, x := range want {
			want[i] = round(v.DType, x)
		}
		compare(t, what, values(b, v), want)
		checkHoles(t, b, v)
	}
}

func compare(t *testing.T, what string, got, want []float64) {
	t.Helper()
	for i := range got {
		if !equal(got[i], want[i]) {
			t.Errorf("%s: element %d: got %g, want %g", what, i, got[i], want[i])
			return
		}
	}
}

package drivertest

import (
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"halfnote/tensor/driver"
)

// testAdvance checks [driver.Advance], which counts the steps of tensors and skips them if a flag is set.
func testAdvance(t *testing.T, b driver.Backend) {
	if !b.Offers(driver.Advance, driver.Float64, driver.Float32) {
		t.Skip("not offered")
	}
	const rate, beta1, beta2 = 0.1, 0.9, 0.999
	near := func(got, want float64) bool { return math.Abs(got-want) <= 1e-12*math.Abs(want) } // 1 - 0.999^n cancels
	for _, n := range []int{1, 3, 300} {
		rows := place(t, b, driver.Float64, []int{n, 4}, dense, []float64{0, 0, 0, 0, 7, 0, 0, 0})
		steps := 0
		for i, flags := range [][]float64{{0}, {1}, {0, 0, 0}, make([]float64, 300), append(make([]float64, 299), math.NaN()), {0, 1, 0}, {0}} {
			before := values(b, rows)
			found := place(t, b, driver.Float32, []int{len(flags)}, []strategy{dense, gaps}[i%2], flags)
			b.Run(driver.Kernel{Code: driver.Advance, Params: driver.AdvanceParams{Rate: rate, Beta1: beta1, Beta2: beta2}}, rows, found)
			skip := slices.ContainsFunc(flags, func(x float64) bool { return x != 0 })
			if !skip {
				steps++
			}
			got := values(b, rows)
			for r := range n {
				row, want := got[4*r:4*r+4], before[4*r:4*r+4]
				if want[1] = 0; !skip {
					count := float64(steps + r%2*7)
					want = []float64{count, 1, rate / (1 - math.Pow(beta1, count)), 1 / math.Sqrt(1-math.Pow(beta2, count))}
				}
				if row[0] != want[0] || row[1] != want[1] || !near(row[2], want[2]) || !near(row[3], want[3]) {
					t.Fatalf("%d rows, call %d, row %d: got %v, want %v", n, i, r, row, want)
				}
			}
		}
	}
}

// testGuarded compares guarded steps and the copies that they write with plain steps and copies of their
// results.
func testGuarded(t *testing.T, b driver.Backend) {
	for _, c := range []struct {
		guarded, plain driver.Code
		params         driver.Params
		operands       int // number of operands: the gradient and the state
	}{
		{driver.GuardedSGD, driver.SGD, driver.SGDParams{}, 1},
		{driver.GuardedSGD, driver.SGD, driver.SGDParams{Decay: 0.3}, 1},
		{driver.GuardedSGD, driver.SGD, driver.SGDParams{Momentum: 0.9, Decay: 0.3, Dampening: 0.4, First: true}, 2},
		{driver.GuardedSGD, driver.SGD, driver.SGDParams{Momentum: 0.9, Nesterov: true}, 2},
		{driver.GuardedAdam, driver.Adam, driver.AdamParams{Beta1: 0.8, Beta2: 0.7, Eps: 1e-4, Decay: 0.1}, 3},
	} {
		for _, d := range dtypes {
			for _, half := range []driver.DType{driver.Invalid, driver.Float16, driver.BFloat16} {
				if half != driver.Invalid && d != driver.Float32 {
					continue
				}
				for _, row := range [][]float64{nil, {1, 1, 0.1, 1.5}, {2, 1, 0.1, 1.5}, {2, 0, 0.1, 1.5}, {1, 0, 0.1, 1.5}} {
					for _, s := range []strategy{dense, reversed, gaps} {
						testGuard(t, b, c.guarded, c.plain, c.params, c.operands, d, half, row, s)
					}
				}
			}
		}
	}
}

func testGuard(t *testing.T, b driver.Backend, guarded, plain driver.Code, params driver.Params, operands int, d, half driver.DType, row []float64, s strategy) {
	t.Helper()
	shape := []int{301, 2}
	var views [2][]driver.View // views of both kernels
	for i := range views {
		for j := range 1 + operands {
			x := slices.Clone(random(602 + j))
			for e := range x {
				if j == 3 {
					x[e] = math.Abs(x[e])
				}
			}
			views[i] = append(views[i], place(t, b, d, shape, s, x))
		}
	}
	k, src := driver.Kernel{Code: plain, Params: withRate(params)}, slices.Clone(views[0][1:])
	if row != nil {
		k, src = driver.Kernel{Code: guarded, Params: params}, append([]driver.View{place(t, b, driver.Float64, []int{4}, dense, row)}, src...)
	}
	if half != driver.Invalid {
		src = append(src, place(t, b, half, shape, dense, []float64{77}))
	}
	list := make([]driver.DType, len(src))
	for i, v := range src {
		list[i] = v.DType
	}
	if !b.Offers(k.Code, d, list...) {
		return
	}
	b.Run(k, views[0][0], src...)
	if row == nil || row[1] != 0 {
		params := withRate(params)
		if p, ok := params.(driver.SGDParams); ok && row != nil && row[0] != 1 {
			p.First = false
			params = p
		}
		b.Run(driver.Kernel{Code: plain, Params: params}, views[1][0], views[1][1:]...)
	}
	for j, v := range views[0] {
		compare(t, name(guarded, d, half, row, s, "operand", j), values(b, v), values(b, views[1][j]))
		checkHoles(t, b, v)
	}
	if half != driver.Invalid {
		want := newView(t, b, half, shape, dense)
		b.Run(driver.Kernel{Code: driver.Copy}, want, views[1][0])
		compare(t, name(guarded, d, half, row, s, "copy"), values(b, src[len(src)-1]), values(b, want))
	}
}

// withRate returns the parameters of a step with the rate and the scale of the rows of testGuarded.
func withRate(params driver.Params) driver.Params {
	switch p := params.(type) {
	case driver.SGDParams:
		p.Rate = 0.1
		return p
	case driver.AdamParams:
		p.Rate, p.Scale = 0.1, 1.5
		return p
	}
	return params
}

// testUpdateScale compares [driver.UpdateScale] with its rule written in Go, for random sequences of overflows.
func testUpdateScale(t *testing.T, b driver.Backend) {
	if !b.Offers(driver.UpdateScale, driver.Float32, driver.Float32) {
		t.Skip("not offered")
	}
	r := rand.New(rand.NewPCG(5, 6))
	inf := float32(math.Inf(1))
	for i, c := range []struct {
		scale, growth, backoff float64
		interval, hysteresis   int
		least, most            float32
		overflows              float64 // probability of an overflow
	}{
		{65536, 2, 0.5, 3, 1, 0, inf, 0.3},
		{3, 1.7, 0.3, 2, 2, 1, 1000, 0.4},
		{1e38, 16, 0.5, 1, 1, 0, inf, 0.1},   // an infinite scale is not stored
		{1e-44, 2, 0.25, 4, 1, 0, inf, 0.9},  // to 0, whose inverse is infinite
		{10, 1.1, 0.9, 1, 3, 5, 10, 0.5},     // between limits
		{1, 2, 0.5, 2, 1, 4, 0.5, 0.5},       // beyond both limits
		{65536, 1, 1, 1, 1000, 0, inf, 0.99}, // constant
	} {
		scale, clean, overflows := float32(c.scale), 0, 0
		p := driver.ScaleParams{Growth: c.growth, Backoff: c.backoff, Interval: c.interval, Hysteresis: c.hysteresis, Min: c.least, Max: c.most}
		state := place(t, b, driver.Float32, []int{4}, dense, []float64{c.scale, 1 / c.scale, 0, 0})
		for step := range 40 {
			flags := make([]float64, 1+r.IntN(5))
			bad := r.Float64() < c.overflows
			if bad {
				flags[r.IntN(len(flags))] = 1
			}
			b.Run(driver.Kernel{Code: driver.UpdateScale, Params: p},
				state, place(t, b, driver.Float32, []int{len(flags)}, dense, flags))
			if bad {
				clean = 0
				if overflows++; overflows >= c.hysteresis {
					scale = max(float32(float64(scale)*c.backoff), min(scale, c.least))
				}
			} else if clean++; clean == c.interval {
				clean, overflows = 0, 0
				if higher := min(float32(float64(scale)*c.growth), max(scale, c.most)); !math.IsInf(float64(higher), 0) {
					scale = higher
				}
			}
			want := []float64{float64(scale), float64(float32(1 / float64(scale))), float64(clean), float64(overflows)}
			if got := values(b, state); !slices.Equal(got, want) {
				t.Fatalf("case %d, step %d, overflow %v: got %v, want %v", i, step, bad, got, want)
			}
		}
	}
}

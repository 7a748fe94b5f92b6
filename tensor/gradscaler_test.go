package tensor

import (
	"fmt"
	"math"
	"slices"
	"strings"
	"testing"

	"halfnote/internal/plumbing"
)

// TestUpdateScale checks the sequence of scales; "!" marks an overflow. The expected values come from
// torch's test_torch.py and from float32 arithmetic.
func TestUpdateScale(t *testing.T) {
	for _, c := range []struct {
		plumbing.ScaleSettings
		scale    float64
		overflow []int
		want     string
	}{
		{plumbing.ScaleSettings{Growth: 2, Backoff: 0.25, Interval: 2}, 4, []int{2}, "4/1 8/0 2!/0"},
		{plumbing.ScaleSettings{Growth: 4, Backoff: 0.8, Interval: 2}, 3, []int{1, 4}, "3/1 2.4000001!/0 2.4000001/1 9.60000038/0 7.68000031!/0 7.68000031/1 30.7200012/0"},
		{plumbing.ScaleSettings{Growth: 16, Backoff: 0.5, Interval: 1}, 1e38, nil, "9.99999968e+37/0 9.99999968e+37/0"},
		{plumbing.ScaleSettings{Growth: 2, Backoff: 0.5, Interval: 2, Hysteresis: 2, Least: 3}, 5, []int{0, 1, 2, 3}, "5!/0 3!/0 3!/0 3!/0 3/1 6/0"},
		{plumbing.ScaleSettings{Growth: 2, Backoff: 0.5, Interval: 1, Most: 5}, 2, []int{3}, "4/0 5/0 5/0 2.5!/0"},
		{plumbing.ScaleSettings{Growth: 2, Backoff: 0.5, Interval: 1, Static: true}, 2, []int{1}, "2/0 2!/0"},
	} {
		if c.Most == 0 {
			c.Most = float32(math.Inf(1))
		}
		whole := New([]float64{7, 7, c.scale, 1 / c.scale, 0, 0, 7}, 7)
		state := whole.Narrow(0, 2, 4)
		var got []string
		for i := range strings.Fields(c.want) {
			found, mark := Zeros(3), ""
			if slices.Contains(c.overflow, i) {
				found, mark = New([]float64{0, 1, 0}, 3), "!"
			}
			fused{}.UpdateScale(state, found, c.ScaleSettings)
			x := state.Float64s()
			if x[1] != float64(float32(1/x[0])) {
				t.Errorf("scale %v: got the inverse %v", x[0], x[1])
			}
			got = append(got, fmt.Sprintf("%.9g%s/%v", x[0], mark, x[2]))
		}
		if g := strings.Join(got, " "); g != c.want {
			t.Errorf("%+v: got %s, want %s", c.ScaleSettings, g, c.want)
		}
		if x := whole.Float64s(); x[1] != 7 || x[6] != 7 {
			t.Errorf("the element after the state changed to %v", x)
		}
	}
	if err := Try(func() { (fused{}).UpdateScale(Zeros(3), Zeros(1), plumbing.ScaleSettings{}) }); err == nil {
		t.Error("a state of 3 elements: got no error")
	}
}

// TestUnscaleFlagsBy checks that a factor in a tensor gives the same results as a number.
func TestUnscaleFlagsBy(t *testing.T) {
	for _, d := range []DType{Float32, Float64, Float16, BFloat16} {
		var sides [2][]*Tensor
		for i := range sides {
			sides[i] = []*Tensor{New([]float64{1, 2, 3}, 3).To(d), New([]float64{1, math.Inf(1)}, 2).To(d)}
		}
		want, got := fused{}.UnscaleFlags(sides[0], 0.25), fused{}.UnscaleFlagsBy(sides[1], Scalar(0.25))
		if !slices.Equal(got.Float64s(), want.Float64s()) || !slices.Equal(got.Float64s(), []float64{0, 1}) {
			t.Errorf("%v: flags %v, want %v", d, got.Float64s(), want.Float64s())
		}
		for i, x := range sides[1] {
			if !slices.Equal(x.Bits(), sides[0][i].Bits()) {
				t.Errorf("%v: gradient %d is %v, want %v", d, i, x, sides[0][i])
			}
		}
	}
	if err := Try(func() { (fused{}).UnscaleFlagsBy([]*Tensor{Ones(1)}, Ones(1).To(Float64)) }); err == nil {
		t.Error("a factor in float64: got no error")
	}
}

// TestCastWeight checks that castWeight without a copy by an optimizer is an ordinary cast.
func TestCastWeight(t *testing.T) {
	w := New([]float64{1, 2.0001}, 2).RequireGrad()
	for _, d := range []DType{Float16, BFloat16, Float32, Float64} {
		y := fused{}.CastWeight(w, d)
		if y.DType() != d || !slices.Equal(y.Bits(), w.To(d).Bits()) || d != Float32 && y.IsLeaf() {
			t.Errorf("%v: got %v", d, y)
		}
	}
}

// TestCopiesOfSteps checks that a step writes the copy of a weight in half precision once a cast has
// requested it, that the next cast returns that copy, and that it is cast again after a change.
func TestCopiesOfSteps(t *testing.T) {
	for _, d := range []DType{Float16, BFloat16} {
		for name, step := range map[string]func(st *stepList, w, g *Tensor){
			"SGD": func(st *stepList, w, g *Tensor) {
				st.SGD(w, g, nil, plumbing.SGDSettings[*Tensor]{Rate: 0.1, Decay: 0.01})
			},
			"SGD with momentum": func(st *stepList, w, g *Tensor) {
				st.SGD(w, g, ZerosLike(w), plumbing.SGDSettings[*Tensor]{Rate: 0.1, Momentum: 0.9})
			},
			"Adam": func(st *stepList, w, g *Tensor) {
				st.Adam(w, g, ZerosLike(w), ZerosLike(w), nil, plumbing.AdamSettings[*Tensor]{Rate: 0.1, Beta1: 0.9, Beta2: 0.99, Eps: 1e-8, Step: 1})
			},
		} {
			w, g := Randn(70, 33).RequireGrad(), Randn(70, 33)
			fused{}.CastWeight(w, d)
			var st stepList
			step(&st, w, g)
			st.Run()
			held := w.mem.shadow.Load()
			if held == nil || held.copy == nil {
				t.Fatalf("%s, %v: the step wrote no copy", name, d)
			}
			y := fused{}.CastWeight(w, d)
			if y.mem != held.copy.mem || !slices.Equal(y.Bits(), w.To(d).Bits()) {
				t.Errorf("%s, %v: the cast is not the copy, or has other bits than the weight", name, d)
			}
			if again := (fused{}).CastWeight(w, d); again.mem == y.mem || !slices.Equal(again.Bits(), y.Bits()) {
				t.Errorf("%s, %v: a second cast shares memory with the first, or has other bits", name, d)
			}
			step(&st, w, g)
			st.Run()
			NoGrad(func() { w.MulScalarAssign(2) })
			if y := (fused{}).CastWeight(w, d); !slices.Equal(y.Bits(), w.To(d).Bits()) {
				t.Errorf("%s, %v: the cast of a changed weight has other bits", name, d)
			}
		}
	}
}

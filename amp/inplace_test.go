package amp_test

import (
	"maps"
	"reflect"
	"strings"
	"testing"

	"halfnote/amp"
	"halfnote/tensor"
)

// inPlaceCalls calls the methods that change a tensor in place, with x of shape (4, 4), y of the same shape,
// and positions. Those that take one tensor or none are left out, unless it must be of bools.
var inPlaceCalls = map[string]func(x, y, at ten) ten{
	"AddScalarAssign": func(x, _, _ ten) ten { return x.AddScalarAssign(.1) }, "AddScaledAssign": func(x, y, _ ten) ten { return x.AddScaledAssign(y, .1) },
	"AddcdivAssign": func(x, y, _ ten) ten { return x.AddcdivAssign(y, y, .1) }, "AddcmulAssign": func(x, y, _ ten) ten { return x.AddcmulAssign(y, y, .1) },
	"AndAssign": func(x, y, _ ten) ten { return x.GtScalar(1).AndAssign(y.GtScalar(1)) }, "Assign": func(x, y, _ ten) ten { return x.Assign(y) },
	"ClampAssign":         func(x, _, _ ten) ten { return x.ClampAssign(.6, .8) },
	"DivScalarAssign":     func(x, _, _ ten) ten { return x.DivScalarAssign(3) },
	"IndexAddAssign":      func(x, y, at ten) ten { return x.IndexAddAssign(0, at.Select(0, 0), y, 1) },
	"IndexCopyAssign":     func(x, y, at ten) ten { return x.IndexCopyAssign(0, at.Select(0, 0), y) },
	"IndexFillAssign":     func(x, _, at ten) ten { return x.IndexFillAssign(0, at.Select(0, 0), .3) },
	"LerpAssign":          func(x, y, _ ten) ten { return x.LerpAssign(y, .3) },
	"MaskedFillAssign":    func(x, y, _ ten) ten { return x.MaskedFillAssign(y.GtScalar(.7), .3) },
	"MaskedScatterAssign": func(x, y, _ ten) ten { return x.MaskedScatterAssign(y.GtScalar(.7), y) },
	"NormalAssign":        func(x, _, _ ten) ten { tensor.ManualSeed(1); return x.NormalAssign(1, .2) },
	"UniformAssign":       func(x, _, _ ten) ten { tensor.ManualSeed(1); return x.UniformAssign(.5, 1.5) },
	"OrAssign":            func(x, y, _ ten) ten { return x.GtScalar(1).OrAssign(y.GtScalar(1)) },
	"PowAssign":           func(x, _, _ ten) ten { return x.PowAssign(1.7) },
	"MulScalarAssign":     func(x, _, _ ten) ten { return x.MulScalarAssign(.7) }, "ScatterAddAssign": func(x, y, at ten) ten { return x.ScatterAddAssign(0, at, y) },
	"ScatterAssign":   func(x, y, at ten) ten { return x.ScatterAssign(0, at, y) },
	"SubScalarAssign": func(x, _, _ ten) ten { return x.SubScalarAssign(.1) },
}

// TestInPlaceIsNotCast checks that in-place operations run in their operands' dtypes under every
// policy: torch casts only out-of-place operations.
func TestInPlaceIsNotCast(t *testing.T) {
	methods := reflect.TypeFor[*tensor.Tensor]()
	calls := maps.Clone(inPlaceCalls)
	for i := range methods.NumMethod() {
		m := methods.Method(i)
		if !strings.HasSuffix(m.Name, "Assign") || calls[m.Name] != nil {
			continue
		}
		switch f := m.Func.Interface().(type) {
		case func(x ten) ten:
			calls[m.Name] = func(x, _, _ ten) ten { return f(x) }
		case func(x, y ten) ten:
			calls[m.Name] = func(x, y, _ ten) ten { return f(x, y) }
		default:
			t.Errorf("%s has no call in inPlaceCalls", m.Name)
		}
	}
	at := tensor.FromInts([]int{0, 1, 2, 3, 1, 2, 3, 0, 2, 3, 0, 1, 3, 0, 1, 2}, 4, 4)
	for name, f := range calls {
		for _, d := range []tensor.DType{tensor.Float16, tensor.BFloat16, tensor.Float32} {
			g := tensor.NewGenerator(2)
			x, y := g.Uniform(.5, 1.5, 4, 4).To(d), g.Uniform(.5, 1.5, 4, 4).To(d)
			want := f(x.Clone(), y, at)
			for _, p := range []amp.Policy{amp.Float16, amp.CPUBFloat16} {
				var got ten
				made, cached := casts(func() { amp.Autocast(p, func() { got = f(x.Clone(), y, at) }) })
				if made+cached != 0 || !sameBits(got, want) {
					t.Errorf("%v: %s of %v: got %d casts and %v, want 0 and %v", p, name, d, made, got, want)
				}
			}
		}
	}
}

// TestOutIsNotCast checks that with out= an operation runs in its operands' dtype and converts the
// result to the dtype of the given tensor.
func TestOutIsNotCast(t *testing.T) {
	g := tensor.NewGenerator(2)
	x := g.Randn(8, 8)
	z := tensor.Zeros(8, 8)
	want := x.MM(x)
	made, _ := casts(func() {
		amp.Autocast(amp.Float16, func() { tensor.Out(z, func() *tensor.Tensor { return x.MM(x) }) })
	})
	if made != 0 || !sameBits(z, want) {
		t.Errorf("mm with out=: got %d casts and %v, want %v", made, z, want)
	}
}

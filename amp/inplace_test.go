package amp_test

import (
	"reflect"
	"strings"
	"testing"

	"halfnote/amp"
	"halfnote/tensor"
)

// inPlaceCalls calls the methods that change a tensor in place, with x of shape (4, 4), y of the same shape,
// and positions.
var inPlaceCalls = map[string]func(x, y, at ten) ten{
	"AbsAssign": func(x, _, _ ten) ten { return x.AbsAssign() }, "AddAssign": func(x, y, _ ten) ten { return x.AddAssign(y) },
	"AddScalarAssign": func(x, _, _ ten) ten { return x.AddScalarAssign(.1) }, "AddScaledAssign": func(x, y, _ ten) ten { return x.AddScaledAssign(y, .1) },
	"AddcdivAssign": func(x, y, _ ten) ten { return x.AddcdivAssign(y, y, .1) }, "AddcmulAssign": func(x, y, _ ten) ten { return x.AddcmulAssign(y, y, .1) },
	"AndAssign": func(x, y, _ ten) ten { return x.GtScalar(1).AndAssign(y.GtScalar(1)) }, "Assign": func(x, y, _ ten) ten { return x.Assign(y) },
	"CeilAssign": func(x, _, _ ten) ten { return x.CeilAssign() }, "ClampAssign": func(x, _, _ ten) ten { return x.ClampAssign(.6, .8) },
	"CosAssign": func(x, _, _ ten) ten { return x.CosAssign() }, "DivAssign": func(x, y, _ ten) ten { return x.DivAssign(y) },
	"DivScalarAssign": func(x, _, _ ten) ten { return x.DivScalarAssign(3) }, "ExpAssign": func(x, _, _ ten) ten { return x.ExpAssign() },
	"FloorAssign": func(x, _, _ ten) ten { return x.FloorAssign() }, "FloorDivideAssign": func(x, y, _ ten) ten { return x.FloorDivideAssign(y) },
	"IndexAddAssign":  func(x, y, at ten) ten { return x.IndexAddAssign(0, at.Select(0, 0), y, 1) },
	"IndexCopyAssign": func(x, y, at ten) ten { return x.IndexCopyAssign(0, at.Select(0, 0), y) },
	"IndexFillAssign": func(x, _, at ten) ten { return x.IndexFillAssign(0, at.Select(0, 0), .3) },
	"LerpAssign":      func(x, y, _ ten) ten { return x.LerpAssign(y, .3) }, "LogAssign": func(x, _, _ ten) ten { return x.LogAssign() },
	"MaskedFillAssign":    func(x, y, _ ten) ten { return x.MaskedFillAssign(y.GtScalar(.7), .3) },
	"MaskedScatterAssign": func(x, y, _ ten) ten { return x.MaskedScatterAssign(y.GtScalar(.7), y) },
	"MulAssign":           func(x, y, _ ten) ten { return x.MulAssign(y) }, "NanToNumAssign": func(x, _, _ ten) ten { return x.NanToNumAssign() },
	"NormalAssign":  func(x, _, _ ten) ten { tensor.ManualSeed(1); return x.NormalAssign(1, .2) },
	"UniformAssign": func(x, _, _ ten) ten { tensor.ManualSeed(1); return x.UniformAssign(.5, 1.5) },
	"NegAssign":     func(x, _, _ ten) ten { return x.NegAssign() }, "OrAssign": func(x, y, _ ten) ten { return x.GtScalar(1).OrAssign(y.GtScalar(1)) },
	"PowAssign": func(x, _, _ ten) ten { return x.PowAssign(1.7) }, "ReLUAssign": func(x, _, _ ten) ten { return x.ReLUAssign() },
	"ReciprocalAssign": func(x, _, _ ten) ten { return x.ReciprocalAssign() }, "RemainderAssign": func(x, y, _ ten) ten { return x.RemainderAssign(y) },
	"RoundAssign": func(x, _, _ ten) ten { return x.RoundAssign() }, "RsqrtAssign": func(x, _, _ ten) ten { return x.RsqrtAssign() },
	"MulScalarAssign": func(x, _, _ ten) ten { return x.MulScalarAssign(.7) }, "ScatterAddAssign": func(x, y, at ten) ten { return x.ScatterAddAssign(0, at, y) },
	"ScatterAssign": func(x, y, at ten) ten { return x.ScatterAssign(0, at, y) }, "SigmoidAssign": func(x, _, _ ten) ten { return x.SigmoidAssign() },
	"SignAssign": func(x, _, _ ten) ten { return x.SignAssign() }, "SinAssign": func(x, _, _ ten) ten { return x.SinAssign() },
	"SqrtAssign": func(x, _, _ ten) ten { return x.SqrtAssign() }, "SquareAssign": func(x, _, _ ten) ten { return x.SquareAssign() },
	"SubAssign": func(x, y, _ ten) ten { return x.SubAssign(y) }, "SubScalarAssign": func(x, _, _ ten) ten { return x.SubScalarAssign(.1) },
	"TanhAssign": func(x, _, _ ten) ten { return x.TanhAssign() }, "TruncAssign": func(x, _, _ ten) ten { return x.TruncAssign() },
}

// TestInPlaceIsNotCast checks that in-place operations run in their operands' dtypes under every
// policy: torch casts only out-of-place operations.
func TestInPlaceIsNotCast(t *testing.T) {
	methods := reflect.TypeFor[*tensor.Tensor]()
	for i := range methods.NumMethod() {
		if name := methods.Method(i).Name; strings.HasSuffix(name, "Assign") && inPlaceCalls[name] == nil {
			t.Errorf("%s has no call in inPlaceCalls", name)
		}
	}
	at := tensor.FromInts([]int{0, 1, 2, 3, 1, 2, 3, 0, 2, 3, 0, 1, 3, 0, 1, 2}, 4, 4)
	for name, f := range inPlaceCalls {
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

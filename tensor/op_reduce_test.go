package tensor

import (
	"math"
	"testing"
)

// TestReduceAs compares sums and products in a given dtype with PyTorch 2.15 on the CPU.
// Integers wrap around, and numbers are converted before they are added.
func TestReduceAs(t *testing.T) {
	nan := math.NaN()
	fractions, bytes := New([]float64{300.7, 1.5, -3.5}, 3), New([]float64{200, 100, 3}, 3).To(Uint8)
	wide := FromInt64s([]int64{1 << 31, 5})
	for _, c := range []struct {
		name string
		got  *Tensor
		d    DType
		want []float64
	}{
		{"sum", Ones(3).SumAs(Int32), Int32, []float64{3}},
		{"sum of fractions", fractions.SumAs(Int32), Int32, []float64{298}},
		{"sum of bytes", bytes.SumAs(Uint8), Uint8, []float64{47}},
		{"sum of bytes in int64", bytes.Sum(), Int64, []float64{303}},
		{"sum beyond int32", wide.SumAs(Int32), Int32, []float64{-2147483643}},
		{"sum in bool", bytes.SumAs(Bool), Bool, []float64{1}},
		{"kept sum", bytes.KeepDim().SumAs(Uint8, 0), Uint8, []float64{47}},
		{"nansum", fractions.NanSumAs(Int32), Int32, []float64{298}},
		{"nansum of NaN", New([]float64{nan, 1.5}, 2).NanSumAs(Int32), Int32, []float64{1}},
		{"nansum of NaN in bytes", New([]float64{nan, 255, 2}, 3).NanSumAs(Uint8), Uint8, []float64{1}},
		{"nansum in float16", New([]float64{nan, 1.5}, 2).NanSumAs(Float16), Float16, []float64{1.5}},
		{"kept nansum", New([]float64{nan, 1.5}, 2).KeepDim().NanSumAs(Int32, 0), Int32, []float64{1}},
		{"prod", fractions.ProdAs(Int32), Int32, []float64{-900}},
		{"prod of bytes", bytes.ProdAs(Uint8), Uint8, []float64{96}},
		{"prod in bool", bytes.ProdAs(Bool), Bool, []float64{1}},
		{"kept prod", bytes.KeepDim().ProdAs(Uint8, 0), Uint8, []float64{96}},
		{"cumsum", fractions.CumsumAs(Int32, 0), Int32, []float64{300, 301, 298}},
		{"cumsum of bytes", bytes.CumsumAs(Uint8, 0), Uint8, []float64{200, 44, 47}},
		{"cumprod of bytes", bytes.CumprodAs(Uint8, 0), Uint8, []float64{200, 32, 96}},
		{"cumprod of bytes in int32", bytes.CumprodAs(Int32, 0), Int32, []float64{200, 20000, 60000}},
		{"mean", fractions.MeanAs(Float64), Float64, []float64{(float64(float32(300.7)) + 1.5 - 3.5) / 3}},
		{"nanmean", New([]float64{nan, 1.5}, 2).NanMeanAs(Float16), Float16, []float64{1.5}},
	} {
		if c.got.DType() != c.d {
			t.Errorf("%s is %v, want %v", c.name, c.got.DType(), c.d)
		}
		compare(t, c.name, c.got.Reshape(c.got.Numel()), []int{len(c.want)}, c.want)
	}
}

// TestReduceAsEveryDType checks that the result has the requested dtype, or that the call
// panics.
func TestReduceAsEveryDType(t *testing.T) {
	for _, d := range DTypes() {
		for name, f := range map[string]func(x *Tensor) *Tensor{
			"sum":     func(x *Tensor) *Tensor { return x.SumAs(d) },
			"nansum":  func(x *Tensor) *Tensor { return x.NanSumAs(d) },
			"prod":    func(x *Tensor) *Tensor { return x.ProdAs(d) },
			"cumsum":  func(x *Tensor) *Tensor { return x.CumsumAs(d, 0) },
			"cumprod": func(x *Tensor) *Tensor { return x.CumprodAs(d, 0) },
			"mean":    func(x *Tensor) *Tensor { return x.MeanAs(d) },
			"nanmean": func(x *Tensor) *Tensor { return x.NanMeanAs(d) },
		} {
			for _, from := range []DType{Float32, Int64, Uint8, Bool} {
				var y *Tensor
				err := Try(func() { y = f(Ones(3).To(from)) })
				eight := d.IsFloat() && d.Size() == 1
				if mean := name == "mean" || name == "nanmean"; eight || mean && !d.IsFloat() {
					if err == nil {
						t.Errorf("%s of %v as %v: got %v, want a panic", name, from, d, y.DType())
					}
				} else if err != nil {
					t.Errorf("%s of %v as %v: %v", name, from, d, err)
				} else if y.DType() != d {
					t.Errorf("%s of %v as %v: got dtype %v", name, from, d, y.DType())
				}
			}
		}
	}
}

// TestDTypesOfAllAndAny checks that the result is uint8 for uint8 and bool for every other dtype,
// as in PyTorch.
func TestDTypesOfAllAndAny(t *testing.T) {
	for _, d := range DTypes() {
		if d.IsFloat() && d.Size() == 1 {
			continue // a storage dtype without arithmetic
		}
		x := New([]float64{0, 2, 3, 4}, 2, 2).To(d)
		want := Bool
		if d == Uint8 {
			want = Uint8
		}
		for name, y := range map[string]*Tensor{
			"all": x.All(1), "any": x.Any(1), "all of all": x.All().Expand(2), "kept all": x.KeepDim().All(1).Squeeze(1), "kept any": x.KeepDim().Any(1).Squeeze(1),
			"all of none": x.Slice(0, 0, 0).All().Expand(2),
		} {
			values := map[string][]float64{"any": {1, 1}, "kept any": {1, 1}, "all of all": {0, 0}, "all of none": {1, 1}}[name]
			if values == nil {
				values = []float64{0, 1}
			}
			if y.DType() != want {
				t.Errorf("%s of %v is %v, want %v", name, d, y.DType(), want)
			}
			compare(t, name, y, []int{2}, values)
		}
	}
}

package tensor

import "testing"

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

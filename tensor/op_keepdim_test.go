package tensor

import (
	"fmt"
	"reflect"
	"slices"
	"testing"
)

// keepDimCalls holds arguments for each reduction of KeepDim: for dimension 1 and, if it takes several
// dimensions, for 2 and 0.
var keepDimCalls = map[string][][]any{
	"Sum": dimsOf(), "NanSum": dimsOf(), "Prod": dimsOf(), "Mean": dimsOf(), "NanMean": dimsOf(), "LogSumExp": dimsOf(),
	"SumAs": dimsOf(Float64), "NanSumAs": dimsOf(Float64), "ProdAs": dimsOf(Int32), "MeanAs": dimsOf(Float64), "NanMeanAs": dimsOf(Float64),
	"Var": dimsOf(), "Std": dimsOf(), "VarWith": dimsOf(.5), "StdWith": dimsOf(.5), "VarMean": dimsOf(), "StdMean": dimsOf(),
	"Amax": dimsOf(), "Amin": dimsOf(), "Aminmax": dimsOf(), "Argmax": dimsOf(), "Argmin": dimsOf(),
	"All": dimsOf(), "Any": dimsOf(), "CountNonzero": dimsOf(), "Norm": dimsOf(),
	"Max": {{1}}, "Min": {{1}}, "Median": {{1}}, "Mode": {{1}}, "KthValue": {{2, 1}}, "Quantile": {{.3, 1}},
	"NanMedian": {{1}}, "NanQuantile": {{.3, 1}}, "Quantiles": {{[]float64{.3}, 1, QuantileOptions{}}}, "NanQuantiles": {{[]float64{.7}, 1, QuantileOptions{Interpolation: "lower"}}},
	"NormWith": normDims(3.), "VectorNorm": normDims(3.),
	"MatrixNorm":    {nil, {"1", PNormOptions{Dims: []int{2, 0}}}},
	"FrobeniusNorm": {nil, {PNormOptions{Dims: []int{2, 0}}}}, "NuclearNorm": {nil, {PNormOptions{Dims: []int{2, 0}}}},
	"PairwiseDistance": {nil, nil, {Ones(2), 2., 1e-6}},
}

func dimsOf(args ...any) [][]any {
	return [][]any{append(slices.Clone(args), 1), append(slices.Clone(args), 2, 0)}
}

func normDims(args ...any) [][]any {
	return [][]any{append(slices.Clone(args), PNormOptions{Dims: []int{1}}), append(slices.Clone(args), PNormOptions{Dims: []int{2, 0}})}
}

// TestKeepDim compares values and derivatives of every reduction of KeepDim with those of the tensor
// method of the same name, whose results lack the dimension of size 1.
func TestKeepDim(t *testing.T) {
	ManualSeed(4)
	data := Randn(2, 3, 2)
	kept := [][]int{{2, 1, 2}, {1, 3, 1}, {2, 3, 1}} // along 1, along 2 and 0, along the last
	for i := range reflect.TypeFor[KeepDim]().NumMethod() {
		name := reflect.TypeFor[KeepDim]().Method(i).Name
		if keepDimCalls[name] == nil {
			t.Errorf("%s has no arguments in the table", name)
			continue
		}
		for j, args := range keepDimCalls[name] {
			if args == nil {
				continue
			}
			t.Run(fmt.Sprint(name, args), func(t *testing.T) {
				x, y := data.Clone().RequireGrad(), data.Clone().RequireGrad()
				got, want := callNamed(t, x.KeepDim(), name, args), callNamed(t, y, name, args)
				if len(got) != len(want) {
					t.Fatalf("got %d results, want %d", len(got), len(want))
				}
				for k := range got {
					shape := got[k].shape // quantiles have the shape of q in front
					if !slices.Equal(shape[max(0, len(shape)-len(kept[j])):], kept[j]) || got[k].dtype != want[k].dtype {
						t.Errorf("result %d has shape %v and dtype %v, want %v and %v", k, got[k].shape, got[k].dtype, kept[j], want[k].dtype)
					}
					wantEqual(t, "result", got[k].Detach().Reshape(want[k].shape...), want[k].Detach())
					if got[k].RequiresGrad() != want[k].RequiresGrad() {
						t.Fatalf("result %d requires a gradient: %v, want %v", k, got[k].RequiresGrad(), want[k].RequiresGrad())
					}
					if got[k].RequiresGrad() {
						wantEqual(t, "gradient", Grad(weighted(got[k]), x)[0], Grad(weighted(want[k]), y)[0])
					}
				}
			})
		}
	}
}

// weighted returns a sum in which each element has another weight.
func weighted(y *Tensor) *Tensor {
	return y.Mul(Arange(1, float64(y.Numel()+1)).Reshape(y.shape...)).Sum()
}

// wantEqual fails unless got and want have equal elements.
func wantEqual(t *testing.T, what string, got, want *Tensor) {
	t.Helper()
	if !slices.Equal(got.Float64s(), want.Float64s()) {
		t.Errorf("the %s is %v, want %v", what, got, want)
	}
}

// callNamed calls a method that returns tensors.
func callNamed(t *testing.T, of any, name string, args []any) []*Tensor {
	method := reflect.ValueOf(of).MethodByName(name)
	if !method.IsValid() {
		t.Fatalf("%T has no %s", of, name)
	}
	in := make([]reflect.Value, len(args))
	for i, a := range args {
		in[i] = reflect.ValueOf(a)
	}
	var out []*Tensor
	for _, y := range method.Call(in) {
		out = append(out, y.Interface().(*Tensor))
	}
	return out
}

// TestKeepDimNames checks that KeepDim has a method for each function of PyTorch 2.15 with a keepdim argument.
func TestKeepDimNames(t *testing.T) {
	names := map[string]string{
		"all": "All", "amax": "Amax", "amin": "Amin", "aminmax": "Aminmax", "any": "Any", "argmax": "Argmax", "argmin": "Argmin", "kthvalue": "KthValue",
		"logsumexp": "LogSumExp", "max": "Max", "mean": "Mean", "median": "Median", "min": "Min", "mode": "Mode", "nanmean": "NanMean", "nansum": "NanSum",
		"norm": "Norm", "prod": "Prod", "nanmedian": "NanMedian", "nanquantile": "NanQuantile", "quantile": "Quantile", "std": "Std", "std_mean": "StdMean", "sum": "Sum", "var": "Var", "var_mean": "VarMean",
		"frobenius_norm": "FrobeniusNorm", "nuclear_norm": "NuclearNorm", "linalg.vector_norm": "VectorNorm", "linalg.matrix_norm": "MatrixNorm",
		"nn.functional.pairwise_distance": "PairwiseDistance",
	}
	for torch, name := range names {
		if _, ok := reflect.TypeFor[KeepDim]().MethodByName(name); !ok {
			t.Errorf("torch.%s has no counterpart %s", torch, name)
		}
	}
}

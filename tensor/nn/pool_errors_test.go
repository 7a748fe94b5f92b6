package nn_test

import (
	"fmt"
	"math"
	"math/rand/v2"
	"reflect"
	"regexp"
	"runtime"
	"strings"
	"testing"

	"halfnote/tensor"
	"halfnote/tensor/nn"
)

// poolings are all functions and modules of pooling.
var poolings = []any{
	nn.AdaptiveAvgPool1d, nn.AdaptiveAvgPool2d, nn.AdaptiveAvgPool3d, nn.AdaptiveMaxPool1d, nn.AdaptiveMaxPool2d, nn.AdaptiveMaxPool3d, nn.AvgPool1d,
	nn.AvgPool2d, nn.AvgPool3d, nn.FractionalMaxPool2d, nn.FractionalMaxPool3d, nn.LPPool1d, nn.LPPool2d, nn.LPPool3d, nn.MaxPool1d, nn.MaxPool1dWithIndices,
	nn.MaxPool2d, nn.MaxPool2dWithIndices, nn.MaxPool3d, nn.MaxPool3dWithIndices, nn.MaxUnpool1d, nn.MaxUnpool2d, nn.MaxUnpool3d,
	nn.NewAdaptiveAvgPool1d, nn.NewAdaptiveAvgPool2d, nn.NewAdaptiveAvgPool3d, nn.NewAdaptiveMaxPool1d, nn.NewAdaptiveMaxPool2d, nn.NewAdaptiveMaxPool3d,
	nn.NewAvgPool1d, nn.NewAvgPool2d, nn.NewAvgPool3d, nn.NewFractionalMaxPool2d, nn.NewFractionalMaxPool3d, nn.NewLPPool1d, nn.NewLPPool2d, nn.NewLPPool3d,
	nn.NewMaxPool1d, nn.NewMaxPool2d, nn.NewMaxPool3d, nn.NewMaxUnpool1d, nn.NewMaxUnpool2d, nn.NewMaxUnpool3d,
}

// TestPoolErrors calls every pooling with inputs, sizes and options that most do not accept. An error begins with torch's name of the pooling, and
// there are no panics of other kinds.
func TestPoolErrors(t *testing.T) {
	names := regexp.MustCompile(`([a-z0-9])([A-Z])|([A-Z])([A-Z][a-z])`)
	refused, taken := 0, 0
	for _, f := range poolings {
		v := reflect.ValueOf(f)
		name := runtime.FuncForPC(v.Pointer()).Name()
		name = name[strings.LastIndex(name, ".")+1:]
		op := strings.ToLower(names.ReplaceAllString(strings.TrimPrefix(strings.TrimSuffix(name, "WithIndices"), "New"), "${1}${3}_${2}${4}"))
		r := rand.New(rand.NewPCG(5, uint64(len(op))))
		for range 400 {
			in := make([]reflect.Value, v.Type().NumIn())
			for i := range in {
				in[i] = poolArgument(r, v.Type().In(i))
			}
			constructing := strings.HasPrefix(name, "New")
			err := tensorError(func() {
				call := v.Call
				if v.Type().IsVariadic() {
					call = v.CallSlice
				}
				out := call(in)[0]
				if !constructing {
					return
				}
				constructing = false
				forward := out.MethodByName("Forward")
				in = make([]reflect.Value, forward.Type().NumIn())
				for i := range in {
					in[i] = poolArgument(r, forward.Type().In(i))
				}
				if call = forward.Call; forward.Type().IsVariadic() {
					call = forward.CallSlice
				}
				call(in)
			})
			if err == nil {
				taken++
				continue
			}
			refused++
			if e, ok := err.(*tensor.Error); !ok || e.Op != op || regexp.MustCompile(`p__|functional|%!|0x`).MatchString(err.Error()) {
				t.Errorf("%s: want an error of %s, got %v", name, op, err)
				break
			}
		}
	}
	t.Logf("%d calls refused and %d taken by %d functions", refused, taken, len(poolings))
}

// tensorError returns what f panics with, as an error.
func tensorError(f func()) (err error) {
	defer func() {
		switch p := recover().(type) {
		case nil:
		case error:
			err = p
		default:
			err = fmt.Errorf("panic: %v", p)
		}
	}()
	f()
	return nil
}

// poolArgument returns an argument of type t.
func poolArgument(r *rand.Rand, t reflect.Type) reflect.Value {
	sizes := func() []int {
		s := make([]int, r.IntN(4))
		for i := range s {
			s[i] = r.IntN(5) - r.IntN(2)
		}
		return s
	}
	switch t {
	case reflect.TypeFor[int]():
		return reflect.ValueOf(r.IntN(6) - 1)
	case reflect.TypeFor[float64]():
		return reflect.ValueOf([]float64{0, math.NaN(), 2, -1, math.Inf(1), math.Inf(-1), 0.5}[r.IntN(7)])
	case reflect.TypeFor[[]int]():
		return reflect.ValueOf(sizes())
	case reflect.TypeFor[[]nn.Option]():
		var options []nn.Option
		for _, o := range []nn.Option{
			nn.Stride(sizes()...), nn.Padding(sizes()...), nn.Dilation(sizes()...), nn.CeilMode(), nn.KernelSize(sizes()...), nn.OutputSize(sizes()...),
			nn.OutputRatio(0.5), nn.OutputRatio(-1, 2), nn.DivisorOverride(r.IntN(3) - 1), nn.CountIncludePad(false),
		} {
			if r.IntN(12) == 0 {
				options = append(options, o)
			}
		}
		return reflect.ValueOf(options)
	case reflect.TypeFor[*tensor.Tensor]():
		if r.IntN(20) == 0 {
			return reflect.Zero(t)
		}
		shape := make([]int, max(r.IntN(6), r.IntN(6)))
		for i := range shape {
			shape[i] = max(r.IntN(6), r.IntN(6))
		}
		dtypes := []tensor.DType{tensor.Float32, tensor.Float32, tensor.Float16, tensor.BFloat16, tensor.Int64, tensor.Bool, tensor.Float8E4M3}
		return reflect.ValueOf(tensor.Ones(shape...).To(dtypes[r.IntN(len(dtypes))]))
	}
	panic(t)
}

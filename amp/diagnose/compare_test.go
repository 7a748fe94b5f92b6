package diagnose_test

import (
	"fmt"
	"math"
	"slices"
	"strings"
	"testing"

	"halfnote/amp"
	"halfnote/amp/diagnose"
	"halfnote/tensor"
	"halfnote/tensor/nn"
	"halfnote/tensor/quant"
)

// microscope returns a net and a step whose errors are compared.
func microscope() (*nn.Sequential, func()) {
	net, loss := blockStep(amp.BFloat16)
	return net, func() { loss().Backward() }
}

// largestOf returns the largest error of a variant's rows that hold.
func largestOf(r *diagnose.CompareReport, variant int, of func(row diagnose.ErrorRow) float64) (most float64) {
	for _, row := range r.Rows {
		if row.Variant == variant {
			most = max(most, of(row))
		}
	}
	return most
}

// Errors order the dtypes and formats, and own errors stay below the bounds of their sums.
func TestCompare(t *testing.T) {
	net, step := microscope()
	before := nn.Parameters(net)[0].Float64s()
	variants := []amp.Policy{
		amp.Off, amp.Float16, amp.BFloat16, amp.BFloat16.Accumulate(amp.Accumulation{DType: tensor.BFloat16}), amp.NVFP4(),
		amp.Off.Accumulate(amp.Accumulation{Reverse: true}), amp.BFloat16.Accumulate(amp.Accumulation{DType: tensor.BFloat16, Rounding: quant.Stochastic(1)}),
	}
	r := diagnose.Compare(net, step, variants...)
	loss := func(row diagnose.ErrorRow) float64 {
		if row.Backward || row.Op != "mse_loss" {
			return 0
		}
		return row.Error
	}
	gradient := func(row diagnose.ErrorRow) float64 {
		if !row.Backward {
			return 0
		}
		return row.Error
	}
	for i := range 4 {
		if a, b := largestOf(r, i, gradient), largestOf(r, i+1, gradient); !(a < b) || a == 0 {
			t.Errorf("errors of gradients: %v %.3g, %v %.3g; want the first smaller", variants[i], a, variants[i+1], b)
		}
	}
	if off := largestOf(r, 0, loss); !(off > 0 && off < 1e-6) {
		t.Errorf("the error of the loss in float32 is %v", off)
	}
	products := 0
	for _, row := range r.Rows {
		if row.N == 0 {
			continue
		}
		products++
		if row.Own > row.Bound || row.Likely > row.Bound {
			t.Errorf("%v, %v: own error %.3g, √n·u %.3g, n·u %.3g", variants[row.Variant], row, row.Own, row.Likely, row.Bound)
		}
	}
	if products < 7*5 {
		t.Errorf("%d products have bounds, want at least 35", products)
	}
	if !slices.Equal(nn.Parameters(net)[0].Float64s(), before) || nn.Parameters(net)[0].Grad() != nil {
		t.Error("the net or its gradients have changed")
	}
	html := r.HTML()
	for _, want := range []string{"BFloat16, sums in bfloat16", "n·u", "born", "<img"} {
		if !strings.Contains(html, want) {
			t.Errorf("the page lacks %q", want)
		}
	}
}

// Errors are born in a cast, pass through a view, grow in a difference of near numbers, and cancel in a mean.
func TestCompareFates(t *testing.T) {
	tensor.ManualSeed(1)
	x := tensor.Rand(4096).AddScalar(100)
	r := diagnose.Compare(nil, func() {
		amp.Autocast(amp.Float16, func() {
			h := x.Half().Float()
			h.SubScalar(100).Reshape(64, 64).Mean()
		})
	}, amp.Float16)
	fates := map[string]diagnose.Fate{}
	for _, row := range r.Rows {
		if _, seen := fates[row.Op]; !seen {
			fates[row.Op] = row.Fate()
		}
	}
	if fates["cast"] != diagnose.Born || fates["sub_scalar"] != diagnose.Grows && fates["add_scalar"] != diagnose.Grows || fates["mean"] != diagnose.Cancels {
		t.Errorf("fates %v\n%v", fates, r.Rows)
	}
	if none := diagnose.Compare(nil, func() {}); !strings.Contains(none.HTML(), "no operation ran") || len(none.Variants) != 3 {
		t.Errorf("without operations: %v", none)
	}
}

// An infinity that float64 does not have is an infinite error, not a missing one.
func TestCompareInfinite(t *testing.T) {
	x := tensor.Full(300, 8)
	r := diagnose.Compare(nil, func() { amp.Autocast(amp.Float16, func() { x.Half().Mul(x.Half()) }) }, amp.Float16)
	if got := r.Rows[len(r.Rows)-1].Error; !math.IsInf(got, 1) {
		t.Errorf("error %v, want infinite", got)
	}
}

// What do a running sum in bfloat16 and another order cost?
func ExampleCompare() {
	tensor.ManualSeed(1)
	net := nn.NewSequential(nn.NewLinear(256, 64), nn.NewTanh(), nn.NewLinear(64, 8))
	x, y := tensor.Randn(32, 256), tensor.Randn(32, 8)
	report := diagnose.Compare(net, func() {
		var loss *tensor.Tensor
		amp.Autocast(amp.BFloat16, func() { loss = nn.MSELoss(net.Forward(x), y) })
		loss.Backward()
	}, amp.BFloat16, amp.BFloat16.Accumulate(amp.Accumulation{DType: tensor.BFloat16}), amp.Float16)
	for i, v := range report.Variants {
		for _, row := range report.Rows {
			if row.Variant == i && row.Module == "2" && !row.Backward && row.Op != "cast" {
				fmt.Printf("%v: error %.4f\n", v, row.Error)
				break
			}
		}
	}
	// Output:
	// amp.BFloat16: error 0.0036
	// amp.BFloat16.Accumulate(amp.Accumulation{DType: tensor.BFloat16}): error 0.0169
	// amp.Float16: error 0.0005
}

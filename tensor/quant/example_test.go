package quant_test

import (
	"fmt"

	"halfnote/tensor"
	"halfnote/tensor/quant"
)

// E2M1 has eight magnitudes. What lies between two of them is rounded; ties go to the even code.
func ExampleFormat_Round() {
	fmt.Println(quant.E2M1.Values()[:8])
	for _, x := range []float64{0.25, 2.4, 2.5, 3.5, 100} {
		fmt.Print(quant.E2M1.Round(x, quant.Nearest, quant.Saturate), " ")
	}
	// Output:
	// [0 0.5 1 1.5 2 3 4 6]
	// 0 2 2 4 6
}

// A block of 32 numbers shares a power of two: next to 100, small numbers become 0.
func ExampleQuantize() {
	x := tensor.Arange(0, 32).MulScalar(0.01)
	x.Set(100, 31)
	q := quant.Quantize(x, quant.MXFP4)
	fmt.Println(q.Scales())
	fmt.Println(q.At(30), q.At(31))
	fmt.Printf("%d bytes instead of %d\n", q.Bytes(), x.Bytes())
	// Output:
	// tensor([16.])
	// 0 96
	// 17 bytes instead of 128
}

// A checkpoint holds codes and scales under separate names.
func ExampleTensor_StateDict() {
	tensor.ManualSeed(0)
	q := quant.Quantize(tensor.Randn(128, 64), quant.NVFP4{})
	state := q.StateDict("weight")
	for _, name := range []string{"weight", "weight_scale", "weight_scale_2"} {
		fmt.Println(name, state[name].DType(), state[name].Shape())
	}
	// Output:
	// weight uint8 [128 32]
	// weight_scale float8_e4m3fn [128 4]
	// weight_scale_2 float32 []
}

// Rounding to nearest loses what is smaller than half a gap; stochastic rounding keeps it in the mean.
func ExampleStochastic() {
	x := tensor.Full(1.1, 1<<16)
	nearest := quant.FakeQuantize(x, quant.Cast{Element: quant.E2M1})
	stochastic := quant.FakeQuantize(x, quant.Cast{Element: quant.E2M1, Rounding: quant.Stochastic(1)})
	fmt.Printf("%.3f %.3f\n", nearest.Mean().Item(), stochastic.Mean().Item())
	// Output:
	// 1.000 1.099
}

package chart

import (
	"math"
)

// ratios returns ratios in three dtypes.
func ratios() (list []Ratio) {
	for i, dtype := range []string{"float32", "bfloat16", "float16"} {
		for k, work := range []string{"matrix product", "convolution", "softmax"} {
			list = append(list, Ratio{work + ", " + dtype, dtype, .4 * float64(1+i+2*k), .05 * float64(1+k)})
		}
	}
	return list
}

// saw returns steps with overflows after steps 20, 90 and 91, and growth every 60 clean steps.
func saw(n int) (steps []ScaleStep) {
	scale, clean := 65536., 0
	for i := range n {
		s := ScaleStep{Scale: scale}
		if m := i % 200; m == 20 || m == 90 || m == 91 {
			s.Skipped, s.Why = true, "the gradient of 2.weight holds inf"
			scale /= 2
			clean = 0
		} else if clean++; clean == 60 {
			scale *= 2
			clean = 0
		}
		s.After = scale
		steps = append(steps, s)
	}
	return steps
}

func make65536(n int) []ScaleStep {
	s := make([]ScaleStep, n)
	for i := range s {
		s[i].Scale = 65536
	}
	return s
}

func losses() []Series {
	run := func(offset float64) (y []float64) {
		for i := range 150 {
			y = append(y, 1.05*math.Exp(-float64(i)/40)+.02*math.Sin(float64(i)*1.7)+offset)
		}
		return y
	}
	half := run(.01)
	for i := 60; i < 64; i++ {
		half[i] = math.Inf(1)
	}
	half[100] = nan
	return []Series{{"float32", "float32", nil, run(0)}, {"autocast", "float16", nil, half}, {"autocast + scaler", "float16", nil, run(.02)}, {"bfloat16", "bfloat16", nil, run(.3)[:80]}}
}

func wideLosses() []Series {
	var y []float64
	for i := range 5000 {
		y = append(y, math.Exp(-float64(i)/400)*(1+.3*math.Sin(float64(i))))
	}
	return []Series{{Name: "without a dtype", Values: y}, {Name: "another", Values: y[:3000]}}
}

func rates() []Rate {
	return []Rate{
		{Name: "float32", DType: "float32", Values: []float64{1003, 998, 1010}},
		{Name: "autocast", DType: "float16", Values: []float64{402, 380, 431}, Note: "emulated on the CPU"},
		{Name: "autocast + scaler", DType: "float16", Values: []float64{395}},
		{Name: "bfloat16", DType: "bfloat16", Values: []float64{2310}, Predicted: true, Note: "AVX512-BF16"},
	}
}

func memoryBars() []Bar {
	return []Bar{
		{"float32", []Part{{"weights", "float32", 200e6}, {"activations", "float32", 300e6}}},
		{"autocast", []Part{{"weights", "float32", 200e6}, {"activations", "float32", 40e6}, {"activations in float16", "float16", 130e6}, {"casts", "float16", 100e6}}},
	}
}

// run returns the panels of a run.
func run(n int) []Panel {
	loss, scale := Panel{Name: "loss"}, Panel{Name: "loss scale", Power: true}
	speed, memory, flushed := Panel{Name: "throughput", Unit: "steps/s"}, Panel{Name: "memory", Unit: "B"}, Panel{Name: "flushed to zero", Unit: "%"}
	for i, s := range saw(n) {
		loss.Values = append(loss.Values, 2*math.Exp(-float64(i)/60)+.05*math.Sin(float64(i)))
		scale.Values = append(scale.Values, s.Scale)
		if s.Skipped {
			scale.Marked = append(scale.Marked, float64(i))
		}
		speed.Values = append(speed.Values, 41+3*math.Sin(float64(i)/7))
		memory.Values = append(memory.Values, 3.2e6+1e5*float64(i%9))
		flushed.Values = append(flushed.Values, .002*float64(i%40))
	}
	return []Panel{loss, scale, speed, memory, flushed}
}

// differences returns two runs that part after ten steps.
func differences() []Pair {
	loss, weights := Pair{Name: "loss"}, Pair{Name: "weights"}
	for i := range 120 {
		y := math.Exp(-float64(i) / 40)
		apart := 0.
		if i > 10 {
			apart = 1e-4 * float64(i) * (1 + math.Sin(float64(i)))
		}
		loss.First, loss.Second = append(loss.First, y), append(loss.Second, y*(1+apart))
		weights.First, weights.Second = append(weights.First, 5+y), append(weights.Second, 5+y+apart/50)
	}
	loss.Second[70] = math.Inf(1)
	return []Pair{loss, weights}
}

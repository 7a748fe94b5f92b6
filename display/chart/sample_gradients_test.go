package chart

import (
	"fmt"
	"math"
)

// gradients returns magnitudes from 2^-44 to 2^16 around a peak at 2^-19, zeros, and a few
// non-finite values.
func gradients() (g []float32) {
	for i := range 61 {
		e := i - 44
		n := int(2000 * math.Exp(-math.Pow(float64(e+19), 2)/60))
		for k := range n + 1 {
			g = append(g, float32(math.Ldexp(1+float64(k)/float64(n+1), e)))
		}
	}
	for range 700 {
		g = append(g, 0)
	}
	return append(g, float32(math.Inf(1)), float32(nan))
}

// sweep returns a sweep of gradients around a peak at 2^-22, from 2^-40 to 2^0.
func sweep() Sweep {
	s := Sweep{DType: "float16", Low: 1 << 12, High: 1 << 15, Taken: []float64{65536, 65536, 32768, 16384}, At: 1 << 10}
	for k := range 25 {
		below := func(e float64) float64 { return 1 / (1 + math.Exp(-(e-float64(k)+22)/1.5)) }
		s.Shares = append(s.Shares, ScaleShare{below(-25), below(-14) - below(-25), max(0, float64(k-15)*.002)})
	}
	return s
}

func heat(rows, columns int) (list []HeatRow) {
	for i := range rows {
		r := HeatRow{Name: fmt.Sprintf("matmul encoder.layer.%d", i)}
		for j := range columns {
			v := math.Pow(10, -float64((i*7)%11)/2) * (1 + math.Sin(float64(j)/3)) / 2
			switch {
			case i%4 == 1:
				v = 0
			case j%9 == 5:
				v = nan
			}
			r.Values = append(r.Values, v)
		}
		list = append(list, r)
	}
	return list
}

// gradientLayers returns the gradients of five layers, the first of which vanish.
func gradientLayers() (list []GradientLayer) {
	for i, flushed := range []int{900, 610, 250, 20, 0} {
		list = append(list, GradientLayer{Name: fmt.Sprintf("encoder.%d.weight", i), DType: "float16", Elements: 1000, Zeros: 50 * i, Flushed: flushed, Subnormal: flushed / 10, Note: map[bool]string{true: "flushed", false: "alive"}[flushed > 50]})
	}
	return append(list, GradientLayer{Name: "head.weight", DType: "float32", Elements: 80, Infinite: 20, Note: "overflown"}, GradientLayer{Name: "head.bias", Note: "unused"})
}

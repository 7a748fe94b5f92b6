package chart

import (
	"math"
)

// wave returns n values of a damped wave.
func wave(n int) (y []float64) {
	for i := range n {
		y = append(y, math.Sin(float64(i)/9)*math.Exp(-float64(i)/200))
	}
	return y
}

// normal returns n quantiles of the normal distribution, in a fixed order without trend.
func normal(n int) (y []float64) {
	for i := range n {
		p := (float64(i*7919%n) + .5) / float64(n)
		y = append(y, math.Sqrt2*math.Erfinv(2*p-1))
	}
	return y
}

// board returns a matrix of waves.
func board(rows, columns int) (m [][]float64) {
	for i := range rows {
		m = append(m, nil)
		for j := range columns {
			m[i] = append(m[i], math.Round(50*math.Sin(float64(i+1)/3)*math.Cos(float64(j)/4)))
		}
	}
	return m
}

// numberFormats returns the formats of five dtypes.
func numberFormats() []NumberFormat {
	return []NumberFormat{
		{"float32", 0x1p-23, 0x1p-126, 0x1p-149, math.MaxFloat32}, {"bfloat16", 0x1p-7, 0x1p-126, 0x1p-133, 0x1.fep127}, {"float16", 0x1p-10, 0x1p-14, 0x1p-24, 65504},
		{"float8_e5m2", 0x1p-2, 0x1p-14, 0x1p-16, 57344}, {"float8_e4m3fn", 0x1p-3, 0x1p-6, 0x1p-9, 448},
	}
}

// stored returns x, which is a normal number, as several formats store it.
func stored(x float64) (list []StoredBits) {
	for _, f := range []StoredBits{{Name: "float32", Exponent: 8, Mantissa: 23}, {Name: "tf32", Exponent: 8, Mantissa: 10}, {Name: "bfloat16", Exponent: 8, Mantissa: 7}, {Name: "float16", Exponent: 5, Mantissa: 10}, {Name: "float8_e5m2", Exponent: 5, Mantissa: 2}, {Name: "float8_e4m3fn", Exponent: 4, Mantissa: 3}} {
		e := math.Ilogb(x)
		ulp := math.Ldexp(1, e-f.Mantissa)
		f.Value = math.RoundToEven(x/ulp) * ulp
		f.ULP = (f.Value - x) / ulp
		e = math.Ilogb(f.Value)
		fraction := uint64(math.Ldexp(math.Abs(f.Value), f.Mantissa-e)) &^ (1 << f.Mantissa)
		f.Bits = uint64(e+1<<(f.Exponent-1)-1)<<f.Mantissa | fraction
		list = append(list, f)
	}
	return list
}

// runningSums returns sums of n terms of 0.1 in formats of 11, 8 and 24 bits.
func runningSums(n int) (exact Series, sums []Series) {
	round := func(x float64, bits int) float64 {
		if x == 0 {
			return 0
		}
		ulp := math.Ldexp(1, math.Ilogb(x)-bits+1)
		return math.RoundToEven(x/ulp) * ulp
	}
	sums = []Series{{Name: "float16", DType: "float16"}, {Name: "bfloat16", DType: "bfloat16"}, {Name: "into float32", DType: "float32"}}
	for k, bits := range []int{11, 8, 24} {
		sum := 0.
		for range n {
			sum = round(sum+round(.1, bits), bits)
			sums[k].Values = append(sums[k].Values, sum)
		}
	}
	for i := range n {
		exact.Values = append(exact.Values, float64(i+1)*.1)
	}
	return exact, sums
}

// residues returns what three orders of the same additions lose.
func residues() (list []Series) {
	for k, name := range []string{"as given", "ascending", "descending"} {
		s := Series{Name: name}
		for i := range 500 {
			s.Values = append(s.Values, math.Sin(float64(i*i*(k+1)))/math.Ldexp(64, 2*k))
		}
		list = append(list, s)
	}
	return list
}

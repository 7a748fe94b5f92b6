package ssa

import (
	"math"
	"math/big"
	"testing"
)

// interpret returns the result of a program, as the comments of its methods define it. It is the oracle of the back
// ends.
func interpret(p *Program, result Value, x, y, alpha float32) float32 {
	bits := make([]uint64, len(p.lines))
	encode := func(f float64) uint64 {
		if p.Single {
			return uint64(math.Float32bits(float32(f)))
		}
		return math.Float64bits(f)
	}
	decode := func(b uint64) float64 {
		if p.Single {
			return float64(math.Float32frombits(uint32(b)))
		}
		return math.Float64frombits(b)
	}
	mask := uint64(math.MaxUint64)
	if p.Single {
		mask = math.MaxUint32
	}
	for i, l := range p.lines {
		f, b := make([]float64, 4), make([]uint64, 4)
		for j, v := range l.in {
			b[j], f[j] = bits[v], decode(bits[v])
		}
		choose := func(first bool, one, other uint64) uint64 {
			if first {
				return one
			}
			return other
		}
		bits[i] = mask & map[string]func() uint64{
			"x":       func() uint64 { return encode(float64(x)) },
			"y":       func() uint64 { return encode(float64(y)) },
			"alpha":   func() uint64 { return encode(float64(alpha)) },
			"shifted": func() uint64 { return encode(float64(x - alpha)) },
			"const":   func() uint64 { return l.bits },
			// A sum, a product, a quotient or a root of float32, computed in float64, rounds to the right float32.
			"add":         func() uint64 { return encode(f[0] + f[1]) },
			"sub":         func() uint64 { return encode(f[0] - f[1]) },
			"mul":         func() uint64 { return encode(f[0] * f[1]) },
			"div":         func() uint64 { return encode(f[0] / f[1]) },
			"sqrt":        func() uint64 { return encode(math.Sqrt(f[0])) },
			"fma":         func() uint64 { return encode(fused(p.Single, f[0], f[1], f[2])) },
			"fnma":        func() uint64 { return encode(fused(p.Single, -f[0], f[1], f[2])) },
			"max":         func() uint64 { return choose(f[0] > f[1], b[0], b[1]) },
			"min":         func() uint64 { return choose(f[0] < f[1], b[0], b[1]) },
			"less":        func() uint64 { return choose(f[0] < f[1], b[2], b[3]) },
			"and":         func() uint64 { return b[0] & b[1] },
			"or":          func() uint64 { return b[0] | b[1] },
			"xor":         func() uint64 { return b[0] ^ b[1] },
			"plus":        func() uint64 { return b[0] + b[1] },
			"minus":       func() uint64 { return b[0] - b[1] },
			"left":        func() uint64 { return b[0] << l.bits },
			"right":       func() uint64 { return b[0] >> l.bits },
			"rightSigned": func() uint64 { return uint64(int32(b[0]) >> l.bits) },
			"toFloat":     func() uint64 { return encode(float64(int32(b[0]))) },
			"lookup":      func() uint64 { return encode(p.Tables.Lookups[l.bits][b[0]%32]) },
			"scale":       func() uint64 { return encode(math.Ldexp(f[0], int(f[1]))) },
		}[l.name]()
	}
	return float32(decode(bits[result]))
}

// fused returns a*b + c rounded once, for float32 by way of numbers of any precision.
func fused(single bool, a, b, c float64) float64 {
	if sum := a*b + c; !single || math.IsInf(sum, 0) || sum != sum {
		return math.FMA(a, b, c)
	}
	exact := func(x float64) *big.Float { return new(big.Float).SetPrec(600).SetFloat64(x) }
	r := exact(a)
	f, _ := r.Add(r.Mul(r, exact(b)), exact(c)).Float32()
	return float64(f)
}

// TestInterpret checks the oracle itself with results that are known.
func TestInterpret(t *testing.T) {
	table := make([]float64, 32)
	for i := range table {
		table[i] = float64(i) / 2
	}
	inf, nan := float32(math.Inf(1)), float32(math.NaN())
	for _, c := range []struct {
		name string
		of   func(p *Program) Value
		x, y float32
		want float32
	}{
		{"fma", func(p *Program) Value { return p.FMA(p.X(), p.X(), p.Y()) }, 1 + 0x1p-23, -1 - 0x1p-22, 0x1p-46},
		{"fnma", func(p *Program) Value { return p.FNMA(p.X(), p.Y(), p.Float(1)) }, 2, 3, -5},
		{"max of NaN", func(p *Program) Value { return p.Max(p.X(), p.Y()) }, nan, 3, 3},
		{"min of two", func(p *Program) Value { return p.Min(p.X(), p.Y()) }, 2, 3, 2},
		{"less", func(p *Program) Value { return p.Less(p.X(), p.Y(), p.Float(7), p.Float(8)) }, 2, 3, 7},
		{"less of NaN", func(p *Program) Value { return p.Less(p.X(), p.Y(), p.Float(7), p.Float(8)) }, nan, 3, 8},
		{"abs", func(p *Program) Value { return p.Abs(p.X()) }, -inf, 0, inf},
		{"sign", func(p *Program) Value { return p.Xor(p.X(), p.Sign()) }, 5, 0, -5},
		{"shifted", func(p *Program) Value { return p.Shifted() }, 2, 0, 1.25},
		{"alpha", func(p *Program) Value { return p.Sub(p.Alpha(), p.Y()) }, 0, 0.5, 0.25},
		{"toFloat", func(p *Program) Value { return p.ToFloat(p.RightSigned(p.X(), 23)) }, -8, 0, -126}, // -256 + 127 + 3
		{"lookup", func(p *Program) Value { return p.Lookup(table, p.Right(p.X(), 23)) }, 1, 0, 15.5},   // 127 mod 32 is 31
		{"scale", func(p *Program) Value { return p.Scale(p.X(), p.Y()) }, 1.5, -140, 0x1.8p-140},
		{"plus", func(p *Program) Value { return p.Plus(p.X(), p.Bits(1<<23)) }, 3, 0, 6},
		{"minus", func(p *Program) Value { return p.Minus(p.X(), p.Bits(1<<23)) }, 3, 0, 1.5},
	} {
		p := New(true, new(Tables))
		if got := interpret(p, c.of(p), c.x, c.y, 0.75); got != c.want {
			t.Errorf("%s: got %v, want %v", c.name, got, c.want)
		}
	}
}

package main

import (
	"math"
	"math/big"
)

// Sines and cosines.

// sine returns the sine of x + quarters π/2. r is x minus the nearest multiple of π/2, which three
// numbers represent with 160 bits.
func (l line) sine(quarters int) value {
	x := l.X()
	k := l.FMA(x, l.Float(2/math.Pi), l.Float(whole))
	n := l.Sub(k, l.Float(whole))
	r, rest := x, times(number(0.5), pi)
	for range 3 {
		part := rounded(rest)
		if number(part).Cmp(rest) > 0 {
			part = math.Nextafter(part, 0) // positive parts alone keep the sign of 0
		}
		rest = sum(rest, number(-part))
		r = l.FNMA(n, l.Float(part), r)
	}
	if quarters > 0 {
		k = l.Plus(k, l.Bits(uint64(quarters)))
	}
	z := l.Mul(r, r)
	most := times(times(number(0.25), pi), times(number(0.25), pi))
	t := l.FMA(z, l.Float(rounded(ratio(number(2), most))), l.Float(-1))
	sin := l.Mul(r, l.polynomial(series(sin1).polynomial(number(0), most, 6), t))
	cos := l.polynomial(series(cos1).polynomial(number(0), most, 7), t)
	odd := l.Or(l.Left(k, 63), l.Float(1)) // -1 if k is odd
	y := l.Less(odd, l.Float(0), cos, sin)
	sign := l.And(l.Left(k, 62), l.Bits(1<<63))
	return l.Xor(y, sign)
}

// sineSingle is the sine of x + quarters π/2. r - less is x minus the nearest multiple of π/2, which is a sum
// of three numbers. Products of the first are exact in a multiply-add, and those of the second, which has 12
// bits, are float32 up to the limit.
func (l line) sineSingle(quarters int) value {
	x := l.X()
	k := l.FMA(x, l.Float(2/math.Pi), l.Float(wholeSingle))
	n := l.Sub(k, l.Float(wholeSingle))
	quarter := times(number(0.5), pi)
	high := truncated(quarter, 24)
	middle := truncated(sum(quarter, number(-high)), 12)
	low := rounded(sum(sum(quarter, number(-high)), number(-middle)))
	first := l.FNMA(n, l.Float(high), x)
	r := l.FNMA(n, l.Float(middle), first)
	less := l.FMA(n, l.Float(low), l.FMA(n, l.Float(middle), l.Sub(r, first)))
	z := l.FMA(r, r, l.Mul(l.Mul(r, l.Float(-2)), less))
	sin := l.Sub(r, l.FMA(l.Mul(r, z), l.horner(sinLessTerms, z), less)) // -0 for -0
	cos := l.FNMA(z, l.horner(cosLessTerms, z), l.Float(1))
	if quarters > 0 {
		k = l.Plus(k, l.Bits(uint64(quarters)))
	}
	odd := l.Or(l.Left(k, 31), l.Float(1)) // -1 if k is odd
	y := l.Less(odd, l.Float(0), cos, sin)
	return l.Xor(y, l.And(l.Left(k, 30), l.Sign()))
}

// truncated returns the first bits of x.
func truncated(x *big.Float, bits uint) float64 {
	return rounded(new(big.Float).SetMode(big.ToZero).SetPrec(bits).Set(x))
}

// sineHalf is [line.sine] for halves, in float32. As x has at most 11 bits, x less a multiple of the
// first of the numbers that represent π/2 is exact.
func (l line) sineHalf(quarters int) value {
	x := l.X()
	k := l.FMA(x, l.Float(2/math.Pi), l.Float(wholeSingle))
	n := l.Sub(k, l.Float(wholeSingle))
	r, rest := x, times(number(0.5), pi)
	for range 3 {
		part := float32(rounded(rest))
		if number(float64(part)).Cmp(rest) > 0 {
			part = math.Nextafter32(part, 0) // positive parts alone keep the sign of 0
		}
		rest = sum(rest, number(-float64(part)))
		r = l.FNMA(n, l.Float(float64(part)), r)
	}
	if quarters > 0 {
		k = l.Plus(k, l.Bits(uint64(quarters)))
	}
	z := l.Mul(r, r)
	sin := l.signed(l.FMA(l.Mul(r, z), l.horner(sinTerms, z), r), r) // the sum of -0 and 0 is 0
	cos := l.horner(cosTerms, z)
	odd := l.Or(l.Left(k, 31), l.Float(1)) // -1 if k is odd
	y := l.Less(odd, l.Float(0), cos, sin)
	return l.Xor(y, l.And(l.Left(k, 30), l.Sign()))
}

package main

import (
	"math"
	"math/big"
)

// Sines and cosines.

// sine returns the sine of x + quarters π/2. r is x minus the nearest multiple of π/2, which three
// numbers represent with 160 bits.
func (l *line) sine(quarters int) value {
	x := l.x()
	k := l.fma(x, l.float(2/math.Pi), l.float(whole))
	n := l.sub(k, l.float(whole))
	r, rest := x, times(number(0.5), pi)
	for range 3 {
		part := rounded(rest)
		if number(part).Cmp(rest) > 0 {
			part = math.Nextafter(part, 0) // positive parts alone keep the sign of 0
		}
		rest = sum(rest, number(-part))
		r = l.fnma(n, l.float(part), r)
	}
	if quarters > 0 {
		k = l.plus(k, l.bits(uint64(quarters)))
	}
	z := l.mul(r, r)
	most := times(times(number(0.25), pi), times(number(0.25), pi))
	t := l.fma(z, l.float(rounded(ratio(number(2), most))), l.float(-1))
	sin := l.mul(r, l.polynomial(series(sin1).polynomial(number(0), most, 6), t))
	cos := l.polynomial(series(cos1).polynomial(number(0), most, 7), t)
	odd := l.or(l.left(k, 63), l.float(1)) // -1 if k is odd
	y := l.less(odd, l.float(0), cos, sin)
	sign := l.and(l.left(k, 62), l.bits(1<<63))
	return l.xor(y, sign)
}

// sineSingle is the sine of x + quarters π/2. r - less is x minus the nearest multiple of π/2, which is a sum
// of three numbers. Products of the first are exact in a multiply-add, and those of the second, which has 12
// bits, are float32 up to the limit.
func (l *line) sineSingle(quarters int) value {
	x := l.x()
	k := l.fma(x, l.float(2/math.Pi), l.float(wholeSingle))
	n := l.sub(k, l.float(wholeSingle))
	quarter := times(number(0.5), pi)
	high := truncated(quarter, 24)
	middle := truncated(sum(quarter, number(-high)), 12)
	low := rounded(sum(sum(quarter, number(-high)), number(-middle)))
	first := l.fnma(n, l.float(high), x)
	r := l.fnma(n, l.float(middle), first)
	less := l.fma(n, l.float(low), l.fma(n, l.float(middle), l.sub(r, first)))
	z := l.fma(r, r, l.mul(l.mul(r, l.float(-2)), less))
	sin := l.sub(r, l.fma(l.mul(r, z), l.horner(sinLessTerms, z), less)) // -0 for -0
	cos := l.fnma(z, l.horner(cosLessTerms, z), l.float(1))
	if quarters > 0 {
		k = l.plus(k, l.bits(uint64(quarters)))
	}
	odd := l.or(l.left(k, 31), l.float(1)) // -1 if k is odd
	y := l.less(odd, l.float(0), cos, sin)
	return l.xor(y, l.and(l.left(k, 30), l.sign()))
}

// truncated returns the first bits of x.
func truncated(x *big.Float, bits uint) float64 {
	return rounded(new(big.Float).SetMode(big.ToZero).SetPrec(bits).Set(x))
}

// sineHalf is [line.sine] for halves, in float32. As x has at most 11 bits, x less a multiple of the
// first of the numbers that represent π/2 is exact.
func (l *line) sineHalf(quarters int) value {
	x := l.x()
	k := l.fma(x, l.float(2/math.Pi), l.float(wholeSingle))
	n := l.sub(k, l.float(wholeSingle))
	r, rest := x, times(number(0.5), pi)
	for range 3 {
		part := float32(rounded(rest))
		if number(float64(part)).Cmp(rest) > 0 {
			part = math.Nextafter32(part, 0) // positive parts alone keep the sign of 0
		}
		rest = sum(rest, number(-float64(part)))
		r = l.fnma(n, l.float(float64(part)), r)
	}
	if quarters > 0 {
		k = l.plus(k, l.bits(uint64(quarters)))
	}
	z := l.mul(r, r)
	sin := l.signed(l.fma(l.mul(r, z), l.horner(sinTerms, z), r), r) // the sum of -0 and 0 is 0
	cos := l.horner(cosTerms, z)
	odd := l.or(l.left(k, 31), l.float(1)) // -1 if k is odd
	y := l.less(odd, l.float(0), cos, sin)
	return l.xor(y, l.and(l.left(k, 30), l.sign()))
}

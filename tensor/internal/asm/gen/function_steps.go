package main

import (
	"math"
	"math/big"
)

// Functions of halves whose exponents and significands choose a short polynomial.

// steps are 32 polynomials for intervals of a from 0 on, in the distance from an interval's lower end.
// 1 + a has the same number of intervals between one power of 2 and the next, 2^bits, and the last 5
// of the bits that tell them apart are the polynomial's index.
type steps struct {
	bits  int
	terms [][]float64
}

func stepsOf(f func(a *big.Float) *big.Float, bits, terms int) steps {
	s := steps{bits, make([][]float64, terms)}
	for i := range s.terms {
		s.terms[i] = make([]float64, 32)
	}
	for exponent := range 32 >> bits {
		for part := range 1 << bits {
			width := math.Ldexp(1, exponent-bits)
			low := math.Ldexp(1, exponent) + width*float64(part) - 1
			at := (exponent+127)<<bits&31 + part
			start := f(number(low))
			s.terms[0][at] = rounded(start)
			for i, c := range fit(func(d *big.Float) *big.Float {
				return ratio(sum(f(sum(number(low), d)), times(number(-1), start)), d)
			}, 0, width, terms-1) {
				s.terms[i+1][at] = c
			}
		}
	}
	return s
}

// find returns the number of a's interval and the distance from its lower end.
func (s steps) find(l line, a value) (at, d value) {
	u := l.Add(a, l.Float(1))
	return l.Right(u, 23-s.bits), l.Sub(u, l.And(u, l.Bits(uint64(^uint32(0)<<(23-s.bits)))))
}

var (
	// erf(a) / a. The first 11 bits of the first term stand apart, so that their product with a is exact.
	erfSteps = erfStepsOf()
)

func erfStepsOf() steps {
	s := stepsOf(func(a *big.Float) *big.Float { return series(erf1).at(times(a, a)) }, 4, 4)
	first, rest := make([]float64, 32), make([]float64, 32)
	for i, c := range s.terms[0] {
		first[i] = math.Round(c*0x1p11) * 0x1p-11
		rest[i] = c - first[i]
	}
	s.terms = append([][]float64{first, rest}, s.terms[1:]...)
	return s
}

// erfHalf is -1 or 1 beyond 3 for halves.
func erfHalf(l line) value {
	x := l.X()
	a := l.Min(l.Float(3-0x1p-20), l.Abs(x))
	at, d := erfSteps.find(l, a)
	y := l.FMA(a, l.lookups(erfSteps.terms[1:], at, d), l.Mul(a, l.Lookup(erfSteps.terms[0], at)))
	return l.Or(y, l.And(x, l.Sign()))
}

// logTail returns the logarithm of Φ(-a) to base 2, and exp2Less1 (2^r - 1) / r.
func logTail(a *big.Float) *big.Float { return ratio(logOf(tailOf(a)), ln2) }

func exp2Less1(r *big.Float) *big.Float {
	z := times(r, ln2)
	return times(ln2, sum(number(1), times(z, series(exp2nd).at(z))))
}

// geluShort subtracts the tail from x or from 0. Beyond 15 the tail is 0. The logarithm of the tail and the
// power of 2 have so many terms.
func geluShort(logTerms, powerTerms int) func(l line) value {
	tailSteps := stepsOf(logTail, 3, logTerms)
	exp2Terms := fit(exp2Less1, -0.5, 0.5, powerTerms)
	return func(l line) value { return l.geluShort(tailSteps, exp2Terms) }
}

func (l line) geluShort(tailSteps steps, exp2Terms []float64) value {
	x := l.X()
	a := l.Abs(l.Min(l.Float(16), x)) // the tail of infinity is 0, and that of minus infinity NaN
	at, d := tailSteps.find(l, l.Min(l.Float(15-0x1p-20), a))
	q := l.lookups(tailSteps.terms, at, d)
	n := l.Sub(l.Add(q, l.Float(wholeSingle)), l.Float(wholeSingle))
	r := l.Sub(q, n)
	tail := l.Scale(l.FMA(r, l.horner(exp2Terms, r), l.Float(1)), n)
	return l.FNMA(a, tail, l.Max(l.Float(math.Copysign(0, -1)), x))
}

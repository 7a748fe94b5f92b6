package main

import (
	"math"
	"math/big"
)

// Coefficients are computed with 700 bits from power series.

const precision = 700

func number(x float64) *big.Float { return new(big.Float).SetPrec(precision).SetFloat64(x) }

func ratio(x, y *big.Float) *big.Float { return new(big.Float).SetPrec(precision).Quo(x, y) }

func times(x, y *big.Float) *big.Float { return new(big.Float).SetPrec(precision).Mul(x, y) }

func sum(x, y *big.Float) *big.Float { return new(big.Float).SetPrec(precision).Add(x, y) }

func parse(digits string) *big.Float {
	x, _, err := big.ParseFloat(digits, 10, precision, big.ToNearestEven)
	if err != nil {
		panic(err)
	}
	return x
}

var (
	pi  = parse("3.14159265358979323846264338327950288419716939937510582097494459230781640628620899862803482534211706798")
	ln2 = parse("0.693147180559945309417232121458176568075500134360255254120680009493393621969694715605863326996418687")
)

// series returns the n-th coefficient of the power series of a function, from the one before, which is
// nil for the first.
type series func(n int, before *big.Float) *big.Float

// at returns the value of the series, with as many terms as contribute to it.
func (s series) at(x *big.Float) *big.Float {
	total, power := number(0), number(1)
	var c *big.Float
	for n := range 1200 {
		c = s(n, c)
		term := times(c, power)
		if total = sum(total, term); n > 20 && term.MantExp(nil) < -precision {
			break
		}
		power = times(power, x)
	}
	return total
}

// fit returns the coefficients, lowest first, of the polynomial in x that has f's values at Chebyshev's
// points between lo and hi.
func fit(f func(x *big.Float) *big.Float, lo, hi float64, terms int) []float64 {
	half, middle := times(number(0.5), sum(number(hi), number(-lo))), times(number(0.5), sum(number(hi), number(lo)))
	x, y := make([]*big.Float, terms), make([]*big.Float, terms)
	for i := range x {
		x[i] = sum(middle, times(half, chebyshev(i, terms)))
		y[i] = f(x[i])
	}
	return interpolation(x, y)
}

// chebyshev returns a number near Chebyshev's point i of n, the same on every processor.
func chebyshev(i, n int) *big.Float {
	return number(math.Round(math.Cos(math.Pi*(float64(2*i)+1)/float64(2*n))*0x1p20) * 0x1p-20)
}

// interpolation returns the coefficients, rounded, of the polynomial with the values y at x: Newton's divided
// differences, then powers. It changes y.
func interpolation(x, y []*big.Float) (out []float64) {
	degree := len(x) - 1
	for j := 1; j <= degree; j++ {
		for i := degree; i >= j; i-- {
			y[i] = ratio(sum(y[i], times(number(-1), y[i-1])), sum(x[i], times(number(-1), x[i-j])))
		}
	}
	c := []*big.Float{y[degree]}
	for i := degree - 1; i >= 0; i-- {
		c = append([]*big.Float{number(0)}, c...)
		for j := range len(c) - 1 {
			c[j] = sum(c[j], times(number(-1), times(x[i], c[j+1])))
		}
		c[0] = sum(c[0], y[i])
	}
	for _, c := range c {
		out = append(out, rounded(c))
	}
	return out
}

// polynomial returns the coefficients, lowest first, of the polynomial in t = (x - middle) / half that
// interpolates the series at Chebyshev points between lo and hi. It is nearly the best of its degree
// (L. Trefethen, Approximation Theory and Approximation Practice, chapter 16).
func (s series) polynomial(lo, hi *big.Float, degree int) []float64 {
	half := times(number(0.5), sum(hi, times(number(-1), lo)))
	middle := sum(lo, half)
	x, y := make([]*big.Float, degree+1), make([]*big.Float, degree+1)
	for i := range x {
		x[i] = chebyshev(i, degree+1)
		y[i] = s.at(sum(middle, times(half, x[i])))
	}
	return interpolation(x, y)
}

// erf1 is erf(√x) / √x.
func erf1(n int, before *big.Float) *big.Float {
	if n == 0 {
		return ratio(number(2), new(big.Float).SetPrec(precision).Sqrt(pi))
	}
	return times(before, ratio(number(float64(2*n-1)), number(-float64(n)*float64(2*n+1))))
}

// phi1 is (Φ(√x) - 1/2) / √x, where Φ is the normal distribution function.
func phi1(n int, before *big.Float) *big.Float {
	if n == 0 {
		return ratio(number(1), new(big.Float).SetPrec(precision).Sqrt(times(number(2), pi)))
	}
	return times(before, ratio(number(float64(2*n-1)), number(-float64(2*n)*float64(2*n+1))))
}

// slope1 is (d/dz zΦ(z) - 1/2) / z at z = √x.
func slope1(n int, before *big.Float) *big.Float {
	if n == 0 {
		return times(number(2), phi1(0, nil))
	}
	return times(before, ratio(number(float64(2*n-1)*float64(2*n+2)), number(-float64(2*n)*float64(2*n)*float64(2*n+1))))
}

// sin1 is sin(√x) / √x.
func sin1(n int, before *big.Float) *big.Float {
	if n == 0 {
		return number(1)
	}
	return ratio(before, number(-float64(2*n)*float64(2*n+1)))
}

// cos1 is cos(√x).
func cos1(n int, before *big.Float) *big.Float {
	if n == 0 {
		return number(1)
	}
	return ratio(before, number(-float64(2*n-1)*float64(2*n)))
}

func rounded(x *big.Float) float64 {
	y, _ := x.Float64()
	return y
}

// exp2nd is (exp(x) - 1 - x) / x², and log2nd is (log(1+x) - x) / x².
func exp2nd(n int, before *big.Float) *big.Float {
	if n == 0 {
		return number(0.5)
	}
	return ratio(before, number(float64(n+2)))
}

func log2nd(n int, _ *big.Float) *big.Float {
	return ratio(number(float64(2*(n%2)-1)), number(float64(n+2)))
}

// exp0 is exp(x), cosh0 is cosh(√x), and sinh1 is sinh(√x) / √x.
func exp0(n int, before *big.Float) *big.Float {
	if n == 0 {
		return number(1)
	}
	return ratio(before, number(float64(n)))
}

func cosh0(n int, before *big.Float) *big.Float {
	if n == 0 {
		return number(1)
	}
	return ratio(before, number(float64(2*n-1)*float64(2*n)))
}

func sinh1(n int, before *big.Float) *big.Float {
	if n == 0 {
		return number(1)
	}
	return ratio(before, number(float64(2*n)*float64(2*n+1)))
}

// logOf returns the logarithm of x by Newton's method with Halley's correction.
func logOf(x *big.Float) *big.Float {
	near, _ := x.Float64()
	y := number(math.Log(near))
	for range 7 {
		e := series(exp0).at(y)
		y = sum(y, times(number(2), ratio(sum(x, times(number(-1), e)), sum(x, e))))
	}
	return y
}

// tailOf returns the normal distribution function of -a.
func tailOf(a *big.Float) *big.Float {
	return sum(number(0.5), times(times(number(-1), a), series(phi1).at(times(a, a))))
}

package elementary

import "math"

// Near 2 the logarithm of the gamma function is a series in z, log Γ(2+z) = (1-γ) z +
// Σ (ζ(k)-1) (-z)^k / k from k = 2, and the recurrence Γ(x+1) = x Γ(x) leads there from
// nearby numbers. Far from 0 Stirling's series is used: M. Abramowitz and I. Stegun,
// "Handbook of Mathematical Functions", 6.1.15, 6.1.33, 6.1.41, 6.3.5, 6.3.14, 6.3.18.
const (
	gammaFar      = 8   // smallest argument for which Stirling's series has full precision
	gammaNegative = -18 // zeros below it are too close to poles to matter
)

// Lgamma returns the logarithm of the absolute value of the gamma function of x: +Inf
// at 0 and the negative whole numbers.
func Lgamma(x float64) float64 {
	switch {
	case x != x:
		return x
	case math.IsInf(x, 0):
		return math.Inf(1)
	case x >= gammaFar:
		return stirling(x)
	}
	k := math.RoundToEven(x)
	z := x - k
	if z == 0 && k <= 0 {
		return math.Inf(1)
	}
	if x <= gammaNegative {
		return Log(math.Pi/math.Abs(x*Sin(math.Pi*z))) - stirling(-x)
	}
	return lgammaNear(k, z)
}

// stirling returns log Γ(x) for x of at least gammaFar: (x - ½)(log x - 1) + ½ log 2π - ½ and
// a series in 1/x.
func stirling(x float64) float64 {
	hi, lo := logParts(x)
	hi, rest := twoSum(hi, -1)
	p, q := twoProduct(x-0.5, hi)
	if math.IsInf(p, 0) {
		return p
	}
	const constant = 0.4189385332046727417803 // ½ log 2π - ½
	tail := polynomial(stirlingTail[:], float64(1/x)/x) / x
	return p + (q + float64((x-0.5)*(lo+rest)) + (constant + tail))
}

var stirlingTail = [...]float64{1. / 12, -1. / 360, 1. / 1260, -1. / 1680, 1. / 1188, -691. / 360360, 1. / 156, -3617. / 122400, 43867. / 244188}

// lgammaNear returns log |Γ(k+z)| for a whole k, |z| at most ½.
func lgammaNear(k, z float64) float64 {
	p, rest := 1.0, 0.0 // product of the factors between k+z and 2+z
	for i := min(k, 2); i < max(k, 2); i++ {
		f, e := twoSum(i, z)
		q, l := twoProduct(p, f)
		p, rest = q, l+float64(p*e)+float64(rest*f)
	}
	log, more := logParts(math.Abs(p))
	more += rest / p
	if k < 2 {
		log, more = -log, -more
	}
	hi, lo := twoProduct(z, oneLessEuler)
	sum, e := twoSum(hi, log)
	return sum + (e + (lo + float64(z*oneLessEulerLo)) + more + float64(float64(z*z)*polynomial(lgammaTail[:], z)))
}

// lgammaTail holds (ζ(k)-1) (-1)^k / k, and digammaTail (ζ(k)-1) (-1)^k, from k = 2.
var lgammaTail, digammaTail = func() (l, d [len(zetas)]float64) {
	sign := 1.0
	for i, zeta := range zetas {
		l[i], d[i] = sign*zeta/float64(i+2), sign*zeta
		sign = -sign
	}
	return l, d
}()

// Digamma returns the derivative of [Lgamma] at x: NaN at the negative whole numbers, an
// infinity of the other sign at 0.
func Digamma(x float64) float64 {
	switch {
	case x == 0:
		return math.Copysign(math.Inf(1), -x)
	case x != x || math.IsInf(x, -1):
		return math.NaN()
	case x >= gammaFar:
		tail := polynomial(digammaFar[:], float64(1/x)/x)
		return Log(x) - (0.5+tail/x)/x
	}
	k := math.RoundToEven(x)
	z := x - k
	if z == 0 && k < 0 {
		return math.NaN()
	}
	if x <= -gammaFar {
		return Digamma(-x) - (1/x + math.Pi/Tan(math.Pi*z))
	}
	y, rest := oneLessEuler, oneLessEulerLo+float64(z*polynomial(digammaTail[:], z))
	for i := min(k, 2); i < max(k, 2); i++ { // 1/(i+z) of the recurrence, in two parts
		d, e := twoSum(i, z)
		q := 1 / d
		l := (math.FMA(-q, d, 1) - float64(q*e)) / d
		if k < 2 {
			q, l = -q, -l
		}
		y, e = twoSum(y, q)
		rest += e + l
	}
	return y + rest
}

var digammaFar = [...]float64{1. / 12, -1. / 120, 1. / 252, -1. / 240, 1. / 132, -691. / 32760, 1. / 12, -3617. / 8160, 43867. / 14364}

// Polygamma returns the n-th derivative of [Digamma] at x. At 0 and the negative whole
// numbers it is +Inf for odd n and -Inf for even n above 0.
func Polygamma(n int, x float64) float64 {
	if n == 0 {
		return Digamma(x)
	}
	factorial := 1.0
	for i := 2; i <= n && !math.IsInf(factorial, 1); i++ {
		factorial *= float64(i)
	}
	if n&1 == 0 {
		factorial = -factorial
	}
	return factorial * hurwitz(n+1, x)
}

// hurwitz returns Hurwitz's zeta function, Σ (x+k)^-s over k from 0, for s above 1.
func hurwitz(s int, x float64) float64 {
	switch {
	case x != x || math.IsInf(x, -1):
		return math.NaN()
	case x > 0:
		return hurwitzPositive(s, x)
	case x == math.Floor(x):
		return math.Inf(1)
	}
	// The terms below 0 are those of the distances from there.
	below := math.Ceil(x) - x
	first := x - math.Floor(x)
	count := -math.Floor(x)
	negative := hurwitzPositive(s, below) - hurwitzPositive(s, below+count)
	if s&1 == 1 {
		negative = -negative
	}
	return hurwitzPositive(s, first) + negative
}

// hurwitzPositive is hurwitz of x above 0, by the formula of Euler and Maclaurin
// (Handbook, 23.1.30).
func hurwitzPositive(s int, x float64) float64 {
	if math.IsInf(x, 1) {
		return 0
	}
	p := float64(s)
	terms := 0
	if x < 10+p {
		terms = int(10+p-x) + 1
	}
	a := x + float64(terms)
	lead := Pow(a, 1-p)
	power := lead / a
	sum, factor := 0.0, power/a
	for _, c := range eulerMaclaurin {
		sum += float64(c * float64(factor*p))
		factor *= float64(p*(p+1)) / float64(a*a)
		p += 2
	}
	p = float64(s)
	sum += lead/(p-1) + power/2
	for i := terms - 1; i >= 0; i-- {
		sum += Pow(x+float64(i), -p)
	}
	return sum
}

// eulerMaclaurin holds B(2k)/(2k)! from k = 1.
var eulerMaclaurin = [...]float64{1. / 12, -1. / 720, 1. / 30240, -1. / 1209600, 1. / 47900160, -691. / 1307674368000, 1. / 74724249600, -3617. / 10670622842880000, 43867. / 5109094217170944000, -174611. / 802857662698291200000}

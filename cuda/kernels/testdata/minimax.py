"""Prints the coefficients of the float polynomials in *.cuh, lowest first, and the errors
before the coefficients are rounded. Usage: python3 minimax.py. It needs mpmath."""
import struct
from mpmath import mp, mpf, asin, atan, atanh, chebyfit, cos, erf, erfc, erfinv, exp, findroot, log, pi, sin, sqrt

mp.dps = 40


def single(x):
    return struct.unpack("f", struct.pack("f", float(x)))[0]


def fit(name, f, low, high, terms, limit=None):
    """Fits f on [low, high] by Chebyshev's method. limit is f(0) if f is undefined there."""
    g = f if limit is None else lambda x: limit if abs(x) < mpf(10) ** -12 else f(x)
    c, e = chebyfit(g, [low, high], terms, error=True)
    print(f"{name}, error 2^{float(log(e, 2)):.1f}:", ", ".join(single(x).hex().replace("0000000p", "p") for x in c[::-1]))


half = mpf(1) / 2
fit("exp.cuh expLess1 of r: (exp(r)-1-r)/r²", lambda r: (exp(r) - 1 - r) / r**2, -log(2) * 0.505, log(2) * 0.505, 5, half)
fit("log.cuh logNear of f: (log(1+f)-f)/f²", lambda f: (log(1 + f) - f) / f**2, -mpf(1) / 3, mpf(1) / 3, 9, -half)
root2 = sqrt(mpf(2))
fit("power.cuh logParts of s=q²: (2 atanh(q/2)-q)/q³", lambda s: (2 * atanh(sqrt(s) / 2) - sqrt(s)) / sqrt(s) ** 3, 0, (2 * (root2 - 1) / (root2 + 1) * 1.01) ** 2, 4, mpf(1) / 12)

right = (pi / 4 * 1.001) ** 2
fit("trig.cuh sineOf of z=r²: (sin(r)/r-1)/z", lambda z: (sin(sqrt(z)) / sqrt(z) - 1) / z, 0, right, 3, -mpf(1) / 6)
fit("trig.cuh cosineOf of z=r²: (cos(r)-1+z/2)/z²", lambda z: (cos(sqrt(z)) - 1 + z / 2) / z**2, 0, right, 3, mpf(1) / 24)
fit("trig.cuh asinNear of z=w²: (asin(w)/w-1)/z", lambda z: (asin(sqrt(z)) / sqrt(z) - 1) / z, 0, mpf(1) / 4, 5, mpf(1) / 6)
fit("trig.cuh atanNear of z=t²: (atan(t)/t-1)/z", lambda z: (atan(sqrt(z)) / sqrt(z) - 1) / z, 0, 1, 9, -mpf(1) / 3)

phi0 = 1 / sqrt(2 * pi)
tail = lambda a: erfc(a / sqrt(2)) / 2
fit("erf.cuh erfNear of z=a²: erf(a)/a-1", lambda z: erf(sqrt(z)) / sqrt(z) - 1, 0, 1, 7, 2 / sqrt(pi) - 1)
fit("erf.cuh erf of v=a-2.5: log(erfc(a))", lambda v: log(erfc(v + 2.5)), -mpf("1.5"), mpf("1.43"), 9)
fit("erf.cuh gelu of z=x²: (Φ(x)-1/2)/x", lambda z: erf(sqrt(z / 2)) / sqrt(z) / 2, 0, 1, 6, phi0)
fit("erf.cuh geluGrad of z=x²: (g(x)-1/2)/x", lambda z: (erf(sqrt(z / 2)) / 2 + sqrt(z) * phi0 * exp(-z / 2)) / sqrt(z), 0, mpf("0.3"), 5, 2 * phi0)


def far(name, f, k, low, high, terms):
    """Fits f(a) for a from low to high, as a function of t = (a-k)/(a+k)."""
    t = lambda a: (mpf(a) - k) / (mpf(a) + k)
    fit(name, lambda t: f(2 * mpf(k) / (1 - t) - k), t(low), t(high), terms)


zero = findroot(lambda a: tail(a) - a * phi0 * exp(-a * a / 2), 0.75)
print("erf.cuh geluGrad a0:", single(zero).hex(), single(zero - single(zero)).hex())


def slope(a):
    if abs(a - zero) < mpf(10) ** -9:
        a += mpf(10) ** -8
    return (exp(a * a / 2) * tail(a) - a * phi0) / (a - zero)


far("erf.cuh erfc of t=(a-2)/(a+2): exp(a²) erfc(a) (a+2)", lambda a: exp(a * a) * erfc(a) * (a + 2), 2, 0, "10.2", 11)
far("erf.cuh gelu of t=(a-3)/(a+3): exp(a²/2) Φ(-a) (a+3)", lambda a: exp(a * a / 2) * tail(a) * (a + 3), 3, "0.99", 15, 8)
far("erf.cuh geluGrad of t=(a-4)/(a+4): exp(a²/2) g(-a)/(a-a0)", slope, 4, 0, 20, 10)


def inverse(w):
    """Returns erfinv(x)/x for w = -log(1-x²)."""
    if w < mpf(10) ** -12:
        return sqrt(pi) / 2
    x = sqrt(1 - exp(-w))
    if w < 5:
        return erfinv(x) / x
    rest = exp(-w) / (1 + x)
    return findroot(lambda y: log(erfc(y)) - log(rest), sqrt(w)) / x


fit("erf.cuh erfinv of v=w-2.5", lambda v: inverse(v + 2.5), -mpf("2.5"), mpf("2.5"), 10)
fit("erf.cuh erfinv of u=√w-3", lambda u: inverse((u + 3) ** 2), sqrt(mpf(5)) - 3, sqrt(mpf("16.7")) - 3, 11)

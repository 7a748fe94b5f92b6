"""Writes values.json: for each function, arguments and the float64 next to the true
value, from mpmath at 60 digits. Run it in this directory: python3 values.py"""
import json, random
from mpmath import mp, mpf, mpc
import mpmath as m
mp.dps = 60
random.seed(1)
normal = lambda s: (lambda: random.gauss(0, s))
def mixed(): return random.gauss(0, 1) * 10 ** random.uniform(-12, 2)
positive = lambda: abs(random.gauss(0, 1)) * 10 ** random.uniform(-300, 300)
unit = lambda: random.uniform(-1, 1)
inside = lambda: random.choice([random.uniform(-1, 1), 1 - 10 ** random.uniform(-12, 0), random.gauss(0, 1e-6)])
functions = {
    'Exp': (m.exp, normal(100)), 'Exp2': (lambda x: mpf(2) ** x, normal(100)), 'Expm1': (m.expm1, mixed),
    'Log': (m.log, positive), 'LogNear': (m.log, lambda: 1 + random.gauss(0, 0.05)), 'Log2': (lambda x: m.log(x, 2), positive), 'Log10': (m.log10, positive), 'Log1p': (m.log1p, lambda: abs(mixed()) - 0.5 * random.random()),
    'Sin': (m.sin, mixed), 'Cos': (m.cos, mixed), 'Tan': (m.tan, mixed), 'SinLarge': (m.sin, lambda: 10 ** random.uniform(5, 300)),
    'Sinh': (m.sinh, mixed), 'Cosh': (m.cosh, mixed), 'Tanh': (m.tanh, mixed),
    'Asinh': (m.asinh, mixed), 'Acosh': (m.acosh, lambda: 1 + abs(mixed())), 'Atanh': (m.atanh, inside),
    'Asin': (m.asin, inside), 'Acos': (m.acos, inside), 'Atan': (m.atan, mixed),
    'Erf': (m.erf, mixed), 'Erfc': (m.erfc, lambda: random.uniform(-6, 26)), 'Erfinv': (m.erfinv, inside),
}
def value(f, *x):
    y = f(*[mpf(v) for v in x])
    return float(y.real if isinstance(y, mpc) else y)
out = {}
for name, (f, draw) in functions.items():
    rows = []
    while len(rows) < 150:
        x = draw()
        y = value(f, x)
        if y == y and abs(y) < 1e308 and abs(y) > 1e-300: rows.append([x, y])
    out[name] = rows
out['Pow'] = [[x, y, value(lambda a, b: a ** b, x, y)] for x, y in ((abs(random.gauss(0, 1)) * 10 ** random.uniform(-9, 9), random.gauss(0, 20)) for _ in range(200)) if 1e-300 < abs(mpf(x) ** mpf(y)) < 1e300]
out['Atan2'] = [[x, y, value(m.atan2, x, y)] for x, y in ((mixed(), mixed()) for _ in range(150))]
out['Hypot'] = [[x, y, value(m.hypot, x, y)] for x, y in ((mixed(), mixed()) for _ in range(150))]
# Where functions have limits, zeros, poles and seams.
special = [1, -1, 0.5, -0.5, 2, -2, 3, 1e-300, -1e-300, 1e300, -1e300, 709.7, -745.1, 88, 1e17, 2.0 ** -30, float(mp.pi), float(mp.pi / 2), float.fromhex('0x1.fffffffffffffp1023'),
           0.6875, 1.375, 1 - 2.0 ** -53, 1 + 2.0 ** -52, 0.785, 0.7854, 2.0 ** 19, 2.0 ** 19 + 1, 22, 22.1, 40.5, 5e-324]
def real(y): return not isinstance(y, mpc) or y.imag == 0
for name, (f, _) in functions.items():
    if 'Near' in name or 'Large' in name: continue
    for x in special:
        x = float(x)
        if name in ('Exp', 'Expm1', 'Sinh', 'Cosh', 'Erf', 'Erfc') and abs(x) > 1e5 or name == 'Exp2' and abs(x) > 2000: continue
        try: v = f(mpf(x))
        except (ValueError, ZeroDivisionError): continue
        if real(v) and abs(v) < mpf(2) ** 1024 and (v == 0 or abs(v) > mpf(2) ** -1022): out[name].append([x, value(f, x)])
for x in special:
    for y in special:
        x, y = float(x), float(y)
        out['Atan2'].append([x, y, value(m.atan2, x, y)])
        if mpf(x) ** 2 + mpf(y) ** 2 < mpf(2) ** 2047: out['Hypot'].append([x, y, value(m.hypot, x, y)])
        if x > 0 and mpf(10) ** -307 < mpf(x) ** mpf(y) < mpf(10) ** 308: out['Pow'].append([x, y, value(lambda a, b: a ** b, x, y)])
# The gamma function's, with numbers drawn apart from those above.
random.seed(2)
sized = lambda: 10 ** random.uniform(-300, 300)
def anywhere(): return random.choice([random.uniform(-30, 30), random.gauss(0, 3), 1 + random.gauss(0, 1e-3), 2 + random.gauss(0, 1e-3), 10 ** random.uniform(-20, 20), -10 ** random.uniform(-20, 5)])
def lgamma(x): return m.log(abs(m.gamma(x))) if abs(x) < 1000 else m.loggamma(x).real
def add(name, f, draw, count=600):
    out[name] = []
    while len(out[name]) < count:
        x = draw()
        if x[-1] <= 0 and x[-1] == round(x[-1]): continue
        y = value(f, *x)
        if 1e-300 < abs(y) < 1e308: out[name].append([*x, y])
add('Lgamma', lgamma, lambda: [anywhere()])
add('Digamma', m.digamma, lambda: [anywhere()])
add('Polygamma', lambda n, x: m.polygamma(int(n), x), lambda: [random.randint(1, 6), anywhere()])
for x in special + [8, 8 - 2.0 ** -50, 2.5, 1.5, -0.5 - 2.0 ** -53, -17.999, -18.001, 1e305, 0.1, -1e-10, -2 + 2.0 ** -45, -3 - 2.0 ** -40, -100.5, -1e6 - 0.5]:
    x = float(x)
    if x <= 0 and x == round(x): continue
    for name, f in (('Lgamma', lgamma), ('Digamma', m.digamma)):
        y = value(f, x)
        if 1e-300 < abs(y) < 1e308: out[name].append([x, y])
json.dump(out, open('values.json', 'w'), separators=(',', ':'))

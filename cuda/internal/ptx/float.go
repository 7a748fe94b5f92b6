package ptx

import "math"

// floats1 decodes an instruction with one operand.
func (in *instr) floats1(t typ, base string) run {
	ftz := in.has("ftz")
	var f func(x float64) float64
	switch base {
	case "abs": // exact, except that NaN becomes the canonical one
		f = math.Abs
	case "neg":
		f = func(x float64) float64 { return -x }
	case "sqrt", "rcp", "rsqrt":
		return in.root(t, base, ftz)
	case "ex2":
		f = math.Exp2
	case "lg2":
		f = math.Log2
	case "sin":
		f = math.Sin
	case "cos":
		f = math.Cos
	case "tanh":
		f = math.Tanh
	}
	if t == types["f64"] && (base == "abs" || base == "neg") {
		return in.apply1(t, func(a uint64) uint64 { return bits64(f(f64(a))) })
	}
	if base != "abs" && base != "neg" {
		in.approximate(t)
		if t == types["f32"] {
			f = coarse(base, f)
		}
	}
	return in.apply1(t, flush1(t, ftz, lift1(in, t, f)))
}

// approximate checks an instruction that exists only as .approx.
func (in *instr) approximate(t typ) {
	if in.base == "tanh" {
		in.need(70, 75)
	}
	if t.bits == 16 {
		if in.base != "tanh" && in.base != "ex2" {
			in.refuse("type %s is not supported", t.name())
		}
		in.need(70, 75)
		if t.kind == 'g' {
			in.need(78, 90)
		}
	}
	if !in.has("approx") || t.bits == 64 {
		in.refuse("exists only as .approx, of f32 and partly of halves")
	}
}

// coarse returns f with the error of the approximate instruction.
func coarse(base string, f func(float64) float64) func(float64) float64 {
	switch base {
	case "sin", "cos":
		return func(x float64) float64 {
			y := f(x)
			return math.Copysign(math.RoundToEven(y*0x1p21)*0x1p-21, y)
		}
	case "lg2":
		return func(x float64) float64 {
			if x > 0.5 && x < 2 {
				return math.RoundToEven(f(x)*0x1p22) * 0x1p-22
			}
			return coarse23.round(f(x), 'n')
		}
	case "tanh":
		return func(x float64) float64 { return coarse11.round(f(x), 'n') }
	}
	return func(x float64) float64 { return coarse23.round(f(x), 'n') }
}

// root decodes sqrt, rcp and rsqrt.
func (in *instr) root(t typ, base string, ftz bool) run {
	f := map[string]func(float64) float64{
		"sqrt":  math.Sqrt,
		"rcp":   func(x float64) float64 { return 1 / x },
		"rsqrt": func(x float64) float64 { return 1 / math.Sqrt(x) },
	}[base]
	if t.bits == 16 {
		in.refuse("type %s is not supported", t.name())
	}
	if in.has("approx") {
		if t == types["f64"] {
			if base == "sqrt" || base == "rcp" && !ftz {
				in.refuse("does not exist for f64")
			}
			return in.apply1(t, func(a uint64) uint64 { return bits64(f(f64(a))) })
		}
		exact := f
		f = func(x float64) float64 { return coarse23.round(exact(x), 'n') }
		return in.apply1(t, flush1(t, ftz, lift1(in, t, f)))
	}
	if in.one("rn") == "" || base == "rsqrt" {
		in.refuse("only .rn and .approx are supported")
	}
	if t == types["f64"] {
		return in.apply1(t, func(a uint64) uint64 { return bits64(f(f64(a))) })
	}
	// float64 has more than twice the bits of float32, so rounding twice gives the same result as
	// rounding once.
	return in.apply1(t, flush1(t, ftz, lift1(in, t, f)))
}

// lift1 turns a function of float64 into one of the bits of t.
func lift1(in *instr, t typ, f func(x float64) float64) fn1 {
	switch t {
	case types["f32"]:
		return func(a uint64) uint64 { return bits32(float32(f(float64(f32(a))))) }
	case types["f16"]:
		return func(a uint64) uint64 { return toF16(f(fromF16(a))) }
	case types["f16x2"]:
		return func(a uint64) uint64 { return toF16(f(fromF16(a&0xFFFF))) | toF16(f(fromF16(a>>16)))<<16 }
	case types["bf16"]:
		return func(a uint64) uint64 { return toBF16(f(fromBF16(a))) }
	case types["bf16x2"]:
		return func(a uint64) uint64 { return toBF16(f(fromBF16(a&0xFFFF))) | toBF16(f(fromBF16(a>>16)))<<16 }
	}
	in.refuse("type %s is not supported", t.name())
	return nil
}

func lift2(in *instr, t typ, f func(x, y float64) float64) fn2 {
	switch t {
	case types["f32"]:
		return func(a, b uint64) uint64 { return bits32(float32(f(float64(f32(a)), float64(f32(b))))) }
	case types["f64"]:
		return func(a, b uint64) uint64 { return bits64(f(f64(a), f64(b))) }
	case types["f16"], types["bf16"]:
		to, from := halfCodec(t)
		return func(a, b uint64) uint64 { return to(f(from(a), from(b))) }
	case types["f16x2"], types["bf16x2"]:
		to, from := halfCodec(t)
		return func(a, b uint64) uint64 {
			return to(f(from(a&0xFFFF), from(b&0xFFFF))) | to(f(from(a>>16), from(b>>16)))<<16
		}
	}
	in.refuse("type %s is not supported", t.name())
	return nil
}

func halfCodec(t typ) (to func(float64) uint64, from func(uint64) float64) {
	if t.kind == 'g' {
		return toBF16, fromBF16
	}
	return toF16, fromF16
}

// flushed replaces subnormal numbers by 0.
func flushed(t typ) fn1 {
	if t.bits == 32 {
		return func(a uint64) uint64 {
			if a&0x7F800000 == 0 {
				return a & 0x80000000
			}
			return a
		}
	}
	return func(a uint64) uint64 {
		for s := 0; s < t.width(); s += 16 {
			if a>>s&0x7C00 == 0 {
				a &^= 0x3FF << s
			}
		}
		return a
	}
}

func flush1(t typ, ftz bool, f fn1) fn1 {
	if !ftz {
		return f
	}
	z := flushed(t)
	return func(a uint64) uint64 { return z(f(z(a))) }
}

func flush2(t typ, ftz bool, f fn2) fn2 {
	if !ftz {
		return f
	}
	z := flushed(t)
	return func(a, b uint64) uint64 { return z(f(z(a), z(b))) }
}

func flush3(t typ, ftz bool, f fn3) fn3 {
	if !ftz {
		return f
	}
	z := flushed(t)
	return func(a, b, c uint64) uint64 { return z(f(z(a), z(b), z(c))) }
}

// rounding returns the rounding mode of an opcode, by default n.
func (in *instr) rounding() byte {
	if m := in.one("rn", "rz", "rm", "rp"); m != "" {
		return m[1]
	}
	return 'n'
}

// floats2 decodes add, sub, mul, div, min and max.
func (in *instr) floats2(t typ, base string) run {
	ftz := in.has("ftz")
	if t.bits == 16 {
		in.halfExists(t, base)
	}
	if base == "min" || base == "max" {
		return in.extreme(t, base == "min", ftz)
	}
	if base == "div" {
		return in.quotient(t, ftz)
	}
	mode := in.rounding()
	f := map[string]func(x, y float64) float64{
		"add": func(x, y float64) float64 { return x + y },
		"sub": func(x, y float64) float64 { return x - y },
		"mul": func(x, y float64) float64 { return x * y },
	}[base]
	var g fn2
	switch {
	case mode != 'n':
		if t != types["f32"] {
			in.refuse("only f32 can be rounded other than by .rn")
		}
		exact := map[string]func(x, y float64) float64{"add": odd, "sub": func(x, y float64) float64 { return odd(x, -y) }, "mul": f}[base]
		g = func(a, b uint64) uint64 {
			return bits32(float32(single.round(exact(float64(f32(a)), float64(f32(b))), mode)))
		}
	case t == types["f32"]:
		g = map[string]fn2{
			"add": func(a, b uint64) uint64 { return bits32(f32(a) + f32(b)) },
			"sub": func(a, b uint64) uint64 { return bits32(f32(a) - f32(b)) },
			"mul": func(a, b uint64) uint64 { return bits32(f32(a) * f32(b)) },
		}[base]
	default: // halves: float64 has more than twice their bits, so rounding twice is exact
		g = lift2(in, t, f)
	}
	g = flush2(t, ftz, g)
	if in.has("sat") {
		s, exact := in.saturated(t), g
		g = func(a, b uint64) uint64 { return s(exact(a, b)) }
	}
	return in.apply2(t, g)
}

// halfExists refuses instructions on halves that the module's version or target lacks.
func (in *instr) halfExists(t typ, base string) {
	switch {
	case base == "div":
		in.refuse("does not exist for halves")
	case base == "min" || base == "max":
		in.need(70, 80)
	case t.kind == 'g':
		in.need(78, 90)
	}
}

// saturated clamps a float to 0 … 1; NaN becomes 0.
func (in *instr) saturated(t typ) fn1 {
	f := func(x float64) float64 {
		if x > 0 {
			return math.Min(x, 1)
		}
		return 0
	}
	if t == types["f64"] {
		in.refuse(".sat does not exist for f64")
	}
	return lift1(in, t, f)
}

func (in *instr) quotient(t typ, ftz bool) run {
	switch in.one("rn", "approx", "full") {
	case "rn":
		if t == types["f32"] {
			return in.apply2(t, flush2(t, ftz, func(a, b uint64) uint64 { return bits32(f32(a) / f32(b)) }))
		}
		return in.apply2(t, lift2(in, t, func(x, y float64) float64 { return x / y }))
	case "approx":
		return in.apply2(t, flush2(t, ftz, lift2(in, t, func(x, y float64) float64 {
			if a := math.Abs(y); a > 0x1p126 && !math.IsInf(a, 0) { // the manual: the reciprocal is flushed
				if math.IsInf(x, 0) {
					return math.NaN()
				}
				return math.Copysign(0, x*math.Copysign(1, y))
			}
			return coarse23.round(x/y, 'n')
		})))
	case "full":
		return in.apply2(t, flush2(t, ftz, lift2(in, t, func(x, y float64) float64 { return coarse23.round(x/y, 'n') })))
	}
	in.refuse("needs .rn, .approx or .full")
	return nil
}

// extreme decodes min and max. A number is preferred to NaN unless .NaN is set, and -0 is less
// than 0.
func (in *instr) extreme(t typ, least, ftz bool) run {
	keep := in.has("NaN")
	if keep {
		in.need(70, 80)
	}
	return in.apply2(t, flush2(t, ftz, lift2(in, t, func(x, y float64) float64 {
		switch {
		case x != x && (keep || y != y):
			return x
		case x != x:
			return y
		case y != y && keep:
			return y
		case y != y:
			return x
		case least:
			return math.Min(x, y)
		}
		return math.Max(x, y)
	})))
}

func buildFma(in *instr) run {
	t := in.typ(-1)
	ftz, mode, relu := in.has("ftz"), in.rounding(), in.has("relu")
	if t.bits == 16 && t.kind == 'g' {
		in.need(70, 80)
	}
	if relu {
		in.need(70, 80)
	}
	var f fn3
	switch t {
	case types["f32"]:
		f = fma32
		if mode != 'n' {
			f = func(a, b, c uint64) uint64 {
				return bits32(float32(single.round(odd(float64(f32(a))*float64(f32(b)), float64(f32(c))), mode)))
			}
		}
	case types["f64"]:
		if mode != 'n' {
			in.refuse("only f32 can be rounded other than by .rn")
		}
		f = func(a, b, c uint64) uint64 { return bits64(math.FMA(f64(a), f64(b), f64(c))) }
	case types["f16"], types["bf16"], types["f16x2"], types["bf16x2"]:
		f = fmaHalf(t, relu)
	default:
		in.refuse("type %s is not supported", t.name())
	}
	f = flush3(t, ftz, f)
	if in.has("sat") {
		s, exact := in.saturated(t), f
		f = func(a, b, c uint64) uint64 { return s(exact(a, b, c)) }
	}
	return in.apply3(t, f)
}

func fmaHalf(t typ, relu bool) fn3 {
	to, from := halfCodec(t)
	one := func(a, b, c uint64) uint64 {
		r := odd(from(a&0xFFFF)*from(b&0xFFFF), from(c&0xFFFF))
		if relu && r <= 0 {
			r = 0
		}
		return to(r)
	}
	if t.pack == 1 {
		return one
	}
	return func(a, b, c uint64) uint64 { return one(a, b, c) | one(a>>16, b>>16, c>>16)<<16 }
}

func buildFloat1(in *instr) run { return in.floats1(in.typ(-1), in.base) }

// buildCopysign decodes copysign d, a, b: b with the sign of a.
func buildCopysign(in *instr) run {
	t := in.typ(-1)
	sign := uint64(1) << (t.bits - 1)
	return in.apply2(t, func(a, b uint64) uint64 { return a&sign | b&^sign })
}

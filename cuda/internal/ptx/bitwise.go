package ptx

import "math/bits"

// buildLogic decodes and, or, xor, not and cnot.
func buildLogic(in *instr) run {
	t := in.typ(-1)
	if t.kind == 'p' {
		return in.predicates()
	}
	n := t.width()
	switch in.base {
	case "and":
		return in.apply2(t, func(a, b uint64) uint64 { return cut(a&b, n) })
	case "or":
		return in.apply2(t, func(a, b uint64) uint64 { return cut(a|b, n) })
	case "xor":
		return in.apply2(t, func(a, b uint64) uint64 { return cut(a^b, n) })
	case "not":
		return in.apply1(t, func(a uint64) uint64 { return cut(^a, n) })
	}
	return in.apply1(t, func(a uint64) uint64 { // cnot
		if cut(a, n) == 0 {
			return 1
		}
		return 0
	})
}

// predicates decodes logic on predicates, which are masks.
func (in *instr) predicates() run {
	var f func(a, b uint32) uint32
	n := 3
	switch in.base {
	case "and":
		f = func(a, b uint32) uint32 { return a & b }
	case "or":
		f = func(a, b uint32) uint32 { return a | b }
	case "xor":
		f = func(a, b uint32) uint32 { return a ^ b }
	case "not":
		f, n = func(a, _ uint32) uint32 { return ^a }, 2
	case "mov":
		f, n = func(a, _ uint32) uint32 { return a }, 2
	default:
		in.refuse("does not take predicates")
	}
	in.count(n)
	d, a := in.target(in.args[0], types["pred"]), in.mask(in.args[1])
	b := in.mask(in.args[n-1])
	return func(w *warp, m uint32) { w.setMask(d, f(a(w), b(w)), m) }
}

// setMask sets a predicate in the lanes m.
func (w *warp) setMask(reg int, set, m uint32) {
	p := &w.r[reg][0]
	*p = uint64(uint32(*p)&^m | set&m)
}

// mask returns a function that reads a predicate, negated if the operand is.
func (in *instr) mask(a arg) func(w *warp) uint32 {
	if a.kind == 'i' {
		var x uint32
		if a.number != 0 {
			x = all
		}
		return func(*warp) uint32 { return x }
	}
	r := in.source(a, types["pred"])
	if a.negate {
		return func(w *warp) uint32 { return ^uint32(w.r[r][0]) }
	}
	return func(w *warp) uint32 { return uint32(w.r[r][0]) }
}

// buildShift decodes shl and shr. Shifts by the width or more give 0, or copies of the sign.
func buildShift(in *instr) run {
	t := in.typ(-1)
	in.count(3)
	d, a, b := in.target(in.args[0], t), in.source(in.args[1], t), in.source(in.args[2], types["u32"])
	n := t.width()
	switch {
	case in.base == "shl":
		return apply2(d, a, b, func(a, b uint64) uint64 { return cut(a<<uint32(b), n) })
	case t.signed():
		return apply2(d, a, b, func(a, b uint64) uint64 { return cut(uint64(int64(extend(a, n))>>uint32(b)), n) })
	}
	return apply2(d, a, b, func(a, b uint64) uint64 { return cut(a, n) >> uint32(b) })
}

// buildFunnel decodes shf.
func buildFunnel(in *instr) run {
	dir, mode := in.one("l", "r"), in.one("wrap", "clamp")
	if dir == "" || mode == "" {
		in.refuse("needs .l or .r and .wrap or .clamp")
	}
	return in.apply3(types["b32"], func(a, b, c uint64) uint64 {
		n := uint32(c)
		if mode == "wrap" {
			n &= 31
		} else {
			n = min(n, 32)
		}
		x := b<<32 | uint64(uint32(a))
		if dir == "l" {
			return x << n >> 32
		}
		return cut(x>>n, 32)
	})
}

// buildPermute decodes prmt.
func buildPermute(in *instr) run {
	mode := in.one("f4e", "b4e", "rc8", "ecl", "ecr", "rc16")
	return in.apply3(types["b32"], func(a, b, c uint64) uint64 {
		x := b<<32 | uint64(uint32(a))
		var y uint64
		for i := range uint64(4) {
			k, s := uint64(0), c&3
			switch mode {
			case "":
				k = c >> (4 * i) & 15
			case "f4e":
				k = (s + i) & 7
			case "b4e":
				k = (s - i) & 7
			case "rc8":
				k = s
			case "ecl":
				k = max(i, s)
			case "ecr":
				k = min(i, s)
			case "rc16":
				k = 2*(s&1) + i&1
			}
			v := x >> (8 * (k & 7)) & 0xFF
			if k&8 != 0 {
				v = uint64(int8(v)>>7) & 0xFF
			}
			y |= v << (8 * i)
		}
		return y
	})
}

// buildTable decodes lop3.
func buildTable(in *instr) run {
	in.count(5)
	t := types["b32"]
	table := in.args[4].number
	if in.args[4].kind != 'i' || table > 255 {
		in.refuse("table %q, want a number from 0 to 255", in.args[4].name)
	}
	return apply3(in.target(in.args[0], t), in.source(in.args[1], t), in.source(in.args[2], t), in.source(in.args[3], t), func(a, b, c uint64) uint64 {
		var y uint64
		for i := range uint64(8) {
			if table>>i&1 != 0 {
				x := ^uint64(0)
				for k, v := range [3]uint64{c, b, a} {
					if i>>k&1 != 0 {
						x &= v
					} else {
						x &= ^v
					}
				}
				y |= x
			}
		}
		return cut(y, 32)
	})
}

// buildField decodes bfe.
func buildField(in *instr) run {
	t := in.typ(-1)
	in.count(4)
	n := uint64(t.width())
	pos, length := in.source(in.args[2], types["u32"]), in.source(in.args[3], types["u32"])
	return apply3(in.target(in.args[0], t), in.source(in.args[1], t), pos, length, func(a, b, c uint64) uint64 {
		p, l := b&0xFF, c&0xFF
		a = cut(a, int(n))
		var sign uint64
		if t.signed() && l > 0 && a>>min(p+l-1, n-1)&1 != 0 {
			sign = ^uint64(0)
		}
		if l == 0 {
			return 0
		}
		x := sign
		if p < n {
			x = a >> p
			if l < n-p {
				x = cut(x, int(l)) | sign<<l
			} else {
				x |= sign << (n - p)
			}
		}
		return cut(x, int(n))
	})
}

// buildInsert decodes bfi.
func buildInsert(in *instr) run {
	t := in.typ(-1)
	in.count(5)
	n := t.width()
	d, a, b := in.target(in.args[0], t), in.source(in.args[1], t), in.source(in.args[2], t)
	pos, length := in.source(in.args[3], types["u32"]), in.source(in.args[4], types["u32"])
	return func(w *warp, m uint32) {
		for ; m != 0; m &= m - 1 {
			i := bits.TrailingZeros32(m) & 31
			field := cut(cut(^uint64(0), int(w.r[length][i]&0xFF))<<(w.r[pos][i]&0xFF), n)
			w.r[d][i] = w.r[b][i]&^field | w.r[a][i]<<(w.r[pos][i]&0xFF)&field
		}
	}
}

// buildCount decodes popc, clz and bfind, whose results have 32 bits, and brev.
func buildCount(in *instr) run {
	t := in.typ(-1)
	in.count(2)
	n := t.width()
	if in.base == "brev" {
		return in.apply1(t, func(a uint64) uint64 { return bits.Reverse64(a) >> (64 - n) })
	}
	d, a := in.target(in.args[0], types["u32"]), in.source(in.args[1], t)
	switch in.base {
	case "popc":
		return apply1(d, a, func(a uint64) uint64 { return uint64(bits.OnesCount64(cut(a, n))) })
	case "clz":
		return apply1(d, a, func(a uint64) uint64 { return uint64(bits.LeadingZeros64(cut(a, n)) - 64 + n) })
	}
	amount := in.has("shiftamt")
	return apply1(d, a, func(a uint64) uint64 { // bfind
		if t.signed() && int64(extend(a, n)) < 0 {
			a = ^a
		}
		p := 63 - bits.LeadingZeros64(cut(a, n))
		if amount && p >= 0 {
			p = n - 1 - p
		}
		return uint64(uint32(p))
	})
}

// buildDot decodes dp4a.
func buildDot(in *instr) run {
	ta, tb := in.typ(0), in.typ(1)
	in.count(4)
	w32 := types["b32"]
	return apply3(in.target(in.args[0], w32), in.source(in.args[1], w32), in.source(in.args[2], w32), in.source(in.args[3], w32), func(a, b, c uint64) uint64 {
		for i := 0; i < 32; i += 8 {
			x, y := cut(a>>i, 8), cut(b>>i, 8)
			if ta.signed() {
				x = extend(x, 8)
			}
			if tb.signed() {
				y = extend(y, 8)
			}
			c += x * y
		}
		return cut(c, 32)
	})
}

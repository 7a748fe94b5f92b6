package ptx

import (
	"math/bits"
	"strings"
)

// comparison returns the function that compares two registers of type t.
func (in *instr) comparison(t typ, name string) func(a, b uint64) bool {
	if t.float() {
		ordered, unordered := name, false
		switch name {
		case "equ", "neu", "ltu", "leu", "gtu", "geu":
			ordered, unordered = strings.TrimSuffix(name, "u"), true
		}
		if t.pack == 2 {
			in.refuse("type %s is not supported", t.name())
		}
		from := decoder(t)
		switch name {
		case "num":
			return func(a, b uint64) bool { x, y := from(a), from(b); return x == x && y == y }
		case "nan":
			return func(a, b uint64) bool { x, y := from(a), from(b); return x != x || y != y }
		}
		cmp := compare[float64](ordered)
		if cmp == nil {
			in.refuse("comparison .%s does not exist for %s", name, t.name())
		}
		return func(a, b uint64) bool {
			x, y := from(a), from(b)
			if x != x || y != y {
				return unordered
			}
			return cmp(x, y)
		}
	}
	n := t.bits
	switch name {
	case "lo", "ls", "hi", "hs":
		name = map[string]string{"lo": "lt", "ls": "le", "hi": "gt", "hs": "ge"}[name]
		t.kind = 'u'
	}
	if t.kind == 'b' && name != "eq" && name != "ne" {
		in.refuse("comparison .%s does not exist for %s", name, t.name())
	}
	if t.signed() {
		if cmp := compare[int64](name); cmp != nil {
			return func(a, b uint64) bool { return cmp(int64(extend(a, n)), int64(extend(b, n))) }
		}
	} else if cmp := compare[uint64](name); cmp != nil {
		return func(a, b uint64) bool { return cmp(cut(a, n), cut(b, n)) }
	}
	in.refuse("comparison .%s does not exist for %s", name, t.name())
	return nil
}

func compare[T float64 | uint64 | int64](name string) func(a, b T) bool {
	switch name {
	case "eq":
		return func(a, b T) bool { return a == b }
	case "ne":
		return func(a, b T) bool { return a != b }
	case "lt":
		return func(a, b T) bool { return a < b }
	case "le":
		return func(a, b T) bool { return a <= b }
	case "gt":
		return func(a, b T) bool { return a > b }
	case "ge":
		return func(a, b T) bool { return a >= b }
	}
	return nil
}

var comparisons = []string{"eq", "ne", "lt", "le", "gt", "ge", "lo", "ls", "hi", "hs", "equ", "neu", "ltu", "leu", "gtu", "geu", "num", "nan"}

// compared decodes the comparison of setp and set, whose operands start at the second.
func (in *instr) compared(t typ) func(w *warp, m uint32) uint32 {
	ftz := in.has("ftz")
	cmp := in.comparison(t, in.one(comparisons...))
	if ftz {
		z, f := flushed(t), cmp
		cmp = func(a, b uint64) bool { return f(z(a), z(b)) }
	}
	a, b := in.source(in.args[1], t), in.source(in.args[2], t)
	logic := in.one("and", "or", "xor")
	result := func(w *warp, m uint32) (set uint32) {
		x, y := &w.r[a], &w.r[b]
		for l := m; l != 0; l &= l - 1 {
			i := bits.TrailingZeros32(l) & 31
			if cmp(x[i], y[i]) {
				set |= 1 << i
			}
		}
		return set
	}
	if logic == "" {
		in.count(3)
		return result
	}
	in.count(4)
	c := in.mask(in.args[3])
	return func(w *warp, m uint32) uint32 { return combine(logic, result(w, m), c(w)) }
}

func combine(logic string, a, b uint32) uint32 {
	switch logic {
	case "and":
		return a & b
	case "or":
		return a | b
	}
	return a ^ b
}

func buildSetp(in *instr) run {
	if len(in.args) < 3 {
		in.count(3)
	}
	t := in.typ(-1)
	d := in.target(in.args[0], types["pred"])
	q := -1
	if in.args[0].pair != nil {
		q = in.target(*in.args[0].pair, types["pred"])
	}
	name, logic := "", ""
	for _, m := range in.mods {
		switch m {
		case "and", "or", "xor":
			logic = m
		case "ftz":
		default:
			name = m
		}
	}
	if q >= 0 { // q is the opposite comparison, combined with the same predicate
		in.one(comparisons...)
		in.one("and", "or", "xor")
		in.has("ftz")
		cmp := in.comparison(t, name)
		a, b := in.source(in.args[1], t), in.source(in.args[2], t)
		c := func(*warp) uint32 { return all }
		if logic == "" {
			logic = "and"
		} else {
			c = in.mask(in.args[3])
		}
		return func(w *warp, m uint32) {
			var set uint32
			for l := m; l != 0; l &= l - 1 {
				if i := bits.TrailingZeros32(l) & 31; cmp(w.r[a][i], w.r[b][i]) {
					set |= 1 << i
				}
			}
			x := c(w)
			w.setMask(d, combine(logic, set, x), m)
			w.setMask(q, combine(logic, ^set, x), m)
		}
	}
	if logic == "" && t.integer() && t.bits == 32 {
		if f := fastSetp(in, t, name, d); f != nil {
			return f
		}
	}
	f := in.compared(t)
	return func(w *warp, m uint32) { w.setMask(d, f(w, m), m) }
}

// fastSetp is setp without modifiers, the instruction that ends most loops.
func fastSetp(in *instr, t typ, name string, d int) run {
	in.count(3)
	a, b := in.source(in.args[1], t), in.source(in.args[2], t)
	flip := uint64(0)
	if t.signed() {
		flip = 1 << 31
	}
	var less, equal bool // outcomes that make the predicate true
	switch name {
	case "lt":
		less = true
	case "le":
		less, equal = true, true
	case "gt":
		a, b, less = b, a, true
	case "ge":
		a, b, less, equal = b, a, true, true
	default:
		return nil
	}
	if t.kind == 'b' {
		return nil
	}
	in.has(name)
	more := uint64(0)
	if equal {
		more = 1
	}
	_ = less
	return func(w *warp, m uint32) {
		x, y := &w.r[a], &w.r[b]
		var set uint32
		for i := range x {
			// The difference borrows where x is less.
			set |= uint32((x[i]&0xFFFFFFFF^flip-(y[i]&0xFFFFFFFF^flip+more))>>63) << i
		}
		w.setMask(d, set, m)
	}
}

// buildSet decodes set: all bits, or 1.0, if the comparison is true.
func buildSet(in *instr) run {
	dst, src := in.typ(0), in.typ(1)
	d := in.target(in.args[0], dst)
	f := in.compared(src)
	yes := cut(^uint64(0), dst.width())
	if dst == types["f32"] {
		yes = bits32(1)
	}
	return func(w *warp, m uint32) {
		set := f(w, m)
		for l := m; l != 0; l &= l - 1 {
			i := bits.TrailingZeros32(l) & 31
			w.r[d][i] = 0
			if set>>i&1 != 0 {
				w.r[d][i] = yes
			}
		}
	}
}

func buildSelp(in *instr) run {
	t := in.typ(-1)
	in.count(4)
	d, a, b := in.target(in.args[0], t), in.source(in.args[1], t), in.source(in.args[2], t)
	c, n := in.mask(in.args[3]), t.width()
	return func(w *warp, m uint32) {
		p := c(w)
		z, x, y := &w.r[d], &w.r[a], &w.r[b]
		for l := m; l != 0; l &= l - 1 {
			i := bits.TrailingZeros32(l) & 31
			if p>>i&1 != 0 {
				z[i] = cut(x[i], n)
			} else {
				z[i] = cut(y[i], n)
			}
		}
	}
}

// buildSlct decodes slct: a if c >= 0, otherwise b.
func buildSlct(in *instr) run {
	t, by := in.typ(0), in.typ(1)
	in.count(4)
	in.has("ftz")
	f := func(a, b, c uint64) uint64 {
		if int32(c) >= 0 {
			return a
		}
		return b
	}
	if by == types["f32"] {
		f = func(a, b, c uint64) uint64 {
			if f32(c) >= 0 {
				return a
			}
			return b
		}
	}
	return apply3(in.target(in.args[0], t), in.source(in.args[1], t), in.source(in.args[2], t), in.source(in.args[3], by), f)
}

// buildTestp decodes testp.
func buildTestp(in *instr) run {
	t := in.typ(-1)
	in.count(2)
	what := in.one("finite", "infinite", "number", "notanumber", "normal", "subnormal")
	exponent, fraction := uint64(0x7F800000), uint64(0x007FFFFF)
	if t == types["f64"] {
		exponent, fraction = 0x7FF<<52, 1<<52-1
	}
	d, a := in.target(in.args[0], types["pred"]), in.source(in.args[1], t)
	return func(w *warp, m uint32) {
		var set uint32
		for l := m; l != 0; l &= l - 1 {
			i := bits.TrailingZeros32(l) & 31
			e, f := w.r[a][i]&exponent, w.r[a][i]&fraction
			var is bool
			switch what {
			case "finite":
				is = e != exponent
			case "infinite":
				is = e == exponent && f == 0
			case "number":
				is = e != exponent || f == 0
			case "notanumber":
				is = e == exponent && f != 0
			case "normal":
				is = e != exponent && e != 0
			case "subnormal":
				is = e == 0 && f != 0
			}
			if is {
				set |= 1 << i
			}
		}
		w.setMask(d, set, m)
	}
}

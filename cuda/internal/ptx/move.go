package ptx

import (
	"math/bits"
	"strings"
	"unsafe"
)

func buildMov(in *instr) run {
	t := in.typ(-1)
	in.count(2)
	if t.kind == 'p' {
		return in.predicates()
	}
	d, s := in.args[0], in.args[1]
	switch {
	case d.kind == '{' || s.kind == '{':
		return in.repack(t, d, s)
	case s.kind == 's' && dynamic[s.name] != nil:
		f, r := dynamic[s.name], in.target(d, t)
		return func(w *warp, m uint32) {
			x := cut(f(w), t.width())
			for ; m != 0; m &= m - 1 {
				w.r[r][bits.TrailingZeros32(m)&31] = x
			}
		}
	case s.kind == 'n':
		in.refuse("%s is not a variable", s.name)
	case s.kind == 'v' && t.width() < 32:
		in.refuse("an address needs 32 or 64 bits")
	}
	y, x, n := in.target(d, t), in.source(s, t), t.width()
	return func(w *warp, m uint32) {
		y, x := &w.r[y], &w.r[x]
		if m == all {
			for i := range y {
				y[i] = cut(x[i], n)
			}
			return
		}
		for ; m != 0; m &= m - 1 {
			i := bits.TrailingZeros32(m) & 31
			y[i] = cut(x[i], n)
		}
	}
}

// repack decodes mov between a register and a vector of its parts.
func (in *instr) repack(t typ, d, s arg) run {
	parts := s.list
	if d.kind == '{' {
		parts = d.list
	}
	if len(parts) != 2 && len(parts) != 4 {
		in.refuse("%d parts, want 2 or 4", len(parts))
	}
	n := t.width() / len(parts)
	part := typ{'b', n, 1}
	var list []int
	if d.kind == '{' {
		for _, p := range parts {
			list = append(list, in.target(p, part))
		}
		x := in.source(s, t)
		return func(w *warp, m uint32) {
			for ; m != 0; m &= m - 1 {
				i := bits.TrailingZeros32(m) & 31
				v := w.r[x][i]
				for k, r := range list {
					w.r[r][i] = cut(v>>(k*n), n)
				}
			}
		}
	}
	for _, p := range parts {
		list = append(list, in.source(p, part))
	}
	y := in.target(d, t)
	return func(w *warp, m uint32) {
		for ; m != 0; m &= m - 1 {
			i := bits.TrailingZeros32(m) & 31
			var v uint64
			for k, r := range list {
				v |= cut(w.r[r][i], n) << (k * n)
			}
			w.r[y][i] = v
		}
	}
}

// ignored lists the modifiers of loads and stores that do not change their result here.
var ignored = []string{"volatile", "weak", "relaxed", "acquire", "release", "acq_rel", "cta", "cluster", "gpu", "sys", "ca", "cg", "cs", "lu", "cv", "wb", "wt", "nc", "uni", "noftz"}

func (in *instr) ignore() {
	for i, m := range in.mods {
		if strings.HasPrefix(m, "L1::") || strings.HasPrefix(m, "L2::") {
			in.used[i] = true
		}
	}
	for _, m := range ignored {
		in.has(m)
	}
}

func (in *instr) space() uint8 {
	return spaces[in.one("global", "const", "shared", "local", "param")]
}

// memory returns the register that holds an address, and an offset to add to it.
func (in *instr) memory(a arg, space uint8) (reg int, offset uint64) {
	if a.kind != '[' {
		in.refuse("operand %q, want [address]", a.name)
	}
	switch b := *a.base; b.kind {
	case 'v':
		if space == generic && (b.variable.space == "shared" || b.variable.space == "local") {
			in.refuse("%s is in %s memory, so its name is not a generic address", b.name, b.variable.space)
		}
		return in.address(b), 0
	case 'r':
		n := b.reg.typ.width()
		if b.reg.typ.float() || n != 64 && !(n == 32 && (space == shared || space == local || space == param)) {
			in.refuse("address %s is %s, want 64 bits", b.name, b.reg.typ.name())
		}
		return b.reg.i, b.number
	case 'i':
		return in.constant(constant{value: b.number}), 0
	}
	in.refuse("address %q is not declared", a.base.name)
	return 0, 0
}

// places returns the registers of a vector that is loaded or stored.
func (in *instr) places(a arg) []arg {
	if a.kind == '{' {
		if len(a.list) != in.vector {
			in.refuse("%d registers, want %d", len(a.list), in.vector)
		}
		return a.list
	}
	if in.vector != 1 {
		in.refuse("needs {%d registers}", in.vector)
	}
	return []arg{a}
}

func buildLoad(in *instr) run {
	t := in.typ(-1)
	in.count(2)
	in.ignore()
	space := in.space()
	var regs, widths []int
	for _, p := range in.places(in.args[0]) {
		r, n := in.wideTarget(p, t)
		regs, widths = append(regs, r), append(widths, n)
	}
	base, offset := in.memory(in.args[1], space)
	size := t.bytes()
	total := uint64(size * len(regs))
	if total > 16 {
		in.refuse("%d bytes, want at most 16", total)
	}
	signed := t.signed()
	if space == global && len(regs) == 1 && size == 4 && (!signed || widths[0] == 32) {
		return loadGlobal32(regs[0], base, offset)
	}
	return func(w *warp, m uint32) {
		for ; m != 0; m &= m - 1 {
			lane := bits.TrailingZeros32(m) & 31
			p := w.at(space, w.r[base][lane]+offset, total, lane, reads)
			if p == nil {
				return
			}
			for k, r := range regs {
				x := load(unsafe.Add(p, k*size), size)
				if signed {
					x = cut(extend(x, t.bits), widths[k])
				}
				w.r[r][lane] = x
			}
		}
	}
}

// loadGlobal32 is the most common load.
func loadGlobal32(d, base int, offset uint64) run {
	return func(w *warp, m uint32) {
		y, x := &w.r[d], &w.r[base]
		for ; m != 0; m &= m - 1 {
			lane := bits.TrailingZeros32(m) & 31
			a := x[lane] + offset
			if a < w.lo || a+4 > w.hi || a&3 != 0 {
				if w.at(global, a, 4, lane, reads) == nil {
					return
				}
			}
			y[lane] = uint64(*(*uint32)(pointer(a)))
		}
	}
}

func load(p unsafe.Pointer, size int) uint64 {
	switch size {
	case 1:
		return uint64(*(*uint8)(p))
	case 2:
		return uint64(*(*uint16)(p))
	case 4:
		return uint64(*(*uint32)(p))
	}
	return *(*uint64)(p)
}

func store(p unsafe.Pointer, size int, x uint64) {
	switch size {
	case 1:
		*(*uint8)(p) = uint8(x)
	case 2:
		*(*uint16)(p) = uint16(x)
	case 4:
		*(*uint32)(p) = uint32(x)
	default:
		*(*uint64)(p) = x
	}
}

func buildStore(in *instr) run {
	t := in.typ(-1)
	in.count(2)
	in.ignore()
	space := in.space()
	var regs []int
	for _, p := range in.places(in.args[1]) {
		regs = append(regs, in.wide(p, t))
	}
	base, offset := in.memory(in.args[0], space)
	size := t.bytes()
	total := uint64(size * len(regs))
	if total > 16 {
		in.refuse("%d bytes, want at most 16", total)
	}
	return func(w *warp, m uint32) {
		for ; m != 0; m &= m - 1 {
			lane := bits.TrailingZeros32(m) & 31
			p := w.at(space, w.r[base][lane]+offset, total, lane, writes)
			if p == nil {
				return
			}
			for k, r := range regs {
				store(unsafe.Add(p, k*size), size, w.r[r][lane])
			}
		}
	}
}

// buildAddress decodes cvta, which converts between generic addresses and those of a space.
func buildAddress(in *instr) run {
	to := in.has("to")
	space := in.space()
	t := in.typ(-1)
	if t.width() != 64 || space == generic {
		in.refuse("needs a space and 64 bits")
	}
	base := windows[space]
	if to {
		base = -base
	}
	return in.apply1(t, func(a uint64) uint64 { return a + base })
}

// buildIsSpace decodes isspacep.
func buildIsSpace(in *instr) run {
	space := in.space()
	in.count(2)
	d, a := in.target(in.args[0], types["pred"]), in.source(in.args[1], types["u64"])
	return func(w *warp, m uint32) {
		var set uint32
		for l := m; l != 0; l &= l - 1 {
			i := bits.TrailingZeros32(l) & 31
			is := uint8(w.r[a][i]>>56) + 1
			if is > param {
				is = global
			}
			if is == space {
				set |= 1 << i
			}
		}
		w.setMask(d, set, m)
	}
}

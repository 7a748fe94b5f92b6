package ptx

import "math"

// typ is a type of the instruction set.
type typ struct {
	kind byte // 'b' bits, 'u', 's' integers, 'f' IEEE floats, 'g' bfloat16, 't' tf32, 'p' predicate
	bits int  // bits per element
	pack int  // number of elements: 2 for f16x2
}

var types = map[string]typ{
	"pred": {'p', 1, 1},
	"b8":   {'b', 8, 1}, "b16": {'b', 16, 1}, "b32": {'b', 32, 1}, "b64": {'b', 64, 1},
	"u8": {'u', 8, 1}, "u16": {'u', 16, 1}, "u32": {'u', 32, 1}, "u64": {'u', 64, 1},
	"s8": {'s', 8, 1}, "s16": {'s', 16, 1}, "s32": {'s', 32, 1}, "s64": {'s', 64, 1},
	"f16": {'f', 16, 1}, "f16x2": {'f', 16, 2}, "f32": {'f', 32, 1}, "f64": {'f', 64, 1},
	"bf16": {'g', 16, 1}, "bf16x2": {'g', 16, 2}, "tf32": {'t', 32, 1},
}

// width returns the bits of a register that holds t.
func (t typ) width() int { return t.bits * t.pack }

// bytes returns the size of t in memory.
func (t typ) bytes() int { return t.width() / 8 }

func (t typ) float() bool   { return t.kind == 'f' || t.kind == 'g' }
func (t typ) signed() bool  { return t.kind == 's' }
func (t typ) integer() bool { return t.kind == 's' || t.kind == 'u' || t.kind == 'b' }

// name returns the manual's name of t.
func (t typ) name() string {
	for name, u := range types {
		if u == t {
			return "." + name
		}
	}
	return "untyped"
}

// holds reports whether a register declared as r may be an operand of type t. Both must have the
// same width, and an integer register cannot hold a float.
func (r typ) holds(t typ) bool {
	if r.width() != t.width() || (r.kind == 'p') != (t.kind == 'p') {
		return false
	}
	floats := func(k byte) bool { return k == 'f' || k == 'g' }
	ints := func(k byte) bool { return k == 'u' || k == 's' }
	return !(floats(r.kind) && ints(t.kind) || ints(r.kind) && floats(t.kind))
}

// cut returns the given number of low bits of x.
func cut(x uint64, bits int) uint64 {
	if bits >= 64 {
		return x
	}
	return x & (1<<bits - 1)
}

// extend sign-extends the given number of low bits of x.
func extend(x uint64, bits int) uint64 {
	s := 64 - bits
	return uint64(int64(x<<s) >> s)
}

const (
	nan16 = 0x7FFF
	nan32 = 0x7FFFFFFF
	nan64 = 0xFFF8000000000000
)

func f32(x uint64) float32 { return math.Float32frombits(uint32(x)) }
func f64(x uint64) float64 { return math.Float64frombits(x) }

// bits32 returns the register content for the arithmetic result f. NaN becomes the canonical one.
func bits32(f float32) uint64 {
	if f != f {
		return nan32
	}
	return uint64(math.Float32bits(f))
}

func bits64(f float64) uint64 {
	if f != f {
		return nan64
	}
	return math.Float64bits(f)
}

package ptx

import (
	"fmt"
	"maps"
	"math"
	"math/bits"
	"regexp"
	"slices"
	"strings"
	"testing"
)

// opcodeTest computes %o from %a, %b and %c, with one thread per triple of values.
type opcodeTest struct {
	text string // instructions
	regs string // widths of %o, %a, %b, %c in bytes; p is a predicate
	want func(a, b, c uint64) uint64
}

// values holds bit patterns that are special cases of some type.
var values = []uint64{
	0, 1, 2, 3, 5, 7, 8, 16, 31, 32, 33, 63, 64, 100, 0x7F, 0x80, 0xFF, 0x100,
	0x7FFF, 0x8000, 0xFFFF, 0x10000, 0x7FFFFFFF, 0x80000000, 0xFFFFFFFF, 0x100000000, 0x7FFFFFFFFFFFFFFF, 0x8000000000000000, ^uint64(0),
	0x3C00, 0xBC00, 0x7C00, 0xFC00, 0x7E00, 0x0400, 0x7BFF, 0x3555, // f16
	0x3C003C00, 0x7C00BC00, 0x04000001, // f16x2
	0x3F80, 0xBF80, 0x7F80, 0x7FC0, 0x7F7F, 0x3F803FC0, // bf16
	0x3F800000, 0xBF800000, 0x40490FDB, 0x7F800000, 0xFF800000, 0x7FC00000, 0x00800000, 0x7F7FFFFF, 0x3EAAAAAB, 0x4B800000, 0xCF000000, 0x4EFFFFFF, 0x40200000, 0xC0200000, 0x3FC00000, // f32
	0x3FF0000000000000, 0xBFF8000000000000, 0x400921FB54442D18, 0x7FF0000000000000, 0x7FF8000000000000, 0x0010000000000000, 0x43E0000000000000, 0x3810000000000001, 0x47EFFFFFE0000000, 0x3FF0000010000000, // f64
	0x0123456789ABCDEF, 0xFEDCBA9876543210, 0x5555555555555555, 0xAAAAAAAAAAAAAAAA,
}

var widths = map[byte]int{'1': 8, '2': 16, '4': 32, '8': 64, 'p': 1}

// source returns the text of a module that runs the test.
func (o opcodeTest) source() string {
	var s strings.Builder
	s.WriteString(".version 7.8\n.target sm_90\n.address_size 64\n.visible .entry k(.param .u64 out, .param .u64 in, .param .u32 n)\n{\n" +
		".reg .b64 %q<8>;\n.reg .pred %u;\n.reg .b32 %i<5>;\n.reg .pred %s<9>;\n.reg .b16 %h<9>;\n.reg .b32 %r<9>;\n.reg .b64 %d<9>;\n")
	for i, w := range []byte(o.regs) {
		t := map[byte]string{'2': "b16", '4': "b32", '8': "b64", 'p': "pred"}[w]
		fmt.Fprintf(&s, ".reg .%s %%%c;\n", t, "oabc"[i])
	}
	s.WriteString("mov.u32 %i0, %ctaid.x;\nmov.u32 %i1, %ntid.x;\nmov.u32 %i2, %tid.x;\nmad.lo.s32 %i3, %i0, %i1, %i2;\n" +
		"ld.param.u32 %i4, [n];\nsetp.ge.u32 %u, %i3, %i4;\n@%u bra end;\n" +
		"ld.param.u64 %q0, [in];\nmul.wide.u32 %q1, %i3, 24;\nadd.s64 %q0, %q0, %q1;\n")
	for i, w := range []byte(o.regs[1:]) {
		fmt.Fprintf(&s, "ld.global.u64 %%q2, [%%q0+%d];\n", 8*i)
		name := "abc"[i : i+1]
		switch w {
		case '2':
			fmt.Fprintf(&s, "cvt.u16.u64 %%%s, %%q2;\n", name)
		case '4':
			fmt.Fprintf(&s, "cvt.u32.u64 %%%s, %%q2;\n", name)
		case '8':
			fmt.Fprintf(&s, "mov.b64 %%%s, %%q2;\n", name)
		case 'p':
			fmt.Fprintf(&s, "and.b64 %%q2, %%q2, 1;\nsetp.ne.u64 %%%s, %%q2, 0;\n", name)
		}
	}
	s.WriteString(o.text + ";\nld.param.u64 %q3, [out];\nmul.wide.u32 %q4, %i3, 8;\nadd.s64 %q3, %q3, %q4;\n")
	switch o.regs[0] {
	case '2':
		s.WriteString("cvt.u64.u16 %q5, %o;\n")
	case '4':
		s.WriteString("cvt.u64.u32 %q5, %o;\n")
	case '8':
		s.WriteString("mov.b64 %q5, %o;\n")
	case 'p':
		s.WriteString("selp.b64 %q5, 1, 0, %o;\n")
	}
	s.WriteString("st.global.u64 [%q3], %q5;\nend:\nret;\n}\n")
	return s.String()
}

func (o opcodeTest) run(t *testing.T) {
	m, err := Parse(o.source())
	if err != nil {
		t.Fatal(err)
	}
	k, err := m.Kernel("k")
	if err != nil {
		t.Fatal(err)
	}
	var in []uint64
	for i, a := range values {
		switch len(o.regs) {
		case 2:
			in = append(in, a, 0, 0)
		default:
			for j, b := range values {
				in = append(in, a, b, values[(i*7+j*13)%len(values)])
			}
		}
	}
	for i := range in {
		if i%3+1 < len(o.regs) {
			if w := widths[o.regs[i%3+1]]; w < 64 {
				in[i] &= 1<<w - 1
			}
		}
	}
	n := len(in) / 3
	d := &device{t: t}
	pin, _ := array(d, in)
	pout, out := array(d, make([]uint64, n))
	if err := d.launch(k, line(uint32(n+95)/96), line(96), 0, pout, pin, n); err != nil {
		t.Fatal(err)
	}
	bad := 0
	for i, got := range out {
		a, b, c := in[3*i], in[3*i+1], in[3*i+2]
		if want := o.want(a, b, c); got != want {
			t.Errorf("of %#x, %#x, %#x: %#x, want %#x", a, b, c, got, want)
			if bad++; bad > 5 {
				return
			}
		}
	}
}

func runOpcodes(t *testing.T, list []opcodeTest) {
	for _, o := range list {
		t.Run(o.text, func(t *testing.T) { o.run(t) })
	}
}

func TestInteger(t *testing.T)  { runOpcodes(t, integerTests) }
func TestBitwise(t *testing.T)  { runOpcodes(t, bitwiseTests) }
func TestFloat(t *testing.T)    { runOpcodes(t, floatTests) }
func TestHalf(t *testing.T)     { runOpcodes(t, halfTests) }
func TestConvert(t *testing.T)  { runOpcodes(t, convertTests) }
func TestCompare(t *testing.T)  { runOpcodes(t, compareTests) }
func TestApprox(t *testing.T)   { runOpcodes(t, approxTests) }
func TestPartners(t *testing.T) { runOpcodes(t, partnerTests) }

// TestAllOpcodesAreTested checks that the tests contain every instruction that can be decoded.
func TestAllOpcodesAreTested(t *testing.T) {
	var texts strings.Builder
	for _, list := range [][]opcodeTest{integerTests, bitwiseTests, floatTests, halfTests, convertTests, compareTests, approxTests, partnerTests} {
		for _, o := range list {
			texts.WriteString(o.source())
		}
	}
	for _, c := range compiled {
		for _, f := range read(t, c.ptx).functions {
			for _, tok := range f.body {
				texts.WriteString(tok.text + " ")
			}
		}
	}
	all := texts.String()
	for _, name := range slices.Sorted(maps.Keys(builders)) {
		if !regexp.MustCompile(`(\n| )` + name + `[ .;]`).MatchString(all) {
			t.Errorf("instruction %s occurs in no test", name)
		}
	}
}

func i32(x uint64) int64 { return int64(int32(x)) }
func w32(x int64) uint64 { return uint64(uint32(x)) }
func u32(x uint64) uint64 {
	return uint64(uint32(x))
}

func divide(a, b int64, otherwise uint64) uint64 {
	if b == 0 {
		return otherwise
	}
	return w32(a / b)
}

var integerTests = []opcodeTest{
	{"add.s32 %o, %a, %b", "444", func(a, b, _ uint64) uint64 { return u32(a + b) }},
	{"add.u16 %o, %a, %b", "222", func(a, b, _ uint64) uint64 { return (a + b) & 0xFFFF }},
	{"add.s64 %o, %a, %b", "888", func(a, b, _ uint64) uint64 { return a + b }},
	{"add.sat.s32 %o, %a, %b", "444", func(a, b, _ uint64) uint64 { return w32(max(math.MinInt32, min(math.MaxInt32, i32(a)+i32(b)))) }},
	{"sub.sat.s32 %o, %a, %b", "444", func(a, b, _ uint64) uint64 { return w32(max(math.MinInt32, min(math.MaxInt32, i32(a)-i32(b)))) }},
	{"sub.u32 %o, %a, -5", "44", func(a, _, _ uint64) uint64 { return u32(a + 5) }},
	{"sub.s64 %o, %a, %b", "888", func(a, b, _ uint64) uint64 { return a - b }},
	{"mul.lo.s32 %o, %a, %b", "444", func(a, b, _ uint64) uint64 { return u32(a * b) }},
	{"mul.lo.u16 %o, %a, %b", "222", func(a, b, _ uint64) uint64 { return a * b & 0xFFFF }},
	{"mul.lo.u64 %o, %a, %b", "888", func(a, b, _ uint64) uint64 { return a * b }},
	{"mul.hi.s32 %o, %a, %b", "444", func(a, b, _ uint64) uint64 { return w32(i32(a) * i32(b) >> 32) }},
	{"mul.hi.u32 %o, %a, %b", "444", func(a, b, _ uint64) uint64 { return a * b >> 32 }},
	{"mul.hi.u64 %o, %a, %b", "888", func(a, b, _ uint64) uint64 { h, _ := bits.Mul64(a, b); return h }},
	{"mul.hi.s64 %o, %a, %b", "888", func(a, b, _ uint64) uint64 {
		h, _ := bits.Mul64(a, b)
		return h - uint64(int64(a)>>63)&b - uint64(int64(b)>>63)&a
	}},
	{"mul.wide.s32 %o, %a, %b", "844", func(a, b, _ uint64) uint64 { return uint64(i32(a) * i32(b)) }},
	{"mul.wide.u16 %o, %a, %b", "422", func(a, b, _ uint64) uint64 { return a * b }},
	{"mul.wide.s16 %o, %a, %b", "422", func(a, b, _ uint64) uint64 { return w32(int64(int16(a)) * int64(int16(b))) }},
	{"mad.lo.s32 %o, %a, %b, %c", "4444", func(a, b, c uint64) uint64 { return u32(a*b + c) }},
	{"mad.hi.u32 %o, %a, %b, %c", "4444", func(a, b, c uint64) uint64 { return u32(a*b>>32 + c) }},
	{"mad.wide.u32 %o, %a, %b, %c", "8448", func(a, b, c uint64) uint64 { return a*b + c }},
	{"mad.wide.s32 %o, %a, %b, %c", "8448", func(a, b, c uint64) uint64 { return uint64(i32(a)*i32(b)) + c }},
	{"mul24.lo.u32 %o, %a, %b", "444", func(a, b, _ uint64) uint64 { return u32((a & 0xFFFFFF) * (b & 0xFFFFFF)) }},
	{"mad24.lo.s32 %o, %a, %b, %c", "4444", func(a, b, c uint64) uint64 {
		return u32(uint64(int32(uint32(a)<<8)>>8)*uint64(int32(uint32(b)<<8)>>8) + c)
	}},
	{"sad.s32 %o, %a, %b, %c", "4444", func(a, b, c uint64) uint64 { return w32(max(i32(a), i32(b)) - min(i32(a), i32(b)) + int64(c)) }},
	{"div.s32 %o, %a, %b", "444", func(a, b, _ uint64) uint64 { return divide(i32(a), i32(b), math.MaxUint32) }},
	{"div.u64 %o, %a, %b", "888", func(a, b, _ uint64) uint64 {
		if b == 0 {
			return math.MaxUint64
		}
		return a / b
	}},
	{"rem.u32 %o, %a, %b", "444", func(a, b, _ uint64) uint64 {
		if b == 0 {
			return a
		}
		return a % b
	}},
	{"rem.s64 %o, %a, %b", "888", func(a, b, _ uint64) uint64 {
		if b == 0 {
			return a
		}
		return uint64(int64(a) % int64(b))
	}},
	{"min.s32 %o, %a, %b", "444", func(a, b, _ uint64) uint64 { return w32(min(i32(a), i32(b))) }},
	{"max.u32 %o, %a, %b", "444", func(a, b, _ uint64) uint64 { return max(a, b) }},
	{"max.s16 %o, %a, %b", "222", func(a, b, _ uint64) uint64 { return uint64(uint16(max(int16(a), int16(b)))) }},
	{"min.u64 %o, %a, %b", "888", func(a, b, _ uint64) uint64 { return min(a, b) }},
	{"abs.s32 %o, %a", "44", func(a, _, _ uint64) uint64 { return w32(max(i32(a), -i32(a))) }},
	{"neg.s64 %o, %a", "88", func(a, _, _ uint64) uint64 { return -a }},
	{"neg.s16 %o, %a", "22", func(a, _, _ uint64) uint64 { return -a & 0xFFFF }},
	{"add.cc.u32 %r0, %a, %b; addc.u32 %o, %c, 0", "4444", func(a, b, c uint64) uint64 { return u32(c + (a+b)>>32) }},
	{"sub.cc.u64 %d0, %a, %b; subc.u64 %o, %c, 1", "8888", func(a, b, c uint64) uint64 {
		_, borrow := bits.Sub64(a, b, 0)
		return c - 1 - borrow
	}},
	{"dp4a.s32.s32 %o, %a, %b, %c", "4444", func(a, b, c uint64) uint64 {
		for i := 0; i < 32; i += 8 {
			c += uint64(int64(int8(a>>i)) * int64(int8(b>>i)))
		}
		return u32(c)
	}},
	{"slct.s32.s32 %o, %a, %b, %c", "4444", func(a, b, c uint64) uint64 {
		if i32(c) >= 0 {
			return a
		}
		return b
	}},
	{"slct.b64.f32 %o, %a, %b, %c", "8884", func(a, b, c uint64) uint64 {
		if math.Float32frombits(uint32(c)) >= 0 {
			return a
		}
		return b
	}},
}

var bitwiseTests = []opcodeTest{
	{"and.b32 %o, %a, %b", "444", func(a, b, _ uint64) uint64 { return a & b }},
	{"or.b64 %o, %a, %b", "888", func(a, b, _ uint64) uint64 { return a | b }},
	{"xor.b16 %o, %a, %b", "222", func(a, b, _ uint64) uint64 { return a ^ b }},
	{"not.b32 %o, %a", "44", func(a, _, _ uint64) uint64 { return u32(^a) }},
	{"not.b16 %o, %a", "22", func(a, _, _ uint64) uint64 { return ^a & 0xFFFF }},
	{"cnot.b32 %o, %a", "44", func(a, _, _ uint64) uint64 { return boolBit(a == 0) }},
	{"and.pred %o, %a, %b", "ppp", func(a, b, _ uint64) uint64 { return a & b }},
	{"or.pred %o, %a, %b", "ppp", func(a, b, _ uint64) uint64 { return a | b }},
	{"xor.pred %o, %a, %b", "ppp", func(a, b, _ uint64) uint64 { return a ^ b }},
	{"not.pred %o, %a", "pp", func(a, _, _ uint64) uint64 { return a ^ 1 }},
	{"mov.pred %o, %a", "pp", func(a, _, _ uint64) uint64 { return a }},
	{"shl.b32 %o, %a, %b", "444", func(a, b, _ uint64) uint64 { return uint64(uint32(a) << b) }},
	{"shl.b64 %o, %a, %b", "884", func(a, b, _ uint64) uint64 { return a << b }},
	{"shr.u32 %o, %a, %b", "444", func(a, b, _ uint64) uint64 { return a >> b }},
	{"shr.s32 %o, %a, %b", "444", func(a, b, _ uint64) uint64 { return w32(i32(a) >> b) }},
	{"shr.s16 %o, %a, 3", "22", func(a, _, _ uint64) uint64 { return uint64(uint16(int16(a) >> 3)) }},
	{"shr.s64 %o, %a, %b", "884", func(a, b, _ uint64) uint64 { return uint64(int64(a) >> b) }},
	{"shf.l.wrap.b32 %o, %a, %b, %c", "4444", func(a, b, c uint64) uint64 { return (b<<32 | a) << (c & 31) >> 32 }},
	{"shf.r.wrap.b32 %o, %a, %b, %c", "4444", func(a, b, c uint64) uint64 { return u32((b<<32 | a) >> (c & 31)) }},
	{"shf.l.clamp.b32 %o, %a, %b, %c", "4444", func(a, b, c uint64) uint64 { return (b<<32 | a) << min(c, 32) >> 32 }},
	{"shf.r.clamp.b32 %o, %a, %b, %c", "4444", func(a, b, c uint64) uint64 { return u32((b<<32 | a) >> min(c, 32)) }},
	{"prmt.b32 %o, %a, %b, %c", "4444", func(a, b, c uint64) uint64 {
		var y uint64
		for i := range 4 {
			k := c >> (4 * i) & 15
			v := uint64(uint8((b<<32 | a) >> (8 * (k & 7))))
			if k > 7 {
				v = 255 * (v >> 7)
			}
			y |= v << (8 * i)
		}
		return y
	}},
	{"prmt.b32.rc16 %o, %a, %b, 1", "444", func(a, b, _ uint64) uint64 { return a>>16 | a>>16<<16 }},
	{"lop3.b32 %o, %a, %b, %c, 0x96", "4444", func(a, b, c uint64) uint64 { return a ^ b ^ c }},
	{"lop3.b32 %o, %a, %b, %c, 0xEA", "4444", func(a, b, c uint64) uint64 { return a&b | c }},
	{"bfe.u32 %o, %a, %b, %c", "4444", func(a, b, c uint64) uint64 { return field(a, b&255, c&255, 32, false) }},
	{"bfe.s32 %o, %a, %b, %c", "4444", func(a, b, c uint64) uint64 { return field(a, b&255, c&255, 32, true) }},
	{"bfe.s64 %o, %a, %b, %c", "8844", func(a, b, c uint64) uint64 { return field(a, b&255, c&255, 64, true) }},
	{"bfi.b32 %o, %a, %b, %c, 5", "4444", func(a, b, c uint64) uint64 {
		mask := u32(31 << (c & 255))
		return b&^mask | a<<(c&255)&mask
	}},
	{"popc.b64 %o, %a", "48", func(a, _, _ uint64) uint64 { return uint64(bits.OnesCount64(a)) }},
	{"clz.b32 %o, %a", "44", func(a, _, _ uint64) uint64 { return uint64(bits.LeadingZeros32(uint32(a))) }},
	{"clz.b64 %o, %a", "48", func(a, _, _ uint64) uint64 { return uint64(bits.LeadingZeros64(a)) }},
	{"bfind.u32 %o, %a", "44", func(a, _, _ uint64) uint64 { return w32(int64(bits.Len32(uint32(a)) - 1)) }},
	{"bfind.s32 %o, %a", "44", func(a, _, _ uint64) uint64 { return w32(int64(bits.Len32(uint32(a)^uint32(int32(a)>>31)) - 1)) }},
	{"brev.b32 %o, %a", "44", func(a, _, _ uint64) uint64 { return uint64(bits.Reverse32(uint32(a))) }},
	{"mov.b32 {%h0, %h1}, %a; mov.b32 %o, {%h1, %h0}", "44", func(a, _, _ uint64) uint64 { return u32(a>>16 | a<<16) }},
	{"mov.b64 {%h0, %h1, %h2, %h3}, %a; mov.b64 %o, {%h3, %h2, %h1, %h0}", "88", func(a, _, _ uint64) uint64 {
		return a>>48 | a>>16&0xFFFF0000 | a<<16&0xFFFF00000000 | a<<48
	}},
	{"selp.b32 %o, %a, %b, %c", "444p", func(a, b, c uint64) uint64 {
		if c != 0 {
			return a
		}
		return b
	}},
	{"copysign.f32 %o, %a, %b", "444", func(a, b, _ uint64) uint64 { return a&0x80000000 | b&0x7FFFFFFF }},
	{"{ .reg .b32 %t; xor.b32 %t, %a, 1; @%c xor.b32 %t, %t, 2; mov.b32 %o, %t; }", "444p", func(a, _, c uint64) uint64 { return a ^ 1 ^ 2*c }},
	{"membar.gl; fence.acq_rel.gpu; prefetch.global.L2 [%q0]; nanosleep.u32 10; mov.b32 %o, %a", "44", func(a, _, _ uint64) uint64 { return a }},
	{"prefetchu.L1 [%q0]; applypriority.global.L2::evict_normal [%q0], 128; discard.global.L2 [%q0], 128; ldu.global.u64 %o, [%q0]", "88", func(a, _, _ uint64) uint64 { return a }},
	{"isspacep.global %o, %q0", "pp", func(_, _, _ uint64) uint64 { return 1 }},
	{"isspacep.shared %o, %q0", "pp", func(_, _, _ uint64) uint64 { return 0 }},
}

func boolBit(b bool) uint64 {
	if b {
		return 1
	}
	return 0
}

// field is the loop by which the manual defines bfe.
func field(a, pos, length, size uint64, signed bool) (y uint64) {
	var sign uint64
	if signed && length > 0 {
		sign = a >> min(pos+length-1, size-1) & 1
	}
	for i := range size {
		bit := sign
		if i < length && pos+i < size {
			bit = a >> (pos + i) & 1
		}
		y |= bit << i
	}
	return y
}

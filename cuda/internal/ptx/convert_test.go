package ptx

import (
	"math"
	"math/big"
)

// rounding32 returns the expected result of rounding a float32 to a format.
func rounding32(f format, mode byte, to func(float64) uint64) func(a, b, c uint64) uint64 {
	return func(a, _, _ uint64) uint64 {
		x := from32(a)
		if finite(x) && x != 0 {
			x = nearest(new(big.Float).SetFloat64(x), f, mode)
		}
		return to(x)
	}
}

// toInteger clamps a rounded number to the range of an integer type.
func toInteger(x, low, high float64, nan uint64, width int) uint64 {
	switch {
	case x != x:
		return nan
	case x <= low:
		x = low
	case x >= high:
		if low < 0 {
			return 1<<(width-1) - 1
		}
		return 1<<width - 1
	}
	if low < 0 {
		return uint64(int64(x)) & (1<<width - 1)
	}
	return uint64(x)
}

// fromInteger rounds an integer to float32.
func fromInteger(x *big.Int, mode byte) uint64 {
	if x.Sign() == 0 {
		return 0
	}
	return to32(nearest(new(big.Float).SetPrec(100).SetInt(x), single, mode))
}

var convertTests = []opcodeTest{
	{"cvt.u32.u16 %o, %a", "42", func(a, _, _ uint64) uint64 { return a }},
	{"cvt.s32.s16 %o, %a", "42", func(a, _, _ uint64) uint64 { return w32(int64(int16(a))) }},
	{"cvt.s32.s8 %o, %a", "44", func(a, _, _ uint64) uint64 { return w32(int64(int8(a))) }},
	{"cvt.u8.u32 %o, %a", "44", func(a, _, _ uint64) uint64 { return a & 255 }},
	{"cvt.s8.s32 %o, %a", "44", func(a, _, _ uint64) uint64 { return w32(int64(int8(a))) }},
	{"cvt.s64.s32 %o, %a", "84", func(a, _, _ uint64) uint64 { return uint64(i32(a)) }},
	{"cvt.u64.u32 %o, %a", "84", func(a, _, _ uint64) uint64 { return a }},
	{"cvt.sat.s8.s32 %o, %a", "44", func(a, _, _ uint64) uint64 { return w32(max(-128, min(127, i32(a)))) }},
	{"cvt.sat.u8.s32 %o, %a", "44", func(a, _, _ uint64) uint64 { return w32(max(0, min(255, i32(a)))) }},
	{"cvt.sat.s32.u32 %o, %a", "44", func(a, _, _ uint64) uint64 { return min(a, math.MaxInt32) }},
	{"cvt.rn.f32.s32 %o, %a", "44", func(a, _, _ uint64) uint64 { return fromInteger(big.NewInt(i32(a)), 'n') }},
	{"cvt.rz.f32.u32 %o, %a", "44", func(a, _, _ uint64) uint64 { return fromInteger(new(big.Int).SetUint64(a), 'z') }},
	{"cvt.rn.f32.u64 %o, %a", "48", func(a, _, _ uint64) uint64 { return fromInteger(new(big.Int).SetUint64(a), 'n') }},
	{"cvt.rp.f32.s64 %o, %a", "48", func(a, _, _ uint64) uint64 { return fromInteger(big.NewInt(int64(a)), 'p') }},
	{"cvt.rn.f64.s64 %o, %a", "88", func(a, _, _ uint64) uint64 { return to64(float64(int64(a))) }},
	{"cvt.rn.f64.u64 %o, %a", "88", func(a, _, _ uint64) uint64 { return to64(float64(a)) }},
	{"cvt.rn.f16.s32 %o, %a", "24", func(a, _, _ uint64) uint64 { return roundF16(float64(i32(a))) }},
	{"cvt.rzi.s32.f32 %o, %a", "44", func(a, _, _ uint64) uint64 {
		return toInteger(math.Trunc(from32(a)), -0x1p31, 0x1p31, 0, 32)
	}},
	{"cvt.rni.s32.f32 %o, %a", "44", func(a, _, _ uint64) uint64 {
		return toInteger(math.RoundToEven(from32(a)), -0x1p31, 0x1p31, 0, 32)
	}},
	{"cvt.rmi.u32.f32 %o, %a", "44", func(a, _, _ uint64) uint64 { return toInteger(math.Floor(from32(a)), 0, 0x1p32, 0, 32) }},
	{"cvt.rpi.u64.f64 %o, %a", "88", func(a, _, _ uint64) uint64 {
		return toInteger(math.Ceil(math.Float64frombits(a)), 0, 0x1p64, 1<<63, 64)
	}},
	{"cvt.rzi.s64.f64 %o, %a", "88", func(a, _, _ uint64) uint64 {
		return toInteger(math.Trunc(math.Float64frombits(a)), -0x1p63, 0x1p63, 1<<63, 64)
	}},
	{"cvt.rzi.s32.f64 %o, %a", "48", func(a, _, _ uint64) uint64 {
		return toInteger(math.Trunc(math.Float64frombits(a)), -0x1p31, 0x1p31, 1<<31, 32)
	}},
	{"cvt.rzi.u16.f16 %o, %a", "22", func(a, _, _ uint64) uint64 { return toInteger(math.Trunc(ofF16(a)), 0, 0x1p16, 0, 16) }},
	{"cvt.rni.f32.f32 %o, %a", "44", on32(math.RoundToEven)},
	{"cvt.rmi.f32.f32 %o, %a", "44", on32(math.Floor)},
	{"cvt.rzi.ftz.f32.f32 %o, %a", "44", ftz(on32(math.Trunc))},
	{"cvt.rpi.f64.f64 %o, %a", "88", func(a, _, _ uint64) uint64 { return to64(math.Ceil(math.Float64frombits(a))) }},
	{"cvt.sat.f32.f32 %o, %a", "44", saturate(on32(func(x float64) float64 { return x }))},
	{"cvt.f64.f32 %o, %a", "84", func(a, _, _ uint64) uint64 { return to64(from32(a)) }},
	{"cvt.rn.f32.f64 %o, %a", "48", func(a, _, _ uint64) uint64 { return to32(math.Float64frombits(a)) }},
	{"cvt.rm.f32.f64 %o, %a", "48", func(a, _, _ uint64) uint64 {
		x := math.Float64frombits(a)
		if finite(x) && x != 0 {
			x = nearest(big.NewFloat(x), single, 'm')
		}
		return to32(x)
	}},
	{"cvt.f32.f16 %o, %a", "42", func(a, _, _ uint64) uint64 { return to32(ofF16(a)) }},
	{"cvt.f32.bf16 %o, %a", "42", func(a, _, _ uint64) uint64 { return to32(ofBF16(a)) }},
	{"cvt.rn.f16.f32 %o, %a", "24", rounding32(half, 'n', inF16)},
	{"cvt.rz.f16.f32 %o, %a", "24", rounding32(half, 'z', inF16)},
	{"cvt.rp.f16.f32 %o, %a", "24", rounding32(half, 'p', inF16)},
	{"cvt.rn.bf16.f32 %o, %a", "24", rounding32(bfloat, 'n', inBF16)},
	{"cvt.rz.bf16.f32 %o, %a", "24", rounding32(bfloat, 'z', inBF16)},
	{"cvt.rn.f16.f64 %o, %a", "28", func(a, _, _ uint64) uint64 { return roundF16(math.Float64frombits(a)) }},
	{"cvt.rna.tf32.f32 %o, %a", "44", rounding32(tf32, 'a', to32)},
	{"cvt.rn.f16x2.f32 %o, %a, %b", "444", func(a, b, _ uint64) uint64 { return roundF16(from32(a))<<16 | roundF16(from32(b)) }},
	{"cvt.rn.bf16x2.f32 %o, %a, %b", "444", func(a, b, _ uint64) uint64 { return roundBF16(from32(a))<<16 | roundBF16(from32(b)) }},
	{"cvt.rn.relu.f16.f32 %o, %a", "24", func(a, _, _ uint64) uint64 { return roundF16(relu(from32(a))) }},
}

func relu(x float64) float64 {
	if x <= 0 {
		return 0
	}
	return x
}

// relation returns the expected result of a comparison of floats.
func relation(f func(x, y float64) bool, unordered bool) func(a, b, c uint64) uint64 {
	return func(a, b, _ uint64) uint64 {
		x, y := from32(a), from32(b)
		if x != x || y != y {
			return boolBit(unordered)
		}
		return boolBit(f(x, y))
	}
}

func less(x, y float64) bool { return x < y }

var compareTests = []opcodeTest{
	{"setp.lt.s32 %o, %a, %b", "p44", func(a, b, _ uint64) uint64 { return boolBit(i32(a) < i32(b)) }},
	{"setp.le.s32 %o, %a, %b", "p44", func(a, b, _ uint64) uint64 { return boolBit(i32(a) <= i32(b)) }},
	{"setp.gt.u32 %o, %a, %b", "p44", func(a, b, _ uint64) uint64 { return boolBit(a > b) }},
	{"setp.ge.u32 %o, %a, %b", "p44", func(a, b, _ uint64) uint64 { return boolBit(a >= b) }},
	{"setp.ge.s32 %o, %a, %b", "p44", func(a, b, _ uint64) uint64 { return boolBit(i32(a) >= i32(b)) }},
	{"setp.lo.u32 %o, %a, %b", "p44", func(a, b, _ uint64) uint64 { return boolBit(a < b) }},
	{"setp.eq.b64 %o, %a, %b", "p88", func(a, b, _ uint64) uint64 { return boolBit(a == b) }},
	{"setp.ne.s16 %o, %a, %b", "p22", func(a, b, _ uint64) uint64 { return boolBit(a != b) }},
	{"setp.gt.s64 %o, %a, %b", "p88", func(a, b, _ uint64) uint64 { return boolBit(int64(a) > int64(b)) }},
	{"setp.lt.f32 %o, %a, %b", "p44", relation(less, false)},
	{"setp.ltu.f32 %o, %a, %b", "p44", relation(less, true)},
	{"setp.eq.f32 %o, %a, %b", "p44", relation(func(x, y float64) bool { return x == y }, false)},
	{"setp.neu.f32 %o, %a, %b", "p44", relation(func(x, y float64) bool { return x != y }, true)},
	{"setp.geu.f32 %o, %a, %b", "p44", relation(func(x, y float64) bool { return x >= y }, true)},
	{"setp.nan.f32 %o, %a, %b", "p44", relation(func(_, _ float64) bool { return false }, true)},
	{"setp.num.f32 %o, %a, %b", "p44", relation(func(_, _ float64) bool { return true }, false)},
	{"setp.gt.f16 %o, %a, %b", "p22", func(a, b, _ uint64) uint64 { return boolBit(ofF16(a) > ofF16(b)) }},
	{"setp.lt.and.s32 %o, %a, %b, %c", "p44p", func(a, b, c uint64) uint64 { return boolBit(i32(a) < i32(b)) & c }},
	{"setp.lt.or.s32 %o, %a, %b, !%c", "p44p", func(a, b, c uint64) uint64 { return boolBit(i32(a) < i32(b)) | (c ^ 1) }},
	{"setp.lt.xor.f32 %o, %a, %b, %c", "p44p", func(a, b, c uint64) uint64 { return boolBit(from32(a) < from32(b)) ^ c }},
	{"setp.lt.and.s32 %s0|%o, %a, %b, %c", "p44p", func(a, b, c uint64) uint64 { return boolBit(i32(a) >= i32(b)) & c }},
	{"set.lt.u32.f32 %o, %a, %b", "444", func(a, b, _ uint64) uint64 { return 0xFFFFFFFF * boolBit(from32(a) < from32(b)) }},
	{"set.ge.f32.s32 %o, %a, %b", "444", func(a, b, _ uint64) uint64 { return 0x3F800000 * boolBit(i32(a) >= i32(b)) }},
	{"testp.finite.f32 %o, %a", "p4", func(a, _, _ uint64) uint64 { return boolBit(finite(from32(a))) }},
	{"testp.subnormal.f32 %o, %a", "p4", func(a, _, _ uint64) uint64 {
		x := math.Abs(from32(a))
		return boolBit(x > 0 && x < 0x1p-126)
	}},
}

// coarsely returns a function of float32 whose result is rounded to the given number of bits.
func coarsely(digits int, f func(x float64) float64) func(a, b, c uint64) uint64 {
	return func(a, _, _ uint64) uint64 {
		y := f(from32(a))
		if finite(y) && y != 0 {
			y = nearest(big.NewFloat(y), format{digits, -126, 127}, 'n')
		}
		return to32(y)
	}
}

var approxTests = []opcodeTest{
	{"ex2.approx.f32 %o, %a", "44", coarsely(23, math.Exp2)},
	{"ex2.approx.ftz.f32 %o, %a", "44", ftz(coarsely(23, math.Exp2))},
	{"rcp.approx.f32 %o, %a", "44", coarsely(23, func(x float64) float64 { return 1 / x })},
	{"rcp.approx.ftz.f32 %o, %a", "44", ftz(coarsely(23, func(x float64) float64 { return 1 / x }))},
	{"rsqrt.approx.f32 %o, %a", "44", coarsely(23, func(x float64) float64 { return 1 / math.Sqrt(x) })},
	{"sqrt.approx.f32 %o, %a", "44", coarsely(23, math.Sqrt)},
	{"tanh.approx.f32 %o, %a", "44", coarsely(11, math.Tanh)},
	{"div.full.f32 %o, %a, %b", "444", func(a, b, _ uint64) uint64 {
		return coarsely(23, func(x float64) float64 { return x / from32(b) })(a, 0, 0)
	}},
	{"lg2.approx.f32 %r0, %a; { .reg .f32 %t; abs.f32 %t, %r0; mov.b32 %o, %t; }", "44", func(a, _, _ uint64) uint64 {
		x := from32(a)
		if x > 0.5 && x < 2 {
			return to32(math.Abs(math.RoundToEven(math.Log2(x)*0x1p22) * 0x1p-22))
		}
		return coarsely(23, func(x float64) float64 { return math.Abs(math.Log2(x)) })(a, 0, 0)
	}},
	{"sin.approx.f32 %r0, %a; cos.approx.f32 %r1, %a; fma.rn.f32 %r2, %r0, %r0, 0f00000000; fma.rn.f32 %r3, %r1, %r1, %r2; " +
		"setp.gt.f32 %s0, %r3, 0f3F7FFFE0; setp.lt.and.f32 %o, %r3, 0f3F800010, %s0", "p4", func(a, _, _ uint64) uint64 {
		return boolBit(finite(from32(a)))
	}},
	{"div.approx.f32 %o, %a, 0f40000000", "44", coarsely(23, func(x float64) float64 { return x / 2 })},
}

// The tests run one thread per value, in order. The last warp is not full.
var partnerTests = []opcodeTest{
	{"activemask.b32 %r0; setp.ne.b32 %o, %r0, 0", "p4", func(_, _, _ uint64) uint64 { return 1 }},
	{"activemask.b32 %r0; vote.sync.all.pred %s0, 1, %r0; vote.sync.any.pred %s1, 0, %r0; not.pred %s1, %s1; and.pred %o, %s0, %s1", "p4", func(_, _, _ uint64) uint64 { return 1 }},
	{"activemask.b32 %r0; setp.lt.s32 %s0, %a, 0; vote.sync.ballot.b32 %r1, %s0, %r0; mov.u32 %r2, %laneid; shr.u32 %r1, %r1, %r2; and.b32 %o, %r1, 1", "44", func(a, _, _ uint64) uint64 { return a >> 31 }},
	{"activemask.b32 %r0; match.any.sync.b32 %r1, %a, %r0; mov.u32 %r2, %lanemask_eq; and.b32 %r1, %r1, %r2; setp.eq.b32 %o, %r1, %r2", "p4", func(_, _, _ uint64) uint64 { return 1 }},
	{"activemask.b32 %r0; match.all.sync.b32 %r1|%s0, 5, %r0; setp.eq.and.b32 %o, %r1, %r0, %s0", "p4", func(_, _, _ uint64) uint64 { return 1 }},
	{"activemask.b32 %r0; shfl.sync.idx.b32 %r1|%s0, %a, 0, 31, %r0; shfl.sync.up.b32 %r2|%s1, %a, 0, 0, %r0; mov.b32 %o, %r2", "44", func(a, _, _ uint64) uint64 { return a }},
	{"activemask.b32 %r0; mov.u32 %r1, %laneid; redux.sync.min.u32 %r2, %r1, %r0; redux.sync.or.b32 %r3, %r0, %r0; bar.warp.sync %r0; setp.eq.b32 %s0, %r3, %r0; setp.eq.and.b32 %o, %r2, 0, %s0", "p4", func(_, _, _ uint64) uint64 { return 1 }},
	{"red.global.add.u32 [%q0], 0; red.global.max.s32 [%q0], -2147483648; atom.global.exch.b64 %d1, [%q0], %a; atom.global.cas.b64 %o, [%q0], %a, %a", "88", func(a, _, _ uint64) uint64 { return a }},
	{"atom.global.add.f32 %r1, [%q0+8], 0f80000000; atom.global.inc.u32 %r2, [%q0+16], 7; atom.global.dec.u32 %r3, [%q0+16], 9; atom.global.min.u64 %d2, [%q0], 0; atom.global.add.noftz.f16x2 %r4, [%q0+8], 0; mov.b64 %o, %d2", "88", func(a, _, _ uint64) uint64 { return a }},
	{"mov.u32 %r0, %lanemask_lt; mov.u32 %r1, %lanemask_ge; mov.u32 %r3, %lanemask_le; mov.u32 %r4, %lanemask_gt; xor.b32 %r2, %r0, %r1; xor.b32 %r5, %r3, %r4; and.b32 %o, %r2, %r5", "44", func(_, _, _ uint64) uint64 { return 0xFFFFFFFF }},
	{"mov.u64 %d0, %clock64; mov.u32 %r1, %clock; mov.u32 %r2, %smid; mov.u32 %r3, %nctaid.z; mov.b32 %o, %r3", "44", func(_, _, _ uint64) uint64 { return 1 }},
	{"setp.lt.s32 %s0, %a, 0; @%s0 bra skip; mov.b32 %o, 3; bra.uni over; skip: mov.b32 %o, 4; over: add.u32 %o, %o, 0", "44", func(a, _, _ uint64) uint64 { return 3 + a>>31 }},
	{"and.b32 %r0, %a, 3; list: .branchtargets t0, t1, t2, t3; brx.idx %r0, list; t0: mov.b32 %o, 10; bra to; t1: mov.b32 %o, 11; bra to; t2: mov.b32 %o, 12; bra to; t3: mov.b32 %o, 13; to: add.u32 %o, %o, 1", "44", func(a, _, _ uint64) uint64 { return 11 + a&3 }},
	{"setp.eq.u32 %s0, %i3, 99999; @%s0 trap; @%s0 brkpt; @%s0 exit; mov.b32 %o, %a", "44", func(a, _, _ uint64) uint64 { return a }},
	{"barrier.sync 0; barrier.sync.aligned 1, 96; mov.b32 %o, %a", "44", func(a, _, _ uint64) uint64 { return a }},
	{"cvta.to.global.u64 %d0, %q0; cvta.global.u64 %d1, %d0; ld.u64 %o, [%d1]", "88", func(a, _, _ uint64) uint64 { return a }},
}

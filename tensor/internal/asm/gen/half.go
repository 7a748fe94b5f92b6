package main

import (
	"fmt"
	"strings"
)

// near is the distance in bytes at which passes over half precision prefetch.
const near = 2048

// halfDType holds the conversions of a half-precision dtype. load widens one register of elements to
// two registers of float32, u and the next one. narrow rounds these to nearest even, into register u.
// NaN becomes any NaN; for bfloat16 it must come from a widened NaN, or rounding could overflow it.
type halfDType struct {
	name     string
	inf, nan uint32
	load     func(v vector, base string, at, u int)
	narrow   func(v vector, u int)
}

// Registers of constants of passes over half precision, in addition to those of a pass, with AVX-512;
// with AVX2 they are in memory. K3 selects the odd elements.
const (
	halfOdd = 27 + iota
	halfBelow
	halfOne
	halfInf
	halfNaN
)

// Of a register of bfloat16, even elements go to the first register and odd ones to the second, so
// that no element changes its lane.
var halfDTypes = []halfDType{
	{
		"Float16", 0x7c00, 0x7e00,
		func(v vector, base string, at, u int) {
			for i := range 2 {
				p("VCVTPH2PS %d(%s), %s%d", at+i*v.lanes*2, base, v.r, u+i)
			}
		},
		func(v vector, u int) {
			half, join := "Y", "VINSERTI64X4"
			if v.lanes == 8 {
				half, join = "X", "VINSERTI128"
			}
			for i := range 2 {
				p("VCVTPS2PH $0, %s%d, %s%d", v.r, u+i, half, u+i)
			}
			p("%s $1, %s%d, %s%d, %s%d", join, half, u+1, v.r, u, v.r, u)
		},
	},
	{
		"BFloat16", 0x7f80, 0x7fc0,
		func(v vector, base string, at, u int) {
			if v.lanes == 16 {
				p("VMOVDQU64 %d(%s), Z%d\nVMOVDQU16.Z Z%d, K3, Z%d", at, base, u, u, u+1)
			} else {
				p("VMOVDQU %d(%s), Y%d\nVPBLENDW $0xaa, Y%d, Y%d, Y%d", at, base, u, u, v.constant, u+1)
			}
			v.op("VPSLLD $16,", u, u)
		},
		func(v vector, u int) {
			for i := u; i < u+2; i++ {
				if v.lanes == 16 {
					p("VPTESTMD Z%d, Z%d, K2\nVPADDD Z%d, Z%d, Z%d\nVPADDD Z%d, Z%d, K2, Z%d", halfOdd, i, halfBelow, i, i, halfOne, i, i)
				} else {
					p("VPSRLD $16, Y%d, Y15\nVPAND ·one(SB), Y15, Y15\nVPADDD ·below(SB), Y%d, Y%d\nVPADDD Y15, Y%d, Y%d", i, i, i, i, i)
				}
			}
			v.op("VPSRLD $16,", u, u)
			if v.lanes == 16 {
				p("VMOVDQU16 Z%d, K3, Z%d", u+1, u)
			} else {
				p("VPBLENDW $0xaa, Y%d, Y%d, Y%d", u+1, u, u)
			}
		},
	},
}

// quiet prints code that replaces NaN in register u of halves by the quiet NaN.
func (d halfDType) quiet(v vector, u int) {
	if v.lanes == 16 {
		room := v.constant + 4
		p("VPADDW Z%d, Z%d, Z%d\nVPCMPUW $6, Z%d, Z%d, K2\nVMOVDQU16 Z%d, K2, Z%d", u, u, room, halfInf, room, halfNaN, u)
		return
	}
	p("VPAND ·magnitude16(SB), Y%d, Y15\nVPCMPGTW ·inf%s(SB), Y15, Y15\nVPBLENDVB Y15, ·nan%s(SB), Y%d, Y%d", u, d.name, d.name, u, u)
}

// halfList returns passList and the passes that exist only for half precision: maximum and minimum,
// which propagate NaN, and for which 0 is above -0.
func halfList() []pass {
	choose := func(name, order, join string) func(v vector, u int) {
		return func(v vector, u int) {
			y, room := u+4, v.constant+4
			if v.lanes == 16 {
				p("VCMPPS $3, Z%d, Z%d, K2\nVRANGEPS $%s, Z%d, Z%d, Z%d\nVADDPS Z%d, Z%d, K2, Z%d\nVMOVAPS Z%d, Z%d", y, u, order, y, u, room, y, u, room, room, u)
				return
			}
			// The results of both operand orders differ for zeros and for NaN.
			p("VCMPPS $3, Y%d, Y%d, Y%d", y, u, room)
			v.op("VADDPS", y, u, room+1)
			v.op(name, u, y, room+2)
			v.op(name, y, u, u)
			v.op(join, room+2, u, u)
			v.op("VBLENDVPS", room, room+1, u, u)
		}
	}
	return append(passList[:len(passList):len(passList)],
		pass{"max", "the larger one of x and y", 2, choose("VMAXPS", "5", "VANDPS")},
		pass{"min", "the smaller one of x and y", 2, choose("VMINPS", "4", "VORPS")})
}

// halfPasses prints passes over half precision, four registers of float32 per iteration.
func halfPasses() {
	words := func(name string, bits uint32) { repeated(name, bits<<16|bits) }
	words("magnitude16", 0x7fff)
	for _, d := range halfDTypes {
		words("inf"+d.name, d.inf)
		words("nan"+d.name, d.nan)
	}
	for _, v := range vectors {
		for _, d := range halfDTypes {
			var table strings.Builder
			for _, f := range halfList() {
				f.printHalf(v, d)
				fmt.Fprintf(&table, "\t%s: %s,\n", strings.ToUpper(f.name[:1])+f.name[1:], v.name(f.name+d.name))
			}
			name := v.name(strings.ToLower(d.name) + "Passes")
			if v.prefix != "" {
				name = v.prefix + d.name + "Passes"
			}
			fmt.Fprintf(&decl, "\nvar %s = HalfPasses{\n%s}\n", name, table.String())
		}
	}
}

func (f pass) printHalf(v vector, d halfDType) {
	fn("is a [HalfPass]: "+f.comment+".", v.name(f.name+d.name), "(dst, x, y unsafe.Pointer, n, step, around int, alpha, beta float32)", 0, 56)
	load("dst", "DI", "x", "SI", "y", "R8", "n", "CX", "step", "DX", "around", "R9")
	v.zero(v.constant)
	p("VBROADCASTSS alpha+48(FP), %[1]s%[2]d\nVBROADCASTSS beta+52(FP), %[1]s%[3]d", v.r, v.constant+1, v.constant+2)
	if v.lanes == 16 {
		p("MOVL $0xaaaaaaaa, AX\nKMOVD AX, K3")
		for i, c := range []uint32{1 << 16, below, 1, d.inf<<17 | d.inf<<1, d.nan<<16 | d.nan} {
			constant("AX", halfOdd+i, c)
		}
	}
	const registers = 4
	bytes := registers * v.lanes * 2
	p("IMULQ $%d, DX\nloop:", registers*v.lanes)
	bases := []string{"SI", "R8"}[:f.operands]
	for i, base := range bases {
		for at := 0; at < bytes; at += 64 {
			p("PREFETCHT0 %d(%s)", near+at, base)
		}
		for u := 0; u < registers; u += 2 {
			d.load(v, base, u*v.lanes*2, 4*i+u)
		}
	}
	for u := range registers {
		f.body(v, u)
	}
	for u := 0; u < registers; u += 2 {
		d.narrow(v, u)
		d.quiet(v, u)
	}
	store := func(name string) {
		for u := 0; u < registers; u += 2 {
			p("%s %s%d, %d(DI)", name, v.r, u, u*v.lanes*2)
		}
	}
	p("TESTQ R9, R9\nJNZ around")
	for at := 0; at < bytes; at += 64 {
		ownDI(near + at)
	}
	store(map[int]string{16: "VMOVDQU64", 8: "VMOVDQU"}[v.lanes])
	p("next:")
	p("ADDQ $%d, SI\nADDQ DX, R8\nADDQ $%d, DI\nSUBQ $%d, CX\nJGT loop\nVZEROUPPER\nRET\naround:", bytes, bytes, registers*v.lanes)
	store("VMOVNTDQ")
	p("JMP next\n")
}

package main

import (
	"fmt"
	"strings"
)

// evex encodes a register-to-register EVEX.512.0F38.W0 instruction (Intel SDM, volume 2, section 2.7),
// because Go's assembler lacks AVX512-BF16.
func evex(pp, op, dst, src1, src2 int) string {
	not := func(x, bit int) uint32 { return uint32(1 - (x>>bit)&1) }
	p0 := not(dst, 3)<<7 | not(src2, 4)<<6 | not(src2, 3)<<5 | not(dst, 4)<<4 | 2
	p1 := uint32(^src1&15)<<3 | 4 | uint32(pp)
	p2 := 2<<5 | not(src1, 4)<<3
	modrm := 0xC0 | (dst&7)<<3 | src2&7
	return fmt.Sprintf("LONG $0x%08x; WORD $0x%04x", p2<<24|p1<<16|p0<<8|0x62, modrm<<8|op)
}

// shape is the shape of a tile: rows of C times two registers of columns.
type shape struct {
	name      string
	reg       string // Z or Y
	width     int    // bytes per register
	registers int
	rows      int
	clear     string
}

var (
	avx512 = shape{"avx512", "Z", 64, 32, 14, "VPXORD"}
	avx2   = shape{"avx2", "Y", 32, 16, 6, "VXORPS"}
)

// dot returns an instruction that multiplies slots: dst += a * b.
type dot func(s shape, dst, a, b int) string

func fma(s shape, dst, a, b int) string {
	return fmt.Sprintf("VFMADD231PS %s%d, %s%d, %s%d", s.reg, b, s.reg, a, s.reg, dst)
}

func bf16(_ shape, dst, a, b int) string { return evex(2, 0x52, dst, a, b) } // VDPBF16PS

// tiles prints the kernels of every tier, and returns tables of them by number of rows.
func tiles() (tables string) {
	for _, t := range []struct {
		name  string
		shape shape
		dot   dot
		block int // slots per block, 0 without blocks
	}{
		{"f32", avx512, fma, 0}, {"blocks", avx512, fma, 32}, {"pairs", avx512, bf16, 16},
		{"f32", avx2, fma, 0}, {"blocks", avx2, fma, 32},
	} {
		name := t.shape.name + strings.ToUpper(t.name[:1]) + t.name[1:]
		kind := "Tile"
		if t.block > 0 {
			kind = "Blocks"
		}
		var list []string
		for rows := 1; rows <= t.shape.rows; rows++ {
			if one := fmt.Sprintf("%s%d", name, rows); t.block > 0 {
				newBlockTile(t.shape, rows, t.dot, t.block).print(one)
			} else {
				tile(one, t.shape, rows, t.dot)
			}
			list = append(list, fmt.Sprintf("%s%d", name, rows))
		}
		tables += kernels(name, kind, list)
	}
	for _, t := range []struct {
		name  string
		print func(name string, rows int)
		rows  int
	}{{"direct", direct, avx512.rows}, {"turned", turned, turnedRows}} {
		var list []string
		for rows := 1; rows <= t.rows; rows++ {
			list = append(list, fmt.Sprintf("%s%d", t.name, rows))
			t.print(list[rows-1], rows)
		}
		tables += kernels("avx512"+strings.ToUpper(t.name[:1])+t.name[1:], "Direct", list)
	}
	return tables
}

// tile prints a [Tile]. With all rows the loop is unrolled four times and has two prefetches of next
// per iteration. The first registers hold the sums, the last two hold B, and the others are used in
// turn for broadcasts of A.
func tile(name string, s shape, rows int, dot dot) {
	full := rows == s.rows
	fn("is a [Tile].", name, "(k int, a, b unsafe.Pointer, end *End, next uintptr, step int)", 0, 48)
	load("k", "CX", "a", "SI", "b", "DI", "end", "AX", "next", "R10", "step", "R11")
	p("MOVQ End_Sums(AX), R12\nMOVQ End_LdSums(AX), R13\nTESTQ R12, R12\nJZ fetch")
	s.fetch("fetchSums", rows)
	p("fetch:")
	s.fetchC(rows)
	for i := range 2 * rows {
		p("%s %s%d, %s%d, %s%d", s.clear, s.reg, i, s.reg, i, s.reg, i)
	}
	step := func(u int) {
		b0, b1 := s.registers-2, s.registers-1
		p("VMOVUPS %d(DI), %s%d\nVMOVUPS %d(DI), %s%d", u*2*s.width, s.reg, b0, u*2*s.width+s.width, s.reg, b1)
		if full {
			p("PREFETCHT0 %d(SI)", u*4*s.rows+896)
		}
		spare := min(4, b0-2*rows)
		for i := range rows {
			t := b0 - 1 - i%spare
			p("VBROADCASTSS %d(SI), %s%d", (u*s.rows+i)*4, s.reg, t)
			p("%s\n%s", dot(s, 2*i, b0, t), dot(s, 2*i+1, b1, t))
		}
	}
	if full {
		p("MOVQ CX, BX\nSHRQ $2, BX\nJZ tail\nPCALIGN $64\nloop:")
		for u := range 4 {
			step(u)
			switch u {
			case 0:
				p("PREFETCHT1 (R10)")
			case 2:
				p("PREFETCHT1 64(R10)\nADDQ R11, R10")
			}
		}
		p("ADDQ $%d, SI\nADDQ $%d, DI\nDECQ BX\nJNZ loop", 4*s.rows*4, 8*s.width)
		p("tail:\nANDQ $3, CX\nJZ done")
	}
	p("one:")
	step(0)
	p("ADDQ $%d, SI\nADDQ $%d, DI\nDECQ CX\nJNZ one", s.rows*4, 2*s.width)
	p("done:")
	s.add(rows, "Sums")
	s.add(rows, "Bias")
	callFor(rows, s.name+"StoreRows")
	p("VZEROUPPER\nRET\n")
}

// fetch prints the prefetch of rows at R12, R13 bytes apart.
func (s shape) fetch(label string, rows int) {
	loop(label, rows, func() {
		p("PREFETCHT0 (R12)\nPREFETCHT0 %d(R12)\nADDQ R13, R12", 2*s.width-64)
	})
}

// fetchC prints the prefetch of C, unless C is stored around the cache.
func (s shape) fetchC(rows int) {
	p("CMPQ End_As(AX), $const_Stream\nJEQ clear\nMOVQ End_C(AX), R12\nMOVQ End_Ldc(AX), R13")
	s.fetch("fetchC", rows)
	p("clear:")
}

// add prints the addition of the Sums or the Bias of an [End], unless nil.
func (s shape) add(rows int, of string) {
	p("MOVQ End_%s(AX), R12\nMOVQ End_Ld%s(AX), R13\nTESTQ R12, R12\nJZ no%s", of, of, of)
	callFor(rows, s.name+"AddRows")
	p("no%s:", of)
}

// direct prints a [Direct]. Rows of A are addressed relative to pointers to every third one. C is fetched
// before the loop: a new result is probably not in the second cache.
func direct(name string, rows int) {
	fn("is a [Direct].", name, "(k int, a unsafe.Pointer, lda, ka int, b unsafe.Pointer, ldb int, c unsafe.Pointer, ldc, mask, mode int)", 0, 80)
	load("k", "CX", "a", "SI", "lda", "R8", "ka", "R9", "b", "DI", "ldb", "R10", "c", "DX", "ldc", "R11", "mask", "AX")
	p("KMOVW AX, K1\nSHRQ $16, AX\nKMOVW AX, K2")
	p("XORQ R15, R15\nTESTQ AX, AX\nSETNE R15\nSHLQ $6, R15 // 64 if the mask has columns of the second register, otherwise 0")
	bases := []string{"SI", "R12", "R13", "R14", "BX"}[:(rows+2)/3]
	p("MOVQ mode+72(FP), AX\nCMPQ AX, $2\nJEQ resume")
	for i := range 2 * rows {
		p("VPXORD Z%d, Z%d, Z%d", i, i, i)
	}
	p("MOVQ DX, AX\nMOVQ $%d, R13\nfetch:", rows)
	p("BYTE $0x0f; BYTE $0x0d; BYTE $0x08 // PREFETCHW (AX)\nBYTE $0x42; BYTE $0x0f; BYTE $0x0d; BYTE $0x0c; BYTE $0x38 // PREFETCHW (AX)(R15*1)\nADDQ R11, AX\nDECQ R13\nJNZ fetch")
	p("JMP begin\nresume:\nMOVQ DX, AX\nMOVQ $%d, R13\nCALL ·directResume(SB)", rows)
	p("begin:\nLEAQ (R8)(R8*2), AX")
	for i := 1; i < len(bases); i++ {
		p("LEAQ (%s)(AX*1), %s", bases[i-1], bases[i])
	}
	p("loop:")
	p("VMOVUPS.Z (DI), K1, Z30\nVMOVUPS.Z 64(DI), K2, Z31\nADDQ R10, DI")
	spare := min(4, 30-2*rows)
	for i := range rows {
		t := 29 - i%spare
		p("VBROADCASTSS (%s)%s, Z%d", bases[i/3], []string{"", "(R8*1)", "(R8*2)"}[i%3], t)
		p("%s\n%s", fma(avx512, 2*i, 30, t), fma(avx512, 2*i+1, 31, t))
	}
	for _, b := range bases {
		p("ADDQ R9, %s", b)
	}
	p("DECQ CX\nJNZ loop\nMOVQ $%d, R13\nCMPQ mode+72(FP), $1\nJNE store\nMOVQ DX, AX\nCALL ·directAdd(SB)\nMOVQ $%d, R13\nstore:\nCALL ·directStore(SB)", rows, rows)
	p("VZEROUPPER\nRET\n")
}

// directRows prints the subroutines of [direct], which take the number of rows in R13. AX and DX are C, which has rows R11
// bytes apart.
func directRows() {
	for _, f := range []struct{ name, does, at, row string }{
		{"directResume", "loads the sums of a [Direct]", "AX", "VMOVUPS.Z (AX), K1, Z%[1]d\nVMOVUPS.Z 64(AX), K2, Z%[2]d"},
		{"directAdd", "adds C to the sums of a [Direct]", "AX", "VADDPS.Z (AX), Z%[1]d, K1, Z%[1]d\nVADDPS.Z 64(AX), Z%[2]d, K2, Z%[2]d"},
		{"directStore", "stores the sums of a [Direct]", "DX", "VMOVUPS Z%[1]d, K1, (DX)\nVMOVUPS Z%[2]d, K2, 64(DX)"},
	} {
		fn(f.does+".", f.name, "()", 0, 0)
		for i := range avx512.rows {
			p(f.row, 2*i, 2*i+1)
			if i < avx512.rows-1 {
				p("ADDQ R11, %s\nDECQ R13\nJZ done", f.at)
			}
		}
		p("done:\nRET\n")
	}
}

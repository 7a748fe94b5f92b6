package main

import "fmt"

// narrowing prints code that rounds a tile's rows to half precision, to nearest even; NaN becomes the
// quiet NaN. prepare prints the code before the first row, and row stores row i, of two registers, at
// DX.
type narrowing struct {
	prepare func()
	row     func(i int)
}

// Constants of rounding: NaN of both formats, and an addend of bits.
const (
	quiet16 = 0x7fc00000 // becomes 0x7e00
	quietBF = 0x7fc0
	below   = 0x7fff // half a unit in the last place, less 1
	oneBits = 0x3f800000
)

func (s shape) toFloat16() narrowing {
	if s.width == 64 {
		return narrowing{
			func() { constant("R12", 31, quiet16) },
			func(i int) {
				for h := range 2 {
					p("VCMPPS $3, Z%d, Z%d, K2\nVMOVDQA32 Z31, K2, Z%d", 2*i+h, 2*i+h, 2*i+h)
					p("VCVTPS2PH $0, Z%d, %d(DX)", 2*i+h, h*32)
				}
			},
		}
	}
	return narrowing{func() {}, func(i int) {
		for h := range 2 {
			p("VCMPPS $3, Y%d, Y%d, Y12\nVBLENDVPS Y12, ·quiet16(SB), Y%d, Y%d", 2*i+h, 2*i+h, 2*i+h, 2*i+h)
			p("VCVTPS2PH $0, Y%d, %d(DX)", 2*i+h, h*16)
		}
	}}
}

func (s shape) toBFloat16() narrowing {
	if s.width == 64 {
		return narrowing{
			func() {
				for i, c := range []uint32{quietBF, 1, below} {
					p("MOVL $0x%04x, R12\nVPBROADCASTD R12, Z%d", c, 31-i)
				}
			},
			func(i int) {
				for h := range 2 {
					roundBFloat16(2*i+h, fmt.Sprintf("%d(DX)", h*32))
				}
			},
		}
	}
	return narrowing{func() {}, func(i int) {
		for h := range 2 {
			r := 2*i + h
			p("VCMPPS $3, Y%d, Y%d, Y14\nVPSRLD $16, Y%d, Y12\nVPAND ·one(SB), Y12, Y12\nVPADDD Y12, Y%d, Y12", r, r, r, r)
			p("VPADDD ·below(SB), Y12, Y12\nVPSRLD $16, Y12, Y12\nVBLENDVPS Y14, ·quietBF(SB), Y12, Y%d", r)
		}
		p("VPACKUSDW Y%d, Y%d, Y12\nVPERMQ $0xd8, Y12, Y12\nVMOVDQU Y12, (DX)", 2*i+1, 2*i)
	}}
}

// roundBFloat16 prints code that stores register r, rounded with toBFloat16's constants, at an address.
func roundBFloat16(r int, to string) {
	p("VCMPPS $3, Z%d, Z%d, K2\nVPSRLD $16, Z%d, Z28\nVPANDD Z28, Z30, Z28\nVPADDD Z28, Z%d, Z28", r, r, r, r)
	p("VPADDD Z29, Z28, Z28\nVPSRLD $16, Z28, Z28\nVMOVDQA32 Z31, K2, Z28\nVPMOVDW Z28, %s", to)
}

// halfConstants prints the constants that AVX2 reads from memory.
func halfConstants() {
	for _, c := range []struct {
		name string
		bits uint32
	}{{"quiet16", quiet16}, {"quietBF", quietBF}, {"one", 1}, {"below", below}} {
		repeated(c.name, c.bits)
	}
}

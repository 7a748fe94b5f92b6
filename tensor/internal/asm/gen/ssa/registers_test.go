package ssa

import (
	"fmt"
	"strings"
	"testing"
)

// plain is float32 in memory, without masks and prefetches.
type plain struct{}

func (plain) Load(e *Emitter, v Value, base string, u int) int {
	name, reg := "VMOVUPS", e.Take(v)
	if !e.Program.Single {
		name = "VCVTPS2PD"
	}
	e.Text.Printf("%s %d(%s), %s", name, u*e.Lanes()*4, base, e.Name(reg))
	return reg
}

func (plain) Store(e *Emitter, results []Value) {
	for u, v := range results {
		r := e.Home(v)
		if !e.Program.Single {
			e.Text.Printf("%s %s, %s", map[bool]string{false: "VCVTPD2PSY", true: "VCVTPD2PS"}[e.Wide], e.Name(r), e.Float32(r))
		}
		e.Text.Printf("VMOVUPS %s, %d(DI)", e.Float32(r), u*e.Lanes()*4)
	}
}

// print returns the assembly of a program of float32: loads of constants, a label, and the loop's body. Values may
// use limit registers.
func print(wide bool, limit int, numbers []int, of func(p *Program) Value) string {
	p, result := build(of)
	var text Text
	e := &Emitter{Program: p, Wide: wide, Text: &text, Limit: limit}
	e.Fit(numbers, func(e *Emitter, n int) {
		e.Text.Printf("loop%d:", n)
		e.Print(result, n, plain{})
	})
	return strings.TrimSpace(text.String())
}

// TestRegisters checks the registers of small programs: that a register is used again after its value's last read,
// which form a multiply-add has, and what happens to constants.
func TestRegisters(t *testing.T) {
	const all = 0
	square := func(p *Program) Value { return p.Mul(p.X(), p.X()) }
	sum3 := func(p *Program) Value { return p.Add(p.Add(p.Mul(p.X(), p.Y()), p.X()), p.Y()) }
	ladder := func(p *Program) Value {
		y := p.Float(1)
		for _, c := range []float64{2, 3, 2} {
			y = p.FMA(y, p.X(), p.Float(c))
		}
		return y
	}
	for _, c := range []struct {
		name    string
		wide    bool
		limit   int
		numbers []int
		of      func(p *Program) Value
		want    string
	}{
		{"in place", false, all, []int{1}, square, "loop1:|VMOVUPS 0(SI), Y0|VMULPS Y0, Y0, Y0|VMOVUPS Y0, 0(DI)"},
		{"still read", false, all, []int{1}, sum3, "loop1:|VMOVUPS 0(SI), Y0|VMOVUPS 0(R8), Y1|VMULPS Y1, Y0, Y2|VADDPS Y0, Y2, Y2|VADDPS Y1, Y2, Y2|VMOVUPS Y2, 0(DI)"},
		{"two at a time", false, all, []int{2, 1}, square, "loop2:|VMOVUPS 0(SI), Y0|VMOVUPS 32(SI), Y1|VMULPS Y0, Y0, Y0|VMULPS Y1, Y1, Y1|VMOVUPS Y0, 0(DI)|VMOVUPS Y1, 32(DI)"},
		{"too few for two", false, 5, []int{2, 1}, sum3, "loop1:|VMOVUPS 0(SI), Y0|VMOVUPS 0(R8), Y1|VMULPS Y1, Y0, Y2|VADDPS Y0, Y2, Y2|VADDPS Y1, Y2, Y2|VMOVUPS Y2, 0(DI)"},
		{"enough for two", false, 6, []int{2, 1}, sum3, "loop2:|VMOVUPS 0(SI), Y0|VMOVUPS 32(SI), Y1|VMOVUPS 0(R8), Y2|VMOVUPS 32(R8), Y3|VMULPS Y2, Y0, Y4|VMULPS Y3, Y1, Y5|VADDPS Y0, Y4, Y4|VADDPS Y1, Y5, Y5|VADDPS Y2, Y4, Y4|VADDPS Y3, Y5, Y5|VMOVUPS Y4, 0(DI)|VMOVUPS Y5, 32(DI)"},
		{"constants in memory", false, all, []int{1}, func(p *Program) Value { return p.Add(p.Float(1), p.X()) }, "loop1:|VMOVUPS 0(SI), Y0|VADDPS 0(AX), Y0, Y0|VMOVUPS Y0, 0(DI)"},
		{"a constant that is loaded", false, all, []int{1}, func(p *Program) Value { return p.Sub(p.Float(1), p.X()) }, "loop1:|VMOVUPS 0(SI), Y0|VBROADCASTSD 0(AX), Y1|VSUBPS Y0, Y1, Y1|VMOVUPS Y1, 0(DI)"},
		{"a constant that is loaded for each of two lines", false, all, []int{1}, func(p *Program) Value {
			return p.Mul(p.Sub(p.Float(1), p.X()), p.Sub(p.Float(1), p.Y()))
		}, "loop1:|VMOVUPS 0(SI), Y0|VBROADCASTSD 0(AX), Y1|VSUBPS Y0, Y1, Y0|VMOVUPS 0(R8), Y1|VBROADCASTSD 0(AX), Y2|VSUBPS Y1, Y2, Y2|VMULPS Y2, Y0, Y0|VMOVUPS Y0, 0(DI)"},
		{"a result in the place of a constant", false, 2, []int{1}, ladder, "loop1:|VMOVUPS 0(SI), Y0|VBROADCASTSD 0(AX), Y1|VFMADD213PS 32(AX), Y0, Y1|VFMADD213PS 64(AX), Y0, Y1|VFMADD213PS 32(AX), Y0, Y1|VMOVUPS Y1, 0(DI)"},
		{"one register for a constant", true, 3, []int{1}, ladder, "VBROADCASTSD 32(AX), Z2|loop1:|VMOVUPS 0(SI), Z0|VMOVAPD Z2, Z1|VFMADD231PS.BCST 0(AX), Z0, Z1|VFMADD213PS.BCST 64(AX), Z0, Z1|VFMADD213PS Z2, Z0, Z1|VMOVUPS Z1, 0(DI)"},
		{"all constants in registers", true, all, []int{1}, ladder, "VBROADCASTSD 32(AX), Z30|VBROADCASTSD 0(AX), Z29|VBROADCASTSD 64(AX), Z28|loop1:|VMOVUPS 0(SI), Z0|VMOVAPD Z30, Z1|VFMADD231PS Z0, Z29, Z1|VFMADD213PS Z28, Z0, Z1|VFMADD213PS Z30, Z0, Z1|VMOVUPS Z1, 0(DI)"},
		{"the form that overwrites the sum", false, all, []int{1}, func(p *Program) Value {
			s := p.Mul(p.X(), p.Y())
			return p.Sub(p.Mul(p.FNMA(p.X(), p.Y(), s), p.X()), p.Y())
		}, "loop1:|VMOVUPS 0(SI), Y0|VMOVUPS 0(R8), Y1|VMULPS Y1, Y0, Y2|VFNMADD231PS Y1, Y0, Y2|VMULPS Y0, Y2, Y2|VSUBPS Y1, Y2, Y2|VMOVUPS Y2, 0(DI)"},
		{"the form with a constant factor", false, all, []int{1}, func(p *Program) Value { return p.FMA(p.X(), p.Float(3), p.Y()) }, "loop1:|VMOVUPS 0(SI), Y0|VMOVUPS 0(R8), Y1|VFMADD132PS 0(AX), Y1, Y0|VMOVUPS Y0, 0(DI)"},
		{"a copy, because all operands are still read", false, all, []int{1}, func(p *Program) Value {
			f := p.FMA(p.X(), p.X(), p.Y())
			return p.Add(p.Mul(f, p.X()), p.Y())
		}, "loop1:|VMOVUPS 0(SI), Y0|VMOVUPS 0(R8), Y1|VMOVAPD Y1, Y2|VFMADD231PS Y0, Y0, Y2|VMULPS Y0, Y2, Y2|VADDPS Y1, Y2, Y2|VMOVUPS Y2, 0(DI)"},
		{"a mask in a register", false, all, []int{1}, func(p *Program) Value { return p.Less(p.X(), p.Float(0), p.Y(), p.X()) }, "loop1:|VMOVUPS 0(SI), Y0|VMOVUPS 0(R8), Y1|VCMPPS $0x11, 0(AX), Y0, Y2|VBLENDVPS Y2, Y1, Y0, Y0|VMOVUPS Y0, 0(DI)"},
		{"a mask register", true, 2, []int{1}, func(p *Program) Value { return p.Less(p.X(), p.Float(0), p.Y(), p.X()) }, "loop1:|VMOVUPS 0(SI), Z0|VMOVUPS 0(R8), Z1|VCMPPS.BCST $0x11, 0(AX), Z0, K2|VBLENDMPS Z1, Z0, K2, Z0|VMOVUPS Z0, 0(DI)"},
	} {
		if got := strings.ReplaceAll(print(c.wide, c.limit, c.numbers, c.of), "\n", "|"); got != c.want {
			t.Errorf("%s:\ngot  %s\nwant %s", c.name, got, c.want)
		}
	}
}

// TestPrint checks the memory that programs share.
func TestPrint(t *testing.T) {
	var tables Tables
	table := make([]float64, 32)
	table[1] = 1
	for _, want := range []int{0, 32, 0} {
		if got := tables.Offset(map[int]uint64{0: 7, 32: 9}[want]); got != want {
			t.Errorf("got offset %d, want %d", got, want)
		}
	}
	p := New(true, &tables)
	p.Lookup(table, p.X())
	var text Text
	tables.Print(&text)
	want := ""
	for i := range 8 {
		want += fmt.Sprintf("DATA ·constants<>+%d(SB)/8, $0x%016x\n", i*8, 7+i/4*2)
	}
	want += "GLOBL ·constants<>(SB), RODATA|NOPTR, $64\n\n"
	for i := range 32 {
		want += fmt.Sprintf("DATA ·lookups<>+%d(SB)/4, $0x%08x\n", i*4, map[int]int{1: 0x3f800000}[i])
	}
	want += "GLOBL ·lookups<>(SB), RODATA|NOPTR, $128\n\n"
	if text.String() != want {
		t.Errorf("got\n%s\nwant\n%s", text.String(), want)
	}
}

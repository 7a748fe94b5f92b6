package ssa

import "fmt"

// A function in its three forms: x (x + 1/2) where x is below 1, otherwise y. The product is one line, although it is
// written twice.
func Example() {
	var tables Tables
	p := New(true, &tables)
	x := p.X()
	p.Mul(x, p.Add(x, p.Float(0.5)))
	result := p.Less(x, p.Float(1), p.Mul(x, p.Add(x, p.Float(0.5))), p.Y())
	fmt.Print(p)
	fmt.Println(p.Go("f", "an example", result))
	for _, wide := range []bool{false, true} {
		var text Text
		e := &Emitter{Program: p, Wide: wide, Text: &text}
		e.Prepare(0)
		e.Fit([]int{1}, func(e *Emitter, n int) {
			e.Text.Printf("loop:")
			e.Print(result, n, plain{})
		})
		fmt.Println(text.String())
	}
	// Output:
	// 0 x
	// 1 const 0x3f000000
	// 2 add 0 1
	// 3 mul 0 2
	// 4 const 0x3f800000
	// 5 y
	// 6 less 0 4 3 5
	//
	// // f returns an example.
	// func f(x, y, alpha float32) float32 {
	// v0 := x
	// v2 := v0 + float32(0x1p-01)
	// v3 := float32(v0 * v2)
	// v5 := y
	// v6 := v5
	// if v0 < float32(0x1p+00) {
	// v6 = v3
	// }
	// return float32(v6)
	// }
	//
	// LEAQ ·constants<>(SB), AX
	// loop:
	// VMOVUPS 0(SI), Y0
	// VADDPS 0(AX), Y0, Y1
	// VMULPS Y1, Y0, Y1
	// VMOVUPS 0(R8), Y2
	// VCMPPS $0x11, 32(AX), Y0, Y3
	// VBLENDVPS Y3, Y1, Y2, Y2
	// VMOVUPS Y2, 0(DI)
	//
	// LEAQ ·constants<>(SB), AX
	// VBROADCASTSD 0(AX), Z30
	// VBROADCASTSD 32(AX), Z29
	// loop:
	// VMOVUPS 0(SI), Z0
	// VADDPS Z30, Z0, Z1
	// VMULPS Z1, Z0, Z1
	// VMOVUPS 0(R8), Z2
	// VCMPPS $0x11, Z29, Z0, K2
	// VBLENDMPS Z1, Z2, K2, Z2
	// VMOVUPS Z2, 0(DI)
}

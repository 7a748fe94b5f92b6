package main

// element describes the elements that a kernel of rows reads and writes. They are widened to float32
// in registers, and results are rounded once.
type element struct {
	name  string // suffix of kernel names
	title string // in comments
	bytes int
}

var elementTypes = []element{{"", "float32", 4}, {"F16", "float16", 2}, {"BF16", "bfloat16", 2}}

// Registers of constants that [element.store] uses. It also uses K2 and K3.
const (
	elementOdd = 20 + iota
	elementBelow
	elementOne
	elementNaN
)

// prepare prints code that sets the constants. It uses AX.
func (e element) prepare() {
	switch e.name {
	case "F16":
		constant("AX", elementNaN, 0x7fc00000)
	case "BF16":
		constant("AX", elementOdd, 1<<16)
		constant("AX", elementBelow, below)
		constant("AX", elementOne, 1)
		constant("AX", elementNaN, 0x7fc0)
	}
}

// load prints the load of register to from base, u registers of float32 further. z and k are the
// suffix and the mask of the load.
func (e element) load(z, k, base string, u, to int) {
	name := map[string]string{"": "VMOVUPS", "F16": "VCVTPH2PS", "BF16": "VPMOVZXWD"}[e.name]
	p("%s%s %d(%s), %sZ%d", name, z, u*16*e.bytes, base, k, to)
	if e.name == "BF16" {
		p("VPSLLD $16, Z%d, Z%d", to, to)
	}
}

// store prints the reverse of load. For halves it changes the register.
func (e element) store(k, base string, u, from int) {
	switch e.name {
	case "":
		p("VMOVUPS Z%d, %s%d(%s)", from, k, u*64, base)
	case "F16":
		p("VCMPPS $3, Z%d, Z%d, K3\nVMOVDQA32 Z%d, K3, Z%d", from, from, elementNaN, from)
		p("VCVTPS2PH $0, Z%d, %s%d(%s)", from, k, u*32, base)
	case "BF16":
		p("VCMPPS $3, Z%[1]d, Z%[1]d, K3\nVPTESTMD Z%[2]d, Z%[1]d, K2\nVPADDD Z%[3]d, Z%[1]d, Z%[1]d\nVPADDD Z%[4]d, Z%[1]d, K2, Z%[1]d", from, elementOdd, elementBelow, elementOne)
		p("VPSRLD $16, Z%d, Z%d\nVMOVDQA32 Z%d, K3, Z%d\nVPMOVDW Z%d, %s%d(%s)", from, from, elementNaN, from, from, k, u*32, base)
	}
}

// move prints code that advances pointers by 16*n elements.
func (e element) move(n int, pointers ...string) {
	for _, r := range pointers {
		p("ADDQ $%d, %s", n*16*e.bytes, r)
	}
}

// back moves pointers from the end of a row's last iteration to the end of the row, which is -CX
// elements before; CX <= 0.
func (e element) back(pointers ...string) {
	for _, r := range pointers {
		p("LEAQ (%s)(CX*%d), %s", r, e.bytes, r)
	}
}

// ahead prints prefetches of what the loads of n registers will read from bases later, and of what stores
// will write to DI. New memory is often not prefetched by the processor.
func (e element) ahead(n int, bases ...string) {
	e.fetch(n, bases...)
	for at := 0; at < n*16*e.bytes; at += 64 {
		ownDI(near + at)
	}
}

// fetch is ahead without DI.
func (e element) fetch(n int, bases ...string) {
	for at := 0; at < n*16*e.bytes; at += 64 {
		for _, r := range bases {
			p("PREFETCHT0 %d(%s)", near+at, r)
		}
	}
}

// ownDI prints a prefetch for writing, at a distance from DI in bytes.
func ownDI(at int) {
	p("BYTE $0x0f; BYTE $0x0d; BYTE $0x8f; LONG $%[1]d // PREFETCHW %[1]d(DI)", at)
}

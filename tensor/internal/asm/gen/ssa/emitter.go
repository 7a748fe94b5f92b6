package ssa

import (
	"bytes"
	"fmt"
)

// Text is assembly under construction.
type Text struct{ bytes.Buffer }

// Printf prints instructions, which end with a new line.
func (t *Text) Printf(format string, args ...any) { fmt.Fprintf(t, format+"\n", args...) }

// Emitter prints a program as assembly for one kind of registers.
type Emitter struct {
	Program *Program
	Wide    bool // AVX-512's registers, otherwise AVX2's
	Text    *Text
	Limit   int // number of registers that values may use, 0 for all but alpha's

	pinned  map[uint64]int // registers that hold constants throughout a loop
	home    []int          // register of each value, or none
	owner   []Value        // value in each register, or none
	last    []int          // last line that reads each value
	present int            // current line
}

// Memory prints loads of a loop's numbers into registers, and stores from registers.
type Memory interface {
	// Load returns the register of number u of the operand at base, SI for x and R8 for y. It takes it for v.
	Load(e *Emitter, v Value, base string, u int) int
	// Store puts all results where they belong. It may change their registers.
	Store(e *Emitter, results []Value)
}

// Prepare prints the code before the loop: the addresses of the constants and tables in AX and R10, and alpha, which
// is at an offset among the arguments, if the program reads it.
func (e *Emitter) Prepare(offset int) {
	e.p("LEAQ ·constants<>(SB), AX")
	if e.Program.reads("shifted", "alpha") {
		e.p("VBROADCASTSS alpha+%d(FP), %s", offset, e.Float32(e.alpha()))
	}
	if e.Program.reads("lookup") {
		e.p("LEAQ ·lookups<>(SB), R10")
	}
}

// Print prints the lines for n results at a time. If the registers are too few, it must be in the body of [Emitter.Fit].
func (e *Emitter) Print(result Value, n int, m Memory) {
	program, results := e.Program.copies(result, n)
	c := *e
	c.Program = program
	c.print(results, m)
}

func (e *Emitter) print(results []Value, m Memory) {
	e.last = e.Program.lastReads(results)
	e.free()
	for i, l := range e.Program.lines {
		switch l.name {
		case "const":
			if reg, ok := e.pinned[e.word(Value(i))]; ok {
				e.home[i], e.last[i] = reg, len(e.last)
			}
			continue
		case "alpha":
			e.home[i], e.last[i] = e.alpha(), len(e.last)
			continue
		}
		e.present = i
		e.home[i] = e.instruction(Value(i), l, m)
		e.releaseDead()
	}
	m.Store(e, results)
}

func (e *Emitter) p(format string, args ...any) { e.Text.Printf(format, args...) }

// Name returns the name of a register.
func (e *Emitter) Name(reg int) string {
	if e.Wide {
		return fmt.Sprintf("Z%d", reg)
	}
	return fmt.Sprintf("Y%d", reg)
}

// Float32 returns the name of the register that holds as many float32 as the program has numbers in a register.
func (e *Emitter) Float32(reg int) string {
	switch {
	case e.Program.Single:
		return e.Name(reg)
	case e.Wide:
		return fmt.Sprintf("Y%d", reg)
	}
	return fmt.Sprintf("X%d", reg)
}

// Lanes returns the number of numbers in a register.
func (e *Emitter) Lanes() int {
	n := 4
	if e.Wide {
		n *= 2
	}
	if e.Program.Single {
		n *= 2
	}
	return n
}

// of returns an instruction of the table, or another form of its kind, for a line.
func (e *Emitter) of(l line, form string) string {
	numbers, words, whole := "PD", "Q", ""
	if e.Program.Single {
		numbers, words = "PS", "D"
	}
	if e.Wide {
		whole = "Q"
	}
	return l.fill(form, "{P}", numbers, "{W}", words, "{Z}", whole)
}

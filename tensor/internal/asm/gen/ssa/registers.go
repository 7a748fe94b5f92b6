package ssa

import (
	"errors"
	"fmt"
	"slices"
	"sort"
)

// none is the register of a value without one, and the owner of a free register. temporary is the owner of a
// register that an instruction needs besides those of values.
const (
	none      = -1
	temporary = Value(1 << 30)
)

// errRegisters is what Take panics with, and Fit recovers from.
var errRegisters = errors.New("too few registers")

// Take returns a free register, now owned by v.
func (e *Emitter) Take(v Value) int {
	reg := slices.Index(e.owner, none)
	if reg < 0 {
		panic(errRegisters)
	}
	e.owner[reg] = v
	return reg
}

// TakeTemporary returns a register for an instruction that is not one of the program's.
func (e *Emitter) TakeTemporary() int { return e.Take(temporary) }

// Release releases registers.
func (e *Emitter) Release(regs ...int) {
	for _, reg := range regs {
		e.owner[reg] = none
	}
}

// Home returns the register that holds a value.
func (e *Emitter) Home(v Value) int { return e.home[v] }

// free makes all registers free.
func (e *Emitter) free() {
	e.home, e.owner = slices.Repeat([]int{none}, len(e.Program.lines)), slices.Repeat([]Value{none}, e.limit())
}

// limit returns the number of registers that values may use.
func (e *Emitter) limit() int {
	if e.Limit > 0 {
		return e.Limit
	}
	return e.alpha()
}

// alpha returns the register that holds alpha.
func (e *Emitter) alpha() int {
	if e.Wide {
		return 31
	}
	return 15
}

// releaseDead releases the registers of values that no later line reads, and of constants that were loaded for the
// current line.
func (e *Emitter) releaseDead() {
	for v, reg := range e.home {
		if reg < 0 || e.last[v] > e.present && (e.Program.lines[v].name != "const" || e.last[v] == len(e.last)) {
			continue
		}
		if reg < len(e.owner) && e.owner[reg] == Value(v) {
			e.Release(reg)
		}
		e.home[v] = none
	}
}

// dies reports whether the current line is the last that reads v.
func (e *Emitter) dies(v Value) bool { return e.last[v] <= e.present && e.home[v] >= 0 }

// isConst reports whether v is a constant without a register.
func (e *Emitter) isConst(v Value) bool { return e.Program.lines[v].name == "const" && e.home[v] < 0 }

// word returns the bits of a constant as the table has them: those of float32 twice.
func (e *Emitter) word(v Value) uint64 {
	bits := e.Program.lines[v].bits
	if e.Program.Single {
		return bits<<32 | bits
	}
	return bits
}

// place returns the address of a constant.
func (e *Emitter) place(v Value) string {
	return fmt.Sprintf("%d(AX)", e.Program.Tables.Offset(e.word(v)))
}

// operand returns v as the operand of an instruction that may be in memory, and the suffix that the instruction
// then needs.
func (e *Emitter) operand(v Value) (text, suffix string) {
	if !e.isConst(v) {
		return e.Name(e.home[v]), ""
	}
	if e.Wide {
		suffix = ".BCST"
	}
	return e.place(v), suffix
}

// fill prints the load of a constant into a register.
func (e *Emitter) fill(v Value, reg int) { e.p("VBROADCASTSD %s, %s", e.place(v), e.Name(reg)) }

// reg returns a register that holds v. It loads v if it is a constant without a register.
func (e *Emitter) reg(v Value) int {
	if e.home[v] < 0 {
		reg := e.Take(v)
		e.fill(v, reg)
		e.home[v] = reg
	}
	return e.home[v]
}

// into returns a register for result i: that of v if v is not read again, otherwise a new one, which holds a copy
// of v if copied is set.
func (e *Emitter) into(i, v Value, copied bool) int {
	if e.dies(v) {
		reg := e.home[v]
		e.home[v] = none
		e.owner[reg] = i
		return reg
	}
	reg := e.Take(i)
	if copied { // v has a register: fused loads constants before
		e.p("VMOVAPD %s, %s", e.Name(e.home[v]), e.Name(reg))
	}
	return reg
}

// fresh returns a register for result i: that of one of in if it is not read again, otherwise a new one.
func (e *Emitter) fresh(i Value, in ...Value) int {
	for _, v := range in {
		if e.dies(v) {
			return e.into(i, v, false)
		}
	}
	return e.Take(i)
}

// pin returns an emitter like e that keeps n constants, those that are read most, in registers from the top down,
// and prints their loads.
func (e Emitter) pin(n int) *Emitter {
	e.pinned = map[uint64]int{}
	e.Limit = e.limit()
	for _, v := range e.Program.constants()[:n] {
		e.Limit--
		e.pinned[e.word(v)] = e.Limit
		e.fill(v, e.Limit)
	}
	return &e
}

// Fit prints a loop with the first of numbers for which there are enough registers, and with AVX-512, then as many
// constants as possible in registers. body prints the loop for a number of results at a time, with one or more
// calls of [Emitter.Print]. Fit panics if there are too few registers for all numbers.
func (e *Emitter) Fit(numbers []int, body func(e *Emitter, n int)) {
	most := 0
	if e.Wide {
		most = len(e.Program.constants())
	}
	for _, n := range numbers {
		fits := func(pins int) bool { return e.try(false, func() { body(e.pin(pins), n) }) }
		if !fits(0) {
			continue
		}
		pins := sort.Search(most, func(i int) bool { return !fits(i + 1) })
		e.try(true, func() { body(e.pin(pins), n) })
		return
	}
	panic(fmt.Sprintf("ssa: %d registers for any of %v results at a time, want more registers or a shorter program", e.limit(), numbers))
}

// try reports whether f has enough registers. It keeps what f prints if keep is set.
func (e *Emitter) try(keep bool, f func()) (ok bool) {
	before := e.Text.Len()
	defer func() {
		if r := recover(); r != nil && r != errRegisters {
			panic(r)
		} else {
			ok = r == nil
		}
		if !keep || !ok {
			e.Text.Truncate(before)
		}
	}()
	f()
	return true
}

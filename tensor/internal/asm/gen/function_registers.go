package main

import (
	"errors"
	"fmt"
	"slices"
	"sort"
	"strings"
)

// emitter prints a line for one width of registers.
type emitter struct {
	l       *line
	wide    bool
	table   *constants
	home    []int          // register of each value, -1 for none
	owner   []int          // value in each register, -1 for none
	last    []int          // last operation that reads each value
	present int            // current operation
	limit   int            // number of registers that values may use, 0 for all
	pinned  map[uint64]int // registers that hold constants throughout a loop
}

func (e *emitter) r(reg int) string {
	if e.wide {
		return fmt.Sprintf("Z%d", reg)
	}
	return fmt.Sprintf("Y%d", reg)
}

// of returns the name of an instruction on numbers, for those of the line.
func (e *emitter) of(name string) string {
	if e.l.single {
		return name + "PS"
	}
	return name + "PD"
}

// ofBits returns the name of an instruction on bits.
func (e *emitter) ofBits(name string) string {
	if e.l.single {
		return name + "D"
	}
	return name + "Q"
}

// word returns the bits of a constant as the table has them: those of a single line twice.
func (e *emitter) word(v value) uint64 {
	bits := e.l.ops[v].bits
	if e.l.single {
		return bits<<32 | bits
	}
	return bits
}

var errRegisters = errors.New("too few registers")

// take returns a free register, now owned by v.
func (e *emitter) take(v value) int {
	for reg, owner := range e.owner {
		if owner < 0 {
			e.owner[reg] = int(v)
			return reg
		}
	}
	panic(errRegisters)
}

func (e *emitter) release(reg int) { e.owner[reg] = -1 }

// releaseDead releases the registers of constants and of values that no later operation reads.
func (e *emitter) releaseDead() {
	for v, reg := range e.home {
		if reg < 0 || v == e.present || e.last[v] > e.present && (e.l.ops[v].name != "const" || e.last[v] == len(e.l.ops)) {
			continue
		}
		if reg < len(e.owner) && e.owner[reg] == v {
			e.release(reg)
		}
		e.home[v] = -1
	}
}

// dies reports whether the current operation is the last that reads v.
func (e *emitter) dies(v value) bool { return e.last[v] <= e.present && e.home[v] >= 0 }

// operand returns v as the operand of an instruction that may be in memory, and the suffix that the
// instruction then needs.
func (e *emitter) operand(v value) (text, suffix string) {
	if o := e.l.ops[v]; o.name == "const" && e.home[v] < 0 {
		if e.wide {
			suffix = ".BCST"
		}
		return fmt.Sprintf("%d(AX)", e.table.offset(e.word(v))), suffix
	}
	return e.r(e.home[v]), ""
}

// reg returns a register that holds v. It loads v if it is a constant without a register.
func (e *emitter) reg(v value) int {
	if e.home[v] >= 0 {
		return e.home[v]
	}
	reg := e.take(v)
	p("VBROADCASTSD %d(AX), %s", e.table.offset(e.word(v)), e.r(reg))
	e.home[v] = reg
	return reg
}

// isConst reports whether v is a constant without a register.
func (e *emitter) isConst(v value) bool { return e.l.ops[v].name == "const" && e.home[v] < 0 }

// into returns a register for result i: that of v if v is not read again, otherwise a new one, which
// holds a copy of v if copied is set.
func (e *emitter) into(i int, v value, copied bool) int {
	if e.dies(v) {
		reg := e.home[v]
		e.home[v] = -2
		e.owner[reg] = i
		return reg
	}
	if copied && e.isConst(v) {
		reg := e.take(value(i))
		p("VBROADCASTSD %d(AX), %s", e.table.offset(e.word(v)), e.r(reg))
		return reg
	}
	reg := e.take(value(i))
	if copied {
		p("VMOVAPD %s, %s", e.r(e.home[v]), e.r(reg))
	}
	return reg
}

// fresh returns a register for result i: that of one of in if it is not read again, otherwise a new
// one.
func (e *emitter) fresh(i int, in ...value) int {
	for _, v := range in {
		if e.dies(v) {
			return e.into(i, v, false)
		}
	}
	return e.take(value(i))
}

// alphaRegister returns the register that holds alpha.
func (e *emitter) alphaRegister() int {
	if e.wide {
		return 31
	}
	return 15
}

// pin returns an emitter like e that keeps n constants of its line, those that are read most, in
// registers from the top down, and prints their loads.
func (e emitter) pin(n int) *emitter {
	e.pinned = map[uint64]int{}
	if e.limit == 0 {
		e.limit = e.alphaRegister()
	}
	for _, v := range e.l.constants()[:n] {
		e.limit--
		e.pinned[e.word(v)] = e.limit
		p("VBROADCASTSD %d(AX), %s", e.table.offset(e.word(v)), e.r(e.limit))
	}
	return &e
}

// with returns an emitter like e for another line.
func (e emitter) with(l *line) *emitter {
	e.l = l
	return &e
}

// constants returns the constants of a line, those first that are read most.
func (l *line) constants() (list []value) {
	uses := make([]int, len(l.ops))
	for i, o := range l.ops {
		for _, v := range o.in {
			uses[v]++
		}
		if o.name == "const" {
			list = append(list, value(i))
		}
	}
	slices.SortStableFunc(list, func(a, b value) int { return uses[b] - uses[a] })
	return list
}

// fits prints a loop with the largest number of results at a time, and then of constants in registers,
// for which there are registers, and reports whether there are enough. body prints it for a number of
// results.
func (e *emitter) fits(numbers []int, body func(e *emitter, n int)) bool {
	most := 0
	if e.wide {
		most = len(e.l.constants())
	}
	for _, n := range numbers {
		try := func(pins int) bool { return attempt(func() { body(e.pin(pins), n) }) }
		if !tried(func() bool { return try(0) }) {
			continue
		}
		pins := sort.Search(most, func(i int) bool { return !tried(func() bool { return try(i + 1) }) })
		return try(pins)
	}
	return false
}

// tried returns f's result without what it prints.
func tried(f func() bool) bool {
	before := text
	text = new(strings.Builder)
	ok := f()
	text = before
	return ok
}

// narrowest returns the name of the register that holds as many float32 as the line has numbers.
func (e *emitter) narrowest(reg int) string {
	switch {
	case e.l.single:
		return e.r(reg)
	case e.wide:
		return fmt.Sprintf("Y%d", reg)
	}
	return fmt.Sprintf("X%d", reg)
}

// lanes returns the number of values of the line in a register.
func (e *emitter) lanes() int {
	n := 4
	if e.wide {
		n = 8
	}
	if e.l.single {
		n *= 2
	}
	return n
}

// usesOf returns for each operation the last one that reads its result.
func (l *line) usesOf(results []value) []int {
	last := make([]int, len(l.ops))
	for i, o := range l.ops {
		for _, v := range o.in {
			last[v] = i
		}
	}
	for _, v := range results {
		last[v] = len(l.ops)
	}
	return last
}

package ssa

import (
	"math"
	"slices"
)

// Tables holds the constants and the lookup tables of the programs that share a file. Those that several programs
// use are there once.
type Tables struct {
	Lookups [][]float64 // the tables of [Program.Lookup], each of 32 numbers

	constants []uint64
	at        map[uint64]int // their indices
}

// Offset returns the place of a constant of 64 bits in memory, from the start of all constants. A constant is stored
// four times, for the operands of AVX2.
func (t *Tables) Offset(bits uint64) int {
	i, ok := t.at[bits]
	if !ok {
		if t.at == nil {
			t.at = map[uint64]int{}
		}
		i = len(t.constants)
		t.at[bits] = i
		t.constants = append(t.constants, bits)
	}
	return i * 32
}

// Offset32 is Offset for a constant of 32 bits, which is stored eight times.
func (t *Tables) Offset32(bits uint32) int { return t.Offset(uint64(bits)<<32 | uint64(bits)) }

// lookup returns the number of a table.
func (t *Tables) lookup(table []float64) int {
	at := slices.IndexFunc(t.Lookups, func(known []float64) bool { return slices.Equal(known, table) })
	if at < 0 {
		at = len(t.Lookups)
		t.Lookups = append(t.Lookups, table)
	}
	return at
}

// Print prints the memory that the assembly reads: the constants, and the lookup tables if there are any.
func (t *Tables) Print(text *Text) {
	for i, bits := range t.constants {
		for j := range 4 {
			text.Printf("DATA ·constants<>+%d(SB)/8, $0x%016x", i*32+j*8, bits)
		}
	}
	text.Printf("GLOBL ·constants<>(SB), RODATA|NOPTR, $%d\n", len(t.constants)*32)
	for i, table := range t.Lookups {
		for j, v := range table {
			text.Printf("DATA ·lookups<>+%d(SB)/4, $0x%08x", i*128+j*4, math.Float32bits(float32(v)))
		}
	}
	if len(t.Lookups) > 0 {
		text.Printf("GLOBL ·lookups<>(SB), RODATA|NOPTR, $%d\n", len(t.Lookups)*128)
	}
}

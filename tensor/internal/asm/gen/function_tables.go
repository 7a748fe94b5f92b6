package main

import "math"

// constants holds the constants of all functions. Each is stored four times, for the operands of AVX2.
type constants struct {
	list []uint64
	at   map[uint64]int
}

func (c *constants) offset(bits uint64) int {
	if c.at == nil {
		c.at = map[uint64]int{}
	}
	i, ok := c.at[bits]
	if !ok {
		i = len(c.list)
		c.at[bits] = i
		c.list = append(c.list, bits)
	}
	return i * 32
}

func (c *constants) print() {
	for i, bits := range c.list {
		for j := range 4 {
			p("DATA ·constants<>+%d(SB)/8, $0x%016x", i*32+j*8, bits)
		}
	}
	p("GLOBL ·constants<>(SB), RODATA|NOPTR, $%d\n", len(c.list)*32)
}

// printLookups prints the tables.
func printLookups() {
	for i, table := range lookups {
		for j, v := range table {
			p("DATA ·lookups<>+%d(SB)/4, $0x%08x", i*128+j*4, math.Float32bits(float32(v)))
		}
	}
	p("GLOBL ·lookups<>(SB), RODATA|NOPTR, $%d\n", len(lookups)*128)
}

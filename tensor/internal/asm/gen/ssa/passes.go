package ssa

import "slices"

// copies returns the program of the lines that result needs, for n independent results, and their values. An
// operation stands next to the same operation for the others, so that a processor always has some whose operands are
// ready.
func (p *Program) copies(result Value, n int) (*Program, []Value) {
	out, needed := New(p.Single, p.Tables), p.needed(result)
	at := make([][]Value, len(p.lines))
	for i, l := range p.lines {
		if !needed[i] {
			continue
		}
		at[i] = make([]Value, n)
		for u := range n {
			in := make([]Value, len(l.in))
			for j, v := range l.in {
				in[j] = at[v][u]
			}
			bits := l.bits
			if l.name == "x" || l.name == "y" || l.name == "shifted" {
				bits = uint64(u)
			}
			at[i][u] = out.do(l.name, bits, in...)
		}
	}
	return out, at[result]
}

// needed returns for each line whether result depends on it.
func (p *Program) needed(result Value) []bool {
	needed := make([]bool, len(p.lines))
	needed[result] = true
	for i, l := range slices.Backward(p.lines) {
		for _, v := range l.in {
			needed[v] = needed[v] || needed[i]
		}
	}
	return needed
}

// lastReads returns for each line the last one that reads its value, which is the number of lines for results.
func (p *Program) lastReads(results []Value) []int {
	last := make([]int, len(p.lines))
	for i, l := range p.lines {
		for _, v := range l.in {
			last[v] = i
		}
	}
	for _, v := range results {
		last[v] = len(p.lines)
	}
	return last
}

// constants returns the constants, those first that are read most.
func (p *Program) constants() (list []Value) {
	reads := make([]int, len(p.lines))
	for i, l := range p.lines {
		for _, v := range l.in {
			reads[v]++
		}
		if l.name == "const" {
			list = append(list, Value(i))
		}
	}
	slices.SortStableFunc(list, func(a, b Value) int { return reads[b] - reads[a] })
	return list
}

// reads reports whether the program has a line of one of these operations.
func (p *Program) reads(names ...string) bool {
	return slices.ContainsFunc(p.lines, func(l line) bool { return slices.Contains(names, l.name) })
}

package diagnose

import "math"

// minimal finds the smallest subset of n items that meets a budget, and the cheapest of
// several. Each subset is tried once.
type minimal struct {
	n      int
	try    func(in []bool) trial
	budget float64
	most   int // subsets to try beyond what a minimal one takes
	known  map[string]trial
}

// trial is the outcome of a subset.
type trial struct{ err, cost float64 }

// of returns the outcome of a subset.
func (m *minimal) of(in []bool) trial {
	key := make([]byte, len(in))
	for i, b := range in {
		if b {
			key[i] = 1
		}
	}
	if e, ok := m.known[string(key)]; ok {
		return e
	}
	e := m.try(in)
	m.known[string(key)] = e
	return e
}

func (m *minimal) holds(in []bool) bool { return m.of(in).err <= m.budget }

// find returns a subset from which no item can be removed; smallest reports that no smaller one
// exists. It returns nil if not even the full set meets the budget.
func (m *minimal) find() (in []bool, smallest bool) {
	none, all := make([]bool, m.n), make([]bool, m.n)
	for i := range all {
		all[i] = true
	}
	switch {
	case m.holds(none):
		return none, true
	case !m.holds(all):
		return nil, false
	}
	in = m.reduce(all)
	for size := 1; size <= sizeOf(in); size++ {
		if !m.affordable(size) {
			return in, size == sizeOf(in)
		}
		if best := m.best(size); best != nil {
			return best, true
		}
	}
	return in, true
}

// reduce removes what it can: halves first, then quarters, down to single items, until none can
// be removed. It is ddmin of A. Zeller and R. Hildebrandt, "Simplifying and isolating
// failure-inducing input", IEEE TSE 28 (2002), with complements only.
func (m *minimal) reduce(in []bool) []bool {
	for size := (sizeOf(in) + 1) / 2; ; {
		taken := false
		members := members(in)
		for from := 0; from < len(members); from += size {
			less := append([]bool{}, in...)
			for _, i := range members[from:min(from+size, len(members))] {
				less[i] = false
			}
			if m.holds(less) {
				in, taken = less, true
			}
		}
		switch {
		case size > 1:
			size = (size + 1) / 2
		case !taken:
			return in
		}
	}
}

// affordable reports whether all subsets of a size may be tried.
func (m *minimal) affordable(size int) bool {
	subsets := 1.0
	for i := range size {
		subsets *= float64(m.n-i) / float64(i+1)
	}
	return subsets <= float64(m.most-len(m.known))
}

// best returns the cheapest subset of a size that holds, or nil.
func (m *minimal) best(size int) []bool {
	var best []bool
	least := math.Inf(1)
	in := make([]bool, m.n)
	var choose func(from, left int)
	choose = func(from, left int) {
		if left == 0 {
			if t := m.of(in); t.err <= m.budget && t.cost < least {
				best, least = append([]bool{}, in...), t.cost
			}
			return
		}
		for i := from; i <= m.n-left; i++ {
			in[i] = true
			choose(i+1, left-1)
			in[i] = false
		}
	}
	choose(0, size)
	return best
}

func members(in []bool) []int {
	var list []int
	for i, b := range in {
		if b {
			list = append(list, i)
		}
	}
	return list
}

func sizeOf(in []bool) int { return len(members(in)) }

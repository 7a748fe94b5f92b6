package trace

// order guesses what comes next: what it was the last time, as steps are alike.
type order struct {
	after  []int32
	before int32
}

func (o *order) next() int32 { return o.after[o.before] }

// came notes that i did come.
func (o *order) came(i int32) {
	if n := int(max(i, o.before)) + 1 - len(o.after); n > 0 {
		o.after = append(o.after, make([]int32, n)...)
	}
	o.after[o.before], o.before = i, i
}

// memo remembers what has been found out for keys. Mostly they come in the order in which
// they did before, and need no hash.
type memo[K comparable, V any] struct {
	at    map[K]int32
	keys  []K
	found []V
	order order
}

// get returns what find has found for k.
func (m *memo[K, V]) get(k K, find func() V) V {
	if len(m.keys) == 0 {
		m.at = map[K]int32{}
	} else if i := m.order.next(); m.keys[i] == k {
		m.order.came(i)
		return m.found[i]
	}
	i, ok := m.at[k]
	if !ok {
		v := find()
		i = int32(len(m.keys))
		m.at[k], m.keys, m.found = i, append(m.keys, k), append(m.found, v)
	}
	m.order.came(i)
	return m.found[i]
}

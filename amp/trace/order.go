package trace

// order predicts the next key: steps are alike, so it is the key that came next the last time.
type order struct {
	after  []int32
	before int32
}

func (o *order) next() int32 { return o.after[o.before] }

// came records that i came next.
func (o *order) came(i int32) {
	if n := int(max(i, o.before)) + 1 - len(o.after); n > 0 {
		o.after = append(o.after, make([]int32, n)...)
	}
	o.after[o.before], o.before = i, i
}

// memo caches results by key. Keys mostly arrive in the same order as before, which saves hashing
// them.
type memo[K comparable, V any] struct {
	at    map[K]int32
	keys  []K
	found []V
	order order
}

// get returns find's result for k.
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

package tensor

// twister is MT19937: M. Matsumoto and T. Nishimura, "Mersenne Twister", ACM
// Transactions on Modeling and Computer Simulation 8 (1998), with their seeding of
// 2002. gonum's has the same numbers, in a module of some hundred packages.
type twister struct {
	state [624]uint32
	i     int
	fresh bool // nothing has been drawn
}

func (m *twister) seed(s uint32) {
	m.state[0] = s
	for i := 1; i < len(m.state); i++ {
		s = 1812433253*(s^s>>30) + uint32(i)
		m.state[i] = s
	}
	m.i, m.fresh = len(m.state), true
}

func (m *twister) next() uint32 {
	if m.i == len(m.state) {
		m.twist()
	}
	y := m.state[m.i]
	m.i++
	return temper(y)
}

func temper(y uint32) uint32 {
	y ^= y >> 11
	y ^= y << 7 & 0x9d2c5680
	y ^= y << 15 & 0xefc60000
	return y ^ y>>18
}

func (m *twister) twist() {
	const n, far = 624, 397
	s := &m.state
	mix := func(y, z, w uint32) uint32 {
		y = y&0x80000000 | z&0x7fffffff
		return w ^ y>>1 ^ -(y&1)&0x9908b0df
	}
	for i := range n - far {
		s[i] = mix(s[i], s[i+1], s[i+far])
	}
	for i := n - far; i < n-1; i++ {
		s[i] = mix(s[i], s[i+1], s[i+far-n])
	}
	s[n-1] = mix(s[n-1], s[0], s[far-1])
	m.i, m.fresh = 0, false
}

// below sets dst[i] to 1 where the next number of 53 bits is below limit, else to 0.
func (m *twister) below(limit uint64, dst []byte) {
	for len(dst) > 0 {
		if len(m.state)-m.i < 2 { // the number's halves may lie in two rounds
			hi := uint64(m.next())
			dst[0] = bit((hi<<32|uint64(m.next()))&(1<<53-1) < limit)
			dst = dst[1:]
			continue
		}
		words := m.state[m.i:]
		n := min(len(words)/2, len(dst))
		for i := range dst[:n] {
			w := words[:2]
			words = words[2:]
			dst[i] = bit(uint64(temper(w[0])&(1<<21-1))<<32|uint64(temper(w[1])) < limit)
		}
		m.i += 2 * n
		dst = dst[n:]
	}
}

func bit(b bool) byte {
	if b {
		return 1
	}
	return 0
}

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
	y ^= y >> 11
	y ^= y << 7 & 0x9d2c5680
	y ^= y << 15 & 0xefc60000
	return y ^ y>>18
}

func (m *twister) twist() {
	n := len(m.state)
	for i := range m.state {
		y := m.state[i]&0x80000000 | m.state[(i+1)%n]&0x7fffffff
		m.state[i] = m.state[(i+397)%n] ^ y>>1 ^ y&1*0x9908b0df
	}
	m.i, m.fresh = 0, false
}

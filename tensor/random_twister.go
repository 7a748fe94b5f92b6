package tensor

import (
	"unsafe"

	"halfnote/tensor/internal/asm"
)

// twister is MT19937: M. Matsumoto and T. Nishimura, "Mersenne Twister", ACM Transactions on
// Modeling and Computer Simulation 8 (1998), with their seeding of 2002. gonum has the same
// generator, in a module of several hundred packages.
type twister struct {
	state [624]uint32
	i     int
	fresh bool // nothing has been drawn yet
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
	mix(s[:n-far+1], s[far:])
	mix(s[n-far:], s[:far-1])
	y := s[n-1]&0x80000000 | s[0]&0x7fffffff
	s[n-1] = s[far-1] ^ y>>1 ^ -(y&1)&0x9908b0df
	m.i, m.fresh = 0, false
}

// draws is the processor-specific generator, or nil.
var draws = asm.Best()

// mix replaces all words but the last, which the word before it reads. far holds the words at
// the distance of the recurrence.
func mix(words, far []uint32) {
	i := 0
	if draws != nil && draws.Twist != nil {
		i = len(far) &^ 7
		draws.Twist(unsafe.Pointer(&words[0]), unsafe.Pointer(&far[0]), i)
	}
	for ; i < len(far); i++ {
		y := words[i]&0x80000000 | words[i+1]&0x7fffffff
		words[i] = far[i] ^ y>>1 ^ -(y&1)&0x9908b0df
	}
}

// below sets dst[i] to 1 if the next 53-bit number is below limit, otherwise to 0.
func (m *twister) below(limit uint64, dst []byte) {
	for len(dst) > 0 {
		if len(m.state)-m.i < 2 { // the number's halves may come from two rounds
			hi := uint64(m.next())
			dst[0] = bit((hi<<32|uint64(m.next()))&(1<<53-1) < limit)
			dst = dst[1:]
			continue
		}
		words := m.state[m.i:]
		n := min(len(words)/2, len(dst))
		i := 0
		if draws != nil && draws.Below != nil && n >= 4 {
			i = n &^ 3
			draws.Below(unsafe.Pointer(&dst[0]), unsafe.Pointer(&words[0]), i, limit)
			words = words[2*i:]
		}
		for ; i < n; i++ {
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

package diagnose

import (
	"math"
	"sort"
)

// magnitudes is a histogram of the absolute values of a gradient's elements, fine enough to give
// the share of each kind of number in every format: an octave has 20 cuts, the 16 that split it
// evenly and those fractions at which formats round to another kind. A cell counts what lies on a
// cut, the next one what lies above it and below the next cut, because ties go to one side. So
// with a scale that is a power of two every limit of every format lies on a cut, and the counts
// are exact.
type magnitudes struct {
	zeros, bad int     // bad: inf and NaN
	max        float64 // largest finite magnitude
	at         []uint16
	upTo       []uint32 // number of values in this cell and those before it
}

// cuts are fractions of 11 bits. 1.1111111₂, with 7 ones, is bfloat16's largest
// subnormal and a half unit, with 8 its largest number and a half unit, with 10 and
// 11 those of float16 and TF32. The limits of the formats of 8 bits have 4 bits at
// most.
var cuts = [...]int{
	0, 128, 256, 384, 512, 640, 768, 896, 1024, 1152, 1280, 1408, 1536, 1664, 1792, 1920,
	127 << 4, 255 << 3, 1023 << 1, 2047,
}

const (
	perOctave = 2 * len(cuts)
	octaves   = 149 + 128 // float32's, those of subnormals too
)

// cutBelow is the last cut at or below each fraction.
var cutBelow = func() (t [1 << 11]uint8) {
	for i, c := range cuts {
		for f := c; f < len(t); f++ {
			t[f] = uint8(i)
		}
	}
	return t
}()

// place returns the cell of a, which is positive and finite, and a's position in the cell, from
// 0 to below 1; alone reports that the cell contains only a.
func place(a float64) (cell int, within float64, alone bool) {
	bits := math.Float64bits(a)
	octave := int(bits>>52) - 1023 + 149
	top, rest := bits>>41&(1<<11-1), bits&(1<<41-1)
	i := int(cutBelow[top])
	cell = octave*perOctave + 2*i
	if rest == 0 && int(top) == cuts[i] {
		return cell, 0, true
	}
	next := 1 << 11
	if i+1 < len(cuts) {
		next = cuts[i+1]
	}
	fraction := float64(bits&(1<<52-1)) * 0x1p-41
	return cell + 1, (fraction - float64(cuts[i])) / float64(next-cuts[i]), false
}

// counter counts values by cell. It is large, so it is reused between gradients.
type counter [octaves * perOctave]uint32

// count returns the magnitudes of values.
func (c *counter) count(values []float32) *magnitudes {
	m := &magnitudes{}
	low, high, largest := len(c), -1, uint32(0)
	for _, v := range values {
		b := math.Float32bits(v) &^ (1 << 31)
		cell := 0
		switch exponent, fraction := int(b>>23), b&(1<<23-1); exponent {
		case 255:
			m.bad++
			continue
		case 0:
			if b == 0 {
				m.zeros++
				continue
			}
			cell, _, _ = place(float64(math.Float32frombits(b))) // a subnormal number
		default:
			cut := cutBelow[fraction>>12]
			cell = (exponent-127+149)*perOctave + 2*int(cut)
			if fraction != uint32(cuts[cut])<<12 {
				cell++
			}
		}
		c[cell]++
		low, high, largest = min(low, cell), max(high, cell), max(largest, b)
	}
	m.max = float64(math.Float32frombits(largest))
	sum := uint32(0)
	for i := low; i <= high; i++ {
		if c[i] > 0 {
			sum += c[i]
			m.at, m.upTo = append(m.at, uint16(i)), append(m.upTo, sum)
			c[i] = 0
		}
	}
	return m
}

// some returns the number of finite nonzero values.
func (m *magnitudes) some() int { return m.before(len(m.at)) }

// before returns the number of values in the first i nonempty cells.
func (m *magnitudes) before(i int) int {
	if i == 0 {
		return 0
	}
	return int(m.upTo[i-1])
}

// below returns the number of nonzero values below limit, or at most limit if included. slack
// is the maximum error: 0 if the limit lies on a cut or in an empty cell.
func (m *magnitudes) below(limit float64, included bool) (n, slack int) {
	switch {
	case limit < 0x1p-149:
		return 0, 0
	case limit >= 0x1p128:
		return m.some(), 0
	}
	cell, within, alone := place(limit)
	i := sort.Search(len(m.at), func(i int) bool { return int(m.at[i]) >= cell })
	n = m.before(i)
	if i == len(m.at) || int(m.at[i]) != cell {
		return n, 0
	}
	inside := m.before(i+1) - n
	switch {
	case !alone:
		return n + int(math.Round(within*float64(inside))), inside
	case included:
		n += inside
	}
	return n, 0
}

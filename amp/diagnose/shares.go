package diagnose

import (
	"fmt"
	"math"
	"strings"
)

// Shares counts the elements of gradients by the effect of multiplying them by a scale and
// rounding them to a format. Zeros were already 0, and NonFinite were inf or NaN when recorded;
// the other counts add up to the rest.
type Shares struct {
	Count     int
	Zeros     int
	NonFinite int
	Flushed   int // become 0
	Subnormal int // become a subnormal number, with fewer bits
	Normal    int
	Overflow  int // become infinite, or E4M3's largest number
	// Slack is the maximum error of each count: 0 if the scale is a power of two or the
	// gradients were kept.
	Slack int
}

// FlushedShare returns the share of the finite gradients other than 0 that becomes
// 0, from 0 to 1.
func (s Shares) FlushedShare() float64 { return s.share(s.Flushed) }

// SubnormalShare returns the share of the finite gradients other than 0 that becomes
// subnormal.
func (s Shares) SubnormalShare() float64 { return s.share(s.Subnormal) }

// OverflowShare returns the share of the finite gradients other than 0 that
// overflows.
func (s Shares) OverflowShare() float64 { return s.share(s.Overflow) }

func (s Shares) share(n int) float64 {
	if all := s.Flushed + s.Subnormal + s.Normal + s.Overflow; all > 0 {
		return float64(n) / float64(all)
	}
	return 0
}

// String returns the shares as a sentence.
func (s Shares) String() string {
	parts := []string{
		percent(s.FlushedShare()) + " flushed to 0", percent(s.SubnormalShare()) + " subnormal", percent(s.OverflowShare()) + " overflow",
	}
	if s.NonFinite > 0 {
		parts = append(parts, fmt.Sprintf("%d recorded as inf or NaN", s.NonFinite))
	}
	return strings.Join(parts, ", ")
}

// percent formats a share; a nonzero share is never shown as 0, and an incomplete one never as
// 100.
func percent(share float64) string {
	p := 100 * share
	switch {
	case p == 0:
		return "0 %"
	case p < 0.001:
		return "<0.001 %"
	case p < 1:
		return fmt.Sprintf("%.3f %%", p)
	case p < 100:
		return fmt.Sprintf("%.1f %%", min(p, 99.9))
	}
	return "100 %"
}

// add adds t to s.
func (s *Shares) add(t Shares) {
	s.Count += t.Count
	s.Zeros += t.Zeros
	s.NonFinite += t.NonFinite
	s.Flushed += t.Flushed
	s.Subnormal += t.Subnormal
	s.Normal += t.Normal
	s.Overflow += t.Overflow
	s.Slack += t.Slack
}

// shares returns the shares of g at a scale.
func (g *gradient) shares(scale float64, f Format) Shares {
	m := g.magnitudes
	s := Shares{Count: m.zeros + m.bad + m.some(), Zeros: m.zeros, NonFinite: m.bad}
	if g.wide {
		s.Normal = m.some()
		return s
	}
	if g.values != nil {
		for _, v := range g.values {
			s.one(math.Abs(float64(v))*scale, f) // exact: 24 bits times 24
		}
		return s
	}
	zero, slack0 := m.below(f.zero/scale, true)
	normal, slack1 := m.below(f.normal/scale, false)
	over, slack2 := m.below(f.over/scale, f.ends)
	normal = max(normal, zero)
	over = max(over, normal)
	s.Flushed, s.Subnormal, s.Normal, s.Overflow = zero, normal-zero, over-normal, m.some()-over
	s.Slack = max(slack0+slack1, slack1+slack2)
	return s
}

// one counts a, the absolute value of a scaled gradient, unless it is 0 or non-finite.
func (s *Shares) one(a float64, f Format) {
	switch {
	case a == 0 || a-a != 0:
	case a <= f.zero:
		s.Flushed++
	case a < f.normal:
		s.Subnormal++
	case a > f.over || a == f.over && !f.ends:
		s.Overflow++
	default:
		s.Normal++
	}
}

// overflows reports whether g has an element that overflows at a scale; known is
// false if it was recorded as non-finite at a larger scale.
func (g *gradient) overflows(scale float64, f Format) (over, known bool) {
	limit := f.over
	if g.wide {
		limit = 0x1.ffffffp127 // float32's own
	}
	if a := g.max * scale; a > limit || a == limit && !(f.ends && !g.wide) {
		return true, true
	}
	if g.bad > 0 { // a wider format might have held it
		over = scale >= g.scale && f.over <= Float16.over
		return over, over
	}
	return false, true
}

package trace

import "fmt"

// Shadowed compares results with their float64 shadows.
type Shadowed struct {
	Compared int     // elements with a known local error
	ULP      float64 // largest error of the operation itself, in units in the last place of its dtype; large for cancelling sums
	Own      float64 // distance from the operation's float64 result, relative to the latter's norm

	Followed int     // elements with a known value for a step entirely in float64
	Dead     int     // followed elements that are 0 here but not in float64
	Blown    int     // followed elements that are inf or NaN here but finite in float64
	Drift    float64 // largest distance of a result from the float64 result, relative to the latter's norm
}

func (s *Shadowed) merge(t Shadowed) {
	s.Compared += t.Compared
	s.ULP = max(s.ULP, t.ULP)
	s.Own = max(s.Own, t.Own)
	s.Followed += t.Followed
	s.Dead += t.Dead
	s.Blown += t.Blown
	s.Drift = max(s.Drift, t.Drift)
}

// DeadShare returns the share of elements that are zero here but not in float64.
func (s Shadowed) DeadShare() float64 { return share(s.Dead, s.Followed) }

func (s Shadowed) facts() (list [][2]string) {
	if s.Compared > 0 {
		list = append(list, [2]string{"own error", fmt.Sprintf("at most %.3g ulp, %.2g as a whole", s.ULP, s.Own)})
	}
	if s.Followed > 0 {
		away := fmt.Sprintf("%.2g away as a whole", s.Drift)
		if s.Drift > 1e3 {
			away = "and in float64 it is zero but for rounding"
		}
		list = append(list, [2]string{"against float64", fmt.Sprintf("%d of %d at zero that should not be, %d not finite, %s", s.Dead, s.Followed, s.Blown, away)})
	}
	return list
}

package trace

import "fmt"

// Shadowed is what a float64 shadow says of results.
type Shadowed struct {
	Compared int     // elements whose local error is known
	ULP      float64 // largest error of the operation itself, in units of the last place of its dtype; sums that cancel have large ones
	Own      float64 // distance of the result from the operation's in float64, as a share of that one's length

	Followed int     // elements of which it is known what they would be had everything before been float64
	Dead     int     // of these, not 0 in float64 and 0 here
	Blown    int     // finite in float64, inf or NaN here
	Drift    float64 // largest distance of a result from the one in float64, as a share of that one's length
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

// DeadShare is the part of the elements that float64 would not have at zero and are.
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

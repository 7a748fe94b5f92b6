package tensor

import "testing"

// What an observer computes in Unobserved is not reported, changes in place neither,
// and stands on no tape.
func TestUnobserved(t *testing.T) {
	w := Ones(2).RequireGrad()
	seen := 0
	stop := Observe(func(e Event) {
		seen++
		Unobserved(func() {
			y := e.Result.Detach().Double().Mul(w.Double())
			y.AddScalarAssign(1)
			if y.RequiresGrad() {
				t.Error("a result of an observer stands on the tape")
			}
		})
	})
	defer stop()
	w.Neg()
	if seen != 1 {
		t.Errorf("%d events, want 1", seen)
	}
}

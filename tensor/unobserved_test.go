package tensor

import (
	"fmt"
	"strings"
	"testing"

	"halfnote/tensor/driver"
)

// TestUnobserved checks that operations in Unobserved, including in-place ones, are neither reported nor
// recorded.
func TestUnobserved(t *testing.T) {
	w := Ones(2).RequireGrad()
	seen := 0
	stop := Observe(func(e Event) {
		seen++
		Unobserved(func() {
			y := e.Result.Detach().Double().Mul(w.Double())
			y.AddScalarAssign(1)
			if y.RequiresGrad() {
				t.Error("the result of an observer is recorded on the tape")
			}
		})
	})
	defer stop()
	w.Neg()
	if seen != 1 {
		t.Errorf("got %d events, want 1", seen)
	}
}

// TestOneLine checks that oneLine looks up the line once for an operation and its casts.
func TestOneLine(t *testing.T) {
	asked := 0
	driver.SetHost(driver.Host{Source: func() string { asked++; return fmt.Sprintf("line %d", asked) }})
	defer driver.SetHost(driver.Host{})
	var lines []string
	stop := Observe(func(e Event) { lines = append(lines, e.Source) })
	x := Ones(2)
	oneLine(func() {
		x.Neg()
		oneLine(func() { x.AddScalarAssign(1) })
		x.Neg()
	})
	withCaster(toHalf{}, func() { x.Dot(x) })
	withCaster(toHalf{}, func() { Ones(2, 2).MatMul(Ones(2, 2)) })
	stop()
	if got, want := strings.Join(lines, ", "), "line 1, line 1, line 1, line 2, line 3, line 3, line 3"; got != want {
		t.Errorf("got %s, want %s", got, want)
	}
	oneLine(func() {})
	if asked != 3 {
		t.Errorf("the line was looked up %d times, want 3", asked)
	}
}

package amp_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"halfnote/amp"
	"halfnote/tensor"
)

// TestObserve checks that observers receive an event for each call, in order and with the correct optimizer,
// but not for calls that panic.
func TestObserve(t *testing.T) {
	s := amp.NewGradScaler(amp.InitScale(8), amp.GrowthInterval(1))
	good, bad := &params{list: []*tensor.Tensor{weight(1)}}, &params{list: []*tensor.Tensor{weight(1), weight(inf)}}
	names := map[any]string{good: "good", bad: "bad"}
	var got []string
	stop := amp.ObserveScalers(func(e amp.ScalerEvent) {
		line := fmt.Sprintf("%v %d", e.Kind, e.Step)
		switch e.Kind {
		case amp.EventScale:
			line += fmt.Sprintf(" loss %v", e.Loss.Item())
		case amp.EventUnscale, amp.EventStep:
			line += " " + names[e.Key]
			if e.Implicit {
				line += " implicitly"
			}
			if e.Result.FoundInf {
				line += " found " + e.Result.Param
			}
		}
		if e.Scaler != s || e.Before != 8 {
			t.Errorf("%s: got scaler %v and scale %v before it", line, e.Scaler, e.Before)
		}
		got = append(got, fmt.Sprintf("%s: %v/%d", line, e.After, e.Tracker))
	})
	try(s.Update)
	s.Scale(tensor.Scalar(3))
	try(func() { s.Step(&params{}) })
	s.Unscale(good)
	try(func() { s.Unscale(good) })
	s.Step(good)
	s.Step(bad)
	s.Update()
	stop()
	s.Scale(tensor.Scalar(3))
	want := []string{
		"scaled 0 loss 3: 8/0",
		"unscaled 0 good: 8/0",
		"stepped 0 good: 8/0",
		"unscaled 1 bad implicitly found parameter 1 (1,): 8/0",
		"stepped 1 bad found parameter 1 (1,): 8/0",
		"updated 1: 4/0",
	}
	if !slices.Equal(got, want) {
		t.Errorf("got\n%s\nwant\n%s", strings.Join(got, "\n"), strings.Join(want, "\n"))
	}
}

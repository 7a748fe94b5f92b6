package display

import (
	"fmt"
	"iter"
	"reflect"
)

// Track returns an iterator over 0, 1, 2 … with a progress bar, which shows the rate and the time left:
//
//	for i := range display.Track(400, "training") {
//		…
//	}
//
// over is the number of steps: an integer, a slice, array, map or string, whose length counts, or a value
// with the method Len() int, such as a *data.Loader. The bar appears when the loop begins, and shows its
// final state when the loop ends, also by break, return, panic or interrupt. Track panics if over has no
// length. It is tqdm's trange.
func Track(over any, label string) iter.Seq[int] { return standard.Track(over, label) }

// Track returns an iterator over 0, 1, 2 … with a progress bar, as the function [Track] does.
func (s *Screen) Track(over any, label string) iter.Seq[int] {
	n := steps(over)
	return func(yield func(int) bool) {
		if n <= 0 {
			return
		}
		p := s.NewProgress(n, label)
		defer p.Finish()
		for i := range n {
			if !yield(i) {
				return
			}
			p.Add(1)
		}
	}
}

// steps returns the number of steps that over stands for.
func steps(over any) int {
	if l, ok := over.(interface{ Len() int }); ok {
		return l.Len()
	}
	switch v := reflect.ValueOf(over); {
	case v.CanInt():
		return int(v.Int())
	case v.CanUint():
		return int(min(v.Uint(), 1<<62))
	case v.Kind() == reflect.Slice, v.Kind() == reflect.Array, v.Kind() == reflect.Map, v.Kind() == reflect.String:
		return v.Len()
	}
	panic(fmt.Sprintf("display: Track: a %T has no length; want a number of steps, a slice or a value with Len() int", over))
}

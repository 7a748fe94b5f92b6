package plumbing_test

import (
	"testing"

	"halfnote/internal/plumbing"
)

type group struct{ Twice func(x int) int }

func TestGroups(t *testing.T) {
	plumbing.Provide(group{func(x int) int { return 2 * x }})
	if got := plumbing.Of[group]().Twice(21); got != 42 {
		t.Errorf("Twice(21): got %d, want 42", got)
	}
	for name, f := range map[string]func(){
		"plumbing: plumbing_test.group is provided twice":   func() { plumbing.Provide(group{}) },
		"plumbing: no package provides struct { F func() }": func() { plumbing.Of[struct{ F func() }]() },
	} {
		func() {
			defer func() {
				if got := recover(); got != name {
					t.Errorf("got panic %v, want %s", got, name)
				}
			}()
			f()
		}()
	}
}

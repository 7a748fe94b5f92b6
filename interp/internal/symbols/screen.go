package symbols

import (
	"halfnote/amp/experiment"
	"halfnote/amp/trace"
	"halfnote/display"
)

// OnScreen returns the functions, by import path and name, that show something by package display.
// They show it on s, and stand in place of those in the tables.
func OnScreen(s *display.Screen) map[string]map[string]any {
	return map[string]map[string]any{
		"halfnote/display":   s.Symbols(),
		"halfnote/amp/trace": {"Live": func() trace.Option { return trace.LiveOn(s) }},
		"halfnote/amp/experiment": {"Sweep": func(grid experiment.Grid, run func(experiment.Point) float64, file ...string) *experiment.SweepReport {
			return experiment.SweepOn(s, grid, run, file...)
		}},
	}
}

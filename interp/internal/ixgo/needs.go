package ixgo

import "halfnote/interp/engine"

// needs lists what ixgo v1.1.1 cannot do by itself: be interrupted, end a
// goroutine that panics or recurses without end, print to a cell. The language it
// knows whole.
var needs = engine.Needs{
	Complete: true,
	Rewrites: []string{
		"channel",
		"concat",
		"constants",
		"depth",
		"dotimport",
		"go",
		"keys",
		"loopdefer",
		"packagevar",
		"poll",
		"print",
		"recover",
		"room",
		"streams",
		"wait",
		"watch",
	},
}

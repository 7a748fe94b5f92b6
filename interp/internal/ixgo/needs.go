package ixgo

import "halfnote/interp/engine"

// needs lists what ixgo v1.1.1 does not support: being interrupted, ending a goroutine
// that panics or recurses without end, printing to a cell, using a map in several
// goroutines. It supports the whole
// language.
var needs = engine.Needs{
	Complete: true,
	Rewrites: []string{
		"channel",
		"concat",
		"constants",
		"defermap",
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

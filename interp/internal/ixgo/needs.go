package ixgo

import "halfnote/interp/engine"

// needs lists the rewrites for ixgo v1.1.1. It supports the whole language, but not
// interrupts, an end of goroutines that panic or recurse without end, output to a cell, and
// maps that several goroutines use.
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

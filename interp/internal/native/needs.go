package native

import "halfnote/interp/internal/engine"

// needs lists the rewrites for compiled code. It is Go as it is, but not interrupts, a limit
// of the depth of calls, and output to the cell that prints.
var needs = engine.Needs{
	Rewrites: []string{
		"channel",
		"concat",
		"constants",
		"counters",
		"depth",
		"dotimport",
		"go",
		"interfaceexpr",
		"lifetimes",
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

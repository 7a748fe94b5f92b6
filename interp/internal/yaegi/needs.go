package yaegi

import "halfnote/interp/engine"

// needs lists what Yaegi v0.16.1 cannot do, or not as Go does, by the names of the
// rewrites that make it unnecessary.
var needs = engine.Needs{
	Instances: true,
	Rewrites: []string{
		"arraylen",
		"barrier",
		"caselabel",
		"channel",
		"closure",
		"commaok",
		"constants",
		"defer",
		"depth",
		"dotimport",
		"dropped",
		"errorsas",
		"forinit",
		"go",
		"index",
		"instances",
		"loopvar",
		"mark",
		"methodexpr",
		"minmax",
		"order",
		"packagevar",
		"parallel",
		"parallellit",
		"poll",
		"print",
		"rangeassign",
		"rangefunc",
		"rangeint",
		"rangestring",
		"room",
		"shift",
		"streams",
		"switch",
		"tuple",
		"typeswitch",
		"variadic",
		"wait",
	},
}

package yaegi

// needs lists what Yaegi v0.16.1 cannot do, or not as Go does, by the names of the
// rewrites that make it unnecessary.
var needs = []string{
	"channel",
	"closure",
	"constants",
	"defer",
	"depth",
	"dotimport",
	"errorsas",
	"forinit",
	"go",
	"index",
	"instances",
	"loopvar",
	"mark",
	"methodexpr",
	"minmax",
	"packagevar",
	"poll",
	"rangefunc",
	"rangeint",
	"recover",
	"typeswitch",
	"variadic",
	"wait",
}

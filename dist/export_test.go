package dist

// OnRanks is onRanks for tests of packages that import this one.
var OnRanks = onRanks

// Package interp implements notebook sessions of Go. A session runs cells: Go declarations
// and statements in any order, which can use those of earlier cells. The package defines
// what a session keeps from cell to cell; package front gives cells their meaning, and an
// engine behind package engine executes them. Of the Jupyter protocol it uses only the
// interfaces of package kernel/eval. It does not depend on tensors.
//
// docs/cells.md describes what cells may hold, what a session keeps, what ends a cell, and how the engines differ. The scripts in
// testdata demonstrate its sentences.
//
// # How a cell runs
//
// [Session.Eval] passes a cell on, as values: magics read the lines that belong to them; package front parses, checks and binds the
// rest, and turns it into a unit of declarations and one function, which the rewrites of package lower put into the core of Go that
// the engine runs; the engine declares the unit and runs the function; the results are rendered. A stage that refuses the cell leaves
// the session as it was, because the next environment is taken only when the engine has accepted the unit.
//
// Two engines can execute units. Yaegi, the default, interprets them. Native compiles them with Go's own compiler and links them into
// the running program; where it cannot, Yaegi runs the cells, and the first one says why. docs/compiled-cells.md describes native.
package interp

// Package front gives cells their meaning. It turns the source of a cell into a unit for an
// engine, in stages that are functions over values:
//
//	Parse          source, Env    →  Parsed    items, imports
//	Parsed.Check   Parsed         →  Checked   types, and the declarations that depend on the cell
//	Checked.Bind   Checked        →  Bound     names in the engine, and the next Env
//	Bound.Lower    Bound, Target  →  Lowered   engine.Unit
//
// Each stage returns what it has made, with what came before. An Env does not change, so a
// cell that a stage refuses leaves nothing behind: its Env is not taken. The package does
// not run cells and does not depend on the session.
package front

// Package proof generates small programs that cross what a cell can be written with: the kinds of types, the storages of a
// variable, the ways to write to it, the positions of an expression, and the forms of a value. Each program is a cell of a
// notebook and part of a Go program. What compiled Go prints is right; testdata holds hashes of it, so that a test of an engine
// compiles nothing.
//
// The package knows Go alone. It does not depend on an engine, nor on what an engine finds hard.
package proof

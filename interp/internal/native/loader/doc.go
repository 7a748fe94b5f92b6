// Package loader links objects of Go's compiler into the running program: it places them in
// memory, fills in the addresses, and registers them with the runtime, so that their code,
// types and variables are like those of the program. A registered module stays for the life
// of the process.
//
// Compiled with -dynlink, code reaches symbols of other modules through a table of addresses
// and may be anywhere in memory. A unit is one object; a loader holds the units of one
// session. A symbol that a unit declares again is that of the earlier unit: a type keeps its
// identity, and a variable its address.
//
// The package relies on the layout of the runtime's structures in Go 1.26 and 1.27 (layout.go, layout126.go, layout127.go),
// which a test compares with the source of the Go that runs it. Check refuses every other version.
package loader

// Package object reads the objects that Go's compiler writes: the symbols of a package,
// their contents, and their references to each other. It knows the format of
// cmd/internal/goobj in Go 1.26 and 1.27 and checks every offset in it. It does not know where
// symbols will be in memory; package loader decides that.
package object

//go:generate go run gen.go

package syntax

import (
	"fmt"
	"runtime"
)

// newer holds what Go's parser says about the syntax of a newer release.
var newer = map[string]string{
	"method must have no type parameters": Needs("generic methods", "1.27"),
}

// Needs is the message for a part of the language that is newer than the Go that built the program,
// which checks cells with the packages of its standard library.
func Needs(what, release string) string {
	return fmt.Sprintf("%s need a halfnote built with Go %s or newer; this one is built with %s", what, release, runtime.Version())
}

// Newer returns a message of the parser, or the one about the release that it needs.
func Newer(msg string) string {
	if m, ok := newer[msg]; ok {
		return m
	}
	return msg
}

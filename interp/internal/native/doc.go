// Package native runs units as machine code: Go's own compiler makes an object of each, and
// package loader links it into the running program. Each unit is a separate package main. What
// it uses of earlier units is declared in it again, functions without bodies, and linked to
// what is there; what the session binds is a variable of the program.
//
// The engine is experimental. It needs linux/amd64 or linux/arm64, and the Go and the sources that built the
// program; New says what is lacking.
package native

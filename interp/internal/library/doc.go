// Package library reads Go code that is neither in a cell nor in the binary: generic
// declarations of the standard library, which have no compiled form, and packages of the
// user's module and of its required modules. It checks the code and writes it for the
// engines under flat names, which are unique in a session. It does not run code.
package library

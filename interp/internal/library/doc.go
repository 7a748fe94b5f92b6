// Package library reads Go code that is neither in a cell nor in the binary: the
// generic declarations of the standard library, of which no compiled value exists, and
// the packages of the user's module and of its required modules. It checks them and
// writes them under flat names, which are unique in a session, for the engines. It does
// not run code.
package library

// Package library reads Go that is neither in a cell nor in the binary: the generic
// declarations of the standard library, of which no compiled value exists, and the
// packages of the user's module and of the modules that it requires. It checks
// them and writes them under flat names, names that are unique in a session, as
// engines want them. It does not run anything.
package library

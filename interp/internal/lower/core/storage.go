package core

import "strings"

// Storage is a set of kinds of places to which a value is assigned.
type Storage uint16

// Storages.
const (
	Local  Storage = 1 << iota // variable that only its own function mentions
	Shared                     // variable that a function literal mentions, or that holds a named result
	Global                     // variable of a session or a package
	Field
	Item  // element of an array or a slice
	Entry // element of a map
	Deref // variable behind a pointer

	beyondStorages
	AnyStorage = beyondStorages - 1
)

var storageNames = []string{
	"a local variable", "a variable that a function literal shares or that is a named result", "a variable of the session", "a field", "an element", "an element of a map",
	"a variable behind a pointer",
}

func (s Storage) String() string {
	var list []string
	for i, name := range storageNames {
		if s&(1<<i) != 0 {
			list = append(list, name)
		}
	}
	return strings.Join(list, ", ")
}

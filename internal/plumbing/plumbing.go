// Package plumbing hands functions of package tensor to the packages that are built on it, but
// not to users: cells can neither import them nor complete them. Functions come in groups.
// Package tensor provides each group, and the others take it at start:
//
//	var fused = plumbing.Of[plumbing.Fused[*tensor.Tensor]]()
//
// The package does not import package tensor. Groups have the tensor type as a
// parameter.
package plumbing

import (
	"fmt"
	"reflect"
	"sync"
)

var groups sync.Map // pointers to groups, by reflect.Type of the group

// Provide registers g, a struct of functions, for [Of]. It panics if there is a group of that
// type already.
func Provide[G any](g G) {
	t := reflect.TypeFor[G]()
	if _, twice := groups.LoadOrStore(t, &g); twice {
		panic(fmt.Sprintf("plumbing: %v is provided twice", t))
	}
}

// Of returns the group of type G. It panics if none is provided: the caller must import the
// package that provides it.
func Of[G any]() *G {
	t := reflect.TypeFor[G]()
	g, ok := groups.Load(t)
	if !ok {
		panic(fmt.Sprintf("plumbing: no package provides %v", t))
	}
	return g.(*G)
}

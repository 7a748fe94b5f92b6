package library

import (
	"cmp"
	"reflect"
	"slices"
	"sync"
)

// Compiled returns the compiled instance of a generic function, by the text of the
// instance such as slices_Sort__0[[]int,int], and a name for it. There are instances of
// functions that loop over elements of the common basic types and do not call back.
func Compiled(instance string) (name string, f reflect.Value, ok bool) {
	c, ok := instances()[instance]
	return c.name, c.f, ok
}

type instance struct {
	name string
	f    reflect.Value
}

var instances = sync.OnceValue(func() map[string]instance {
	m := map[string]instance{}
	of[int](m, "int")
	of[int32](m, "int32")
	of[int64](m, "int64")
	of[uint8](m, "uint8")
	of[float32](m, "float32")
	of[float64](m, "float64")
	of[string](m, "string")
	return m
})

// of adds the instances for slices of E, the type of that name.
func of[E cmp.Ordered](m map[string]instance, elem string) {
	for name, f := range map[string]any{
		"BinarySearch": slices.BinarySearch[[]E],
		"Clone":        slices.Clone[[]E],
		"Compact":      slices.Compact[[]E],
		"Compare":      slices.Compare[[]E],
		"Contains":     slices.Contains[[]E],
		"Equal":        slices.Equal[[]E],
		"Index":        slices.Index[[]E],
		"IsSorted":     slices.IsSorted[[]E],
		"Max":          slices.Max[[]E],
		"Min":          slices.Min[[]E],
		"Repeat":       slices.Repeat[[]E],
		"Reverse":      slices.Reverse[[]E],
		"Sort":         slices.Sort[[]E],
	} {
		m[StdName("slices", name)+"[[]"+elem+","+elem+"]"] = instance{"Slices_" + name + "_" + elem, reflect.ValueOf(f)}
	}
}

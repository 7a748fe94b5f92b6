//go:build ignore

package reflect

// TypeFor goes by a pointer, for T may be an interface.
func TypeFor[T any]() Type {
	var p *T
	return TypeOf(p).Elem()
}

// TypeAssert goes by the value as an interface.
func TypeAssert[T any](v Value) (T, bool) {
	x, ok := v.Interface().(T)
	return x, ok
}

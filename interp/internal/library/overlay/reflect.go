//go:build ignore

package reflect

// TypeFor uses a pointer, because T may be an interface.
func TypeFor[T any]() Type {
	var p *T
	return TypeOf(p).Elem()
}

// TypeAssert uses the value as an interface.
func TypeAssert[T any](v Value) (T, bool) {
	x, ok := v.Interface().(T)
	return x, ok
}

//go:build ignore

package maps

// Clone copies entry by entry; the runtime copies the map as a whole.
func Clone[M ~map[K]V, K comparable, V any](m M) M {
	if m == nil {
		return nil
	}
	r := make(M, len(m))
	for k, v := range m {
		r[k] = v
	}
	return r
}

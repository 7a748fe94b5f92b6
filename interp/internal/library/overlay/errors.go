//go:build ignore

package errors

// AsType uses As, which finds errors of cells' types.
func AsType[E error](err error) (E, bool) {
	var e E
	if err != nil && As(err, &e) {
		return e, true
	}
	var zero E
	return zero, false
}

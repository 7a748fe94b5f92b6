package yaegi

import "reflect"

// Inside implements engine.Engine: units have only plain values in interfaces.
func (e *Engine) Inside(v reflect.Value) (value reflect.Value, typ string, ok bool) {
	return v, "", false
}

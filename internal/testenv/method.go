package testenv

import (
	"reflect"
	"strings"
)

// Method returns the method that has the name of a function of PyTorch: (*tensor.Tensor).LogSigmoid for log_sigmoid. F is the type of the
// method expression; ok reports whether there is one of that type.
func Method[F any](torch string) (f F, ok bool) {
	name, t := strings.ReplaceAll(torch, "_", ""), reflect.TypeFor[F]().In(0)
	for i := range t.NumMethod() {
		if m := t.Method(i); strings.EqualFold(m.Name, name) {
			f, ok = m.Func.Interface().(F)
			return f, ok
		}
	}
	return f, false
}

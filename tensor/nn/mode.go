package nn

import (
	"reflect"
)

// Mode is embedded by layers that behave differently in training and in evaluation, such
// as dropout. The zero value is in training.
type TrainingMode struct{ inUse bool }

// Training reports whether the layer is in training.
func (m *TrainingMode) Training() bool { return !m.inUse }

// Train switches all layers of model to training mode. It is torch.nn.Module.train.
func Train(model any) { setMode(model, false) }

// Eval switches all layers of model to evaluation mode: without dropout and with running
// statistics. It is torch.nn.Module.eval.
func Eval(model any) { setMode(model, true) }

func setMode(model any, inUse bool) {
	w := walker{seen: map[any]bool{}}
	w.visit = func(v reflect.Value) {
		if v.Type() == modeType && v.CanAddr() {
			// v may be an unexported field, from which Interface would panic.
			(*TrainingMode)(v.Addr().UnsafePointer()).inUse = inUse
		}
	}
	w.walk(reflect.ValueOf(model), "")
}

var modeType = reflect.TypeFor[TrainingMode]()

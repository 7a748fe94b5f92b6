package amp

import (
	"fmt"
	"reflect"

	"halfnote/tensor"
)

// ScaleNested returns a copy of outputs, of the same type, with every tensor in it scaled:
// outputs is a tensor, or nested slices, arrays and maps of tensors. A disabled scaler returns
// outputs itself. ScaleNested panics with an *[Error] that names the place of any other value.
// It is GradScaler.scale of lists and tuples.
func (s *GradScaler) ScaleNested(outputs any) any {
	if !s.enabled {
		return outputs
	}
	// Check first, so that an error changes nothing.
	checkNested(reflect.ValueOf(outputs), "outputs")
	return s.nested(reflect.ValueOf(outputs)).Interface()
}

var tensorType = reflect.TypeFor[*tensor.Tensor]()

func checkNested(v reflect.Value, path string) {
	refuse := func(what string) {
		panic(&Error{Code: "bad_outputs", Call: "ScaleNested", Why: fmt.Sprintf("%s is %s", path, what), Cure: "pass tensors, or slices and maps of tensors"})
	}
	switch {
	case !v.IsValid():
		refuse("nil")
	case v.Type() == tensorType:
		if v.IsNil() {
			refuse("a nil tensor")
		}
	case v.Kind() == reflect.Interface:
		checkNested(v.Elem(), path)
	case v.Kind() == reflect.Slice || v.Kind() == reflect.Array:
		for i := range v.Len() {
			checkNested(v.Index(i), fmt.Sprintf("%s[%d]", path, i))
		}
	case v.Kind() == reflect.Map:
		for _, k := range v.MapKeys() {
			checkNested(v.MapIndex(k), fmt.Sprintf("%s[%#v]", path, k))
		}
	default:
		refuse("a " + v.Type().String())
	}
}

func (s *GradScaler) nested(v reflect.Value) reflect.Value {
	if v.Type() == tensorType {
		return reflect.ValueOf(s.Scale(v.Interface().(*tensor.Tensor)))
	}
	switch v.Kind() {
	case reflect.Interface:
		return s.nested(v.Elem())
	case reflect.Map:
		out := reflect.MakeMapWithSize(v.Type(), v.Len())
		for _, k := range v.MapKeys() {
			out.SetMapIndex(k, s.nested(v.MapIndex(k)))
		}
		return out
	}
	out := reflect.New(v.Type()).Elem()
	if v.Kind() == reflect.Slice {
		out.Set(reflect.MakeSlice(v.Type(), v.Len(), v.Len()))
	}
	for i := range v.Len() {
		out.Index(i).Set(s.nested(v.Index(i)))
	}
	return out
}

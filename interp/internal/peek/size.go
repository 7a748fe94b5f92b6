package peek

import (
	"reflect"
)

// Size estimates the number of bytes that a value holds, without looking into maps, which
// goroutines may be changing. It stops counting above enough.
func Size(v reflect.Value, enough int) int {
	seen := map[uintptr]bool{}
	total, nodes := 0, 0
	var walk func(v reflect.Value)
	walk = func(v reflect.Value) {
		if nodes++; nodes > 10000 {
			total = enough + 1
		}
		if total > enough || !v.IsValid() {
			return
		}
		switch v.Kind() {
		case reflect.Pointer, reflect.Interface:
			if v.IsNil() {
				return
			}
			if v.Kind() == reflect.Pointer {
				if seen[v.Pointer()] {
					return
				}
				seen[v.Pointer()] = true
				total += int(v.Type().Elem().Size())
				if t, ok := memory(v); ok {
					total += t.Bytes()
				}
			}
			walk(v.Elem())
		case reflect.String:
			total += v.Len()
		case reflect.Map:
			total += v.Len() * int(v.Type().Key().Size()+v.Type().Elem().Size())
		case reflect.Chan:
			total += v.Cap() * int(v.Type().Elem().Size())
		case reflect.Slice:
			total += v.Cap() * int(v.Type().Elem().Size())
			fallthrough
		case reflect.Array:
			for i := 0; i < v.Len() && refers(v.Type().Elem()) && total <= enough; i++ {
				walk(v.Index(i))
			}
		case reflect.Struct:
			for i := range v.NumField() {
				walk(v.Field(i))
			}
		}
	}
	walk(v)
	return total
}

// memory returns the value as an interface that reports its own size. Tensors implement it,
// because their elements may be on a device.
func memory(v reflect.Value) (t interface{ Bytes() int }, ok bool) {
	if v.CanInterface() {
		t, ok = v.Interface().(interface{ Bytes() int })
	}
	return t, ok
}

// refers reports whether values of a type refer to other memory.
func refers(t reflect.Type) bool {
	switch t.Kind() {
	case reflect.Pointer, reflect.Interface, reflect.String, reflect.Slice, reflect.Map, reflect.Chan, reflect.Struct:
		return true
	case reflect.Array:
		return refers(t.Elem())
	}
	return false
}

package words

import (
	"fmt"
	"io"
	"reflect"
	"strconv"
	"strings"
)

// Print writes the output of the built-in functions print and, with a separator,
// println.
func Print(w io.Writer, sep string, args []any) {
	var b strings.Builder
	for i, a := range args {
		if i > 0 {
			b.WriteString(sep)
		}
		b.WriteString(builtinText(a))
	}
	if sep != "" {
		b.WriteByte('\n')
	}
	io.WriteString(w, b.String())
}

// ifaceText is the text that print writes for an interface value.
type ifaceText string

// Interface returns the text that print writes for an interface value. Compiled Go
// prints the two words of the value; here they are known only for nil, and other values show
// their type and value.
func Interface(v any) any {
	if v == nil {
		return ifaceText("(0x0,0x0)")
	}
	r := reflect.ValueOf(v)
	if r.Kind() == reflect.Pointer {
		return ifaceText(fmt.Sprintf("(%T,%#x)", v, r.Pointer()))
	}
	return ifaceText(fmt.Sprintf("(%T,%v)", v, v))
}

func builtinText(a any) string {
	v := reflect.ValueOf(a)
	switch v.Kind() {
	case reflect.Invalid:
		return "nil"
	case reflect.Float32, reflect.Float64:
		return strconv.FormatFloat(v.Float(), 'g', -1, v.Type().Bits())
	case reflect.Complex64, reflect.Complex128:
		return strconv.FormatComplex(v.Complex(), 'g', -1, v.Type().Bits())
	case reflect.Pointer, reflect.Map, reflect.Chan, reflect.Func, reflect.UnsafePointer:
		return fmt.Sprintf("%#x", v.Pointer())
	case reflect.Slice:
		return fmt.Sprintf("[%d/%d]%#x", v.Len(), v.Cap(), v.Pointer())
	case reflect.String:
		return v.String()
	case reflect.Int, reflect.Int8, reflect.Int16, reflect.Int32, reflect.Int64:
		return strconv.FormatInt(v.Int(), 10)
	case reflect.Uint, reflect.Uint8, reflect.Uint16, reflect.Uint32, reflect.Uint64, reflect.Uintptr:
		return strconv.FormatUint(v.Uint(), 10)
	}
	return fmt.Sprint(a)
}

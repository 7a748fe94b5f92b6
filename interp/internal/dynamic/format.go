package dynamic

import (
	"fmt"
	"io"
	"reflect"
	"slices"
	"strings"

	"halfnote/interp/internal/mapaccess"
)

// Print, Println and Printf write like the functions of package fmt, including values
// of interpreted types.
func Print(w io.Writer, args ...any) (int, error) {
	args = stable(args)
	if plainAll(args) {
		return fmt.Fprint(w, args...)
	}
	return io.WriteString(w, Sprint(args...))
}

// Println is fmt.Fprintln.
func Println(w io.Writer, args ...any) (int, error) {
	args = stable(args)
	return fmt.Fprintln(w, operands(args)...)
}

// Printf is fmt.Fprintf.
func Printf(w io.Writer, format string, args ...any) (int, error) {
	if strings.Contains(format, "p") { // %p shows the address of a map
		finite(args)
	} else {
		args = stable(args)
	}
	format, args = verbs(format, args)
	return fmt.Fprintf(w, format, args...)
}

// Sprint is fmt.Sprint.
func Sprint(args ...any) string {
	args = stable(args)
	if plainAll(args) {
		return fmt.Sprint(args...)
	}
	// Sprint puts spaces between operands of which neither is a string, and does not
	// recognise interpreted strings.
	var b strings.Builder
	isString := true
	for i, a := range args {
		r, _ := Open(a)
		now := r.Kind() == reflect.String
		if i > 0 && !isString && !now {
			b.WriteByte(' ')
		}
		isString = now
		fmt.Fprint(&b, operand(a))
	}
	return b.String()
}

// Sprintln is fmt.Sprintln.
func Sprintln(args ...any) string {
	args = stable(args)
	return fmt.Sprintln(operands(args)...)
}

// Sprintf is fmt.Sprintf.
func Sprintf(format string, args ...any) string {
	if strings.Contains(format, "p") { // %p shows the address of a map
		finite(args)
	} else {
		args = stable(args)
	}
	format, args = verbs(format, args)
	return fmt.Sprintf(format, args...)
}

// Errorf is fmt.Errorf.
func Errorf(format string, args ...any) error {
	if strings.Contains(format, "p") { // %p shows the address of a map
		finite(args)
	} else {
		args = stable(args)
	}
	format, args = verbs(format, args)
	return fmt.Errorf(format, args...)
}

// stable checks operands, and copies maps for package fmt to read: a goroutine may write
// to them.
func stable(args []any) []any {
	finite(args)
	var list []any
	for i, a := range args {
		if reflect.ValueOf(a).Kind() != reflect.Map {
			continue
		}
		if list == nil {
			list = slices.Clone(args)
		}
		list[i] = mapaccess.Copy(a)
	}
	if list == nil {
		return args
	}
	return list
}

func plainAll(args []any) bool {
	for _, a := range args {
		if !plain(a) {
			return false
		}
	}
	return true
}

// plain reports whether package fmt shows a value correctly.
func plain(v any) bool {
	switch v.(type) {
	case nil, bool, string, error, int, float64, int64, uint8, int32, float32, []int, []float64, []string:
		_, wrapped := v.(Wrapper)
		return !wrapped
	case fmt.Formatter:
		_, wrapped := v.(Wrapper)
		return !wrapped
	}
	if _, ok := v.(Wrapper); ok {
		return false
	}
	t := reflect.TypeOf(v)
	return Of(t) == nil && !holds(t)
}

// holds reports whether values of a compiled type may contain values of interpreted
// types: lists of interfaces.
func holds(t reflect.Type) bool { return holdsWithin(t, nesting) }

// nesting is the number of steps into a type after which it is treated as one that refers to
// itself.
const nesting = 32

func holdsWithin(t reflect.Type, depth int) bool {
	for ; t.Name() == "" && depth > 0; depth-- {
		if Of(t) != nil {
			return true
		}
		switch t.Kind() {
		case reflect.Interface:
			return true
		case reflect.Slice, reflect.Array, reflect.Pointer:
			t = t.Elem()
			continue
		case reflect.Map:
			return holdsWithin(t.Key(), depth-1) || holdsWithin(t.Elem(), depth-1)
		case reflect.Struct:
			for i := range t.NumField() {
				if holdsWithin(t.Field(i).Type, depth-1) {
					return true
				}
			}
		}
		return false
	}
	return t.Kind() == reflect.Interface || t.Kind() == reflect.Slice && depth > 0 && holdsWithin(t.Elem(), depth-1)
}

func operands(args []any) []any {
	if plainAll(args) {
		return args
	}
	list := make([]any, len(args))
	for i, a := range args {
		list[i] = operand(a)
	}
	return list
}

func operand(a any) any {
	if plain(a) {
		return a
	}
	return shown{a}
}

// verbs prepares the operands of a format: for %T an interpreted operand becomes the name of
// its type, for %p its bare value, and for %w an error.
func verbs(format string, args []any) (string, []any) {
	if plainAll(args) {
		return format, args
	}
	list := operands(args)
	var b strings.Builder
	n := 0 // index of the next operand
	for i := 0; i < len(format); i++ {
		b.WriteByte(format[i])
		if format[i] != '%' {
			continue
		}
		for i++; i < len(format); i++ {
			c := format[i]
			if c == '*' {
				n++
			} else if c == '[' {
				if end := strings.IndexByte(format[i:], ']'); end > 0 {
					fmt.Sscan(format[i+1:i+end], &n)
					n--
					b.WriteString(format[i : i+end])
					i += end
					c = ']'
				}
			} else if !strings.ContainsRune("+-# 0123456789.", rune(c)) {
				break
			}
			b.WriteByte(c)
		}
		if i >= len(format) {
			break
		}
		verb := format[i]
		if verb != '%' {
			if n >= 0 && n < len(args) {
				x, ours := list[n].(shown)
				switch {
				case ours && verb == 'T':
					list[n], verb = Name(x.v), 's'
				case ours && verb == 'p':
					r, _ := Open(x.v)
					list[n] = r.Interface()
				case ours && verb == 'w':
					list[n] = asError(x.v)
				}
			}
			n++
		}
		b.WriteByte(verb)
	}
	return b.String(), list
}

// asError returns a value as an error for compiled code.
func asError(v any) any {
	if e, ok := v.(error); ok {
		return e
	}
	if e, ok := As(v, reflect.TypeFor[error](), reflect.TypeFor[Error]()); ok {
		return e
	}
	return shown{v}
}

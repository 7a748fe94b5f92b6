package dynamic

import (
	"bytes"
	"fmt"
	"io"
	"reflect"
	"slices"
	"strconv"
	"strings"
	"sync"
	"unicode/utf8"

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
	format, args = formatted(format, args, false)
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
	format, args = formatted(format, args, false)
	return fmt.Sprintf(format, args...)
}

// Errorf is fmt.Errorf.
func Errorf(format string, args ...any) error {
	format, args = formatted(format, args, true)
	return fmt.Errorf(format, args...)
}

// formatted returns a format and its operands for package fmt.
func formatted(format string, args []any, wraps bool) (string, []any) {
	if strings.Contains(format, "p") { // %p shows the address of a map
		finite(args)
	} else {
		args = stable(args)
	}
	if plainAll(args) {
		return format, args
	}
	return verbs(format, args, wraps)
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
	case nil, bool, string, int, float64, int64, uint8, int32, float32, []int, []float64, []string, reflect.Value:
		return true
	case Wrapper:
		return false
	case error, fmt.Formatter:
		return true
	}
	return !foreign(reflect.TypeOf(v))
}

// foreignTypes caches the results of foreign.
var foreignTypes sync.Map

// foreign reports whether package fmt may show a value of a type otherwise than Go would: the type contains
// interfaces, which may hold interpreted values, or the representation of an interpreted type.
func foreign(t reflect.Type) bool {
	if is, ok := foreignTypes.Load(t); ok {
		return is.(bool)
	}
	is := foreignWithin(t, map[reflect.Type]bool{})
	foreignTypes.Store(t, is)
	return is
}

func foreignWithin(t reflect.Type, done map[reflect.Type]bool) bool {
	if done[t] {
		return false
	}
	done[t] = true
	switch t.Kind() {
	case reflect.Interface:
		return true
	case reflect.Slice, reflect.Array, reflect.Pointer, reflect.Chan:
		return foreignWithin(t.Elem(), done)
	case reflect.Map:
		return foreignWithin(t.Key(), done) || foreignWithin(t.Elem(), done)
	case reflect.Func:
		if t.PkgPath() != "" {
			return false
		}
		for i := range t.NumIn() {
			if foreignWithin(t.In(i), done) {
				return true
			}
		}
		for i := range t.NumOut() {
			if foreignWithin(t.Out(i), done) {
				return true
			}
		}
	case reflect.Struct:
		if strings.Contains(string(firstTag(t)), tagKey+":") {
			return true
		}
		for i := range t.NumField() {
			if foreignWithin(t.Field(i).Type, done) {
				return true
			}
		}
	}
	return false
}

// firstTag returns the tag that may identify a type.
func firstTag(t reflect.Type) reflect.StructTag {
	if t.NumField() == 0 || t.PkgPath() != "" {
		return ""
	}
	return t.Field(0).Tag
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

// verbs prepares a format and its operands, one for each use: for %T an interpreted operand becomes the name of its
// type, for %p one that writes its address, for %w an error if the call wraps errors, and for * an integer.
// Operands without verbs are written out.
func verbs(format string, args []any, wraps bool) (string, []any) {
	var list []any
	var b strings.Builder
	n, ordered := 0, true // index of the next operand
	for i := 0; i < len(format); i++ {
		if format[i] != '%' {
			b.WriteByte(format[i])
			continue
		}
		spec := []byte{'%'}
		missing := false
	flags:
		for i++; i < len(format); i++ {
			switch c := format[i]; {
			case c == '*':
				if missing = missing || n >= len(args); !missing {
					list = append(list, integer(args[n]))
				}
				n++
				spec = append(spec, c)
			case c == '[':
				end := strings.IndexByte(format[i:], ']')
				if end < 0 {
					break flags
				}
				if at, err := strconv.Atoi(format[i+1 : i+end]); err == nil && at > 0 && at <= len(args) {
					n = at - 1
				} else {
					spec = append(spec, "[0]"...) // a bad index
				}
				ordered = false
				i += end
			case strings.IndexByte("+-# 0123456789.", c) >= 0:
				spec = append(spec, c)
			default:
				break flags
			}
		}
		if i >= len(format) {
			b.WriteString("%%!(NOVERB)") // in which package fmt would see the text for operands without verbs
			break
		}
		verb := format[i]
		switch {
		case verb == '%' || bytes.HasSuffix(spec, []byte("[0]")):
		case missing || n >= len(args):
			if verb < utf8.RuneSelf {
				spec = []byte("%%!" + string(rune(verb)) + "(MISSING")
				verb = ')'
			}
		default:
			var x any
			x, verb = forVerb(args[n], operand(args[n]), verb, wraps)
			list = append(list, x)
			n++
		}
		b.Write(append(spec, verb))
	}
	if ordered && n < len(args) {
		b.WriteString(strings.ReplaceAll(extra(args[n:]), "%", "%%"))
	}
	return b.String(), list
}

// integer returns an operand that is a width or a precision as package fmt reads it.
func integer(v any) any {
	if r, _ := Open(v); r.CanInt() || r.CanUint() {
		return bare(r)
	}
	return v
}

// forVerb returns what package fmt gets for the operand v, which is shown as x, and for its verb.
func forVerb(v, x any, verb byte, wraps bool) (any, byte) {
	if _, ours := x.(shown); !ours {
		return x, verb
	}
	switch verb {
	case 'T':
		return Name(v), 's'
	case 'p':
		return instead{v, 'p'}, 'v'
	case 'w':
		if e, ok := asError(v); wraps && ok {
			return e, verb
		}
		return instead{v, 'w'}, 'v'
	}
	return x, verb
}

// extra returns what package fmt writes for operands without verbs.
func extra(args []any) string {
	var list []string
	for _, a := range args {
		if a == nil {
			list = append(list, "<nil>")
		} else {
			list = append(list, Name(a)+"="+Sprint(a))
		}
	}
	return "%!(EXTRA " + strings.Join(list, ", ") + ")"
}

// asError returns a value as an error for compiled code.
func asError(v any) (any, bool) {
	if e, ok := v.(error); ok {
		return e, true
	}
	return As(v, reflect.TypeFor[error](), reflect.TypeFor[Error]())
}

package dynamic

import (
	"fmt"
	"io"
	"reflect"
	"slices"
	"strconv"
	"strings"
	"unsafe"

	"halfnote/interp/internal/mapaccess"
)

// shown is an operand that formats itself as package fmt would if it knew interpreted types.
type shown struct{ v any }

// Format implements fmt.Formatter.
func (s shown) Format(st fmt.State, verb rune) {
	newPrinter(st, verb).operand(s.v)
}

// instead is an operand that formats itself with a verb that package fmt gives to no Formatter.
type instead struct {
	v    any
	verb rune
}

// Format implements fmt.Formatter. It is called with the verb v.
func (s instead) Format(st fmt.State, _ rune) {
	p := newPrinter(st, s.verb)
	r, t := Open(s.v)
	switch {
	case s.verb == 'p' && r.IsValid():
		p.pointer(r, t)
	default:
		p.badVerb(r, t)
	}
}

// printer writes one operand with one verb. Its methods follow those of package fmt, with descriptions of
// types in the place of reflect's.
type printer struct {
	fmt.State
	verb        rune
	sharp, plus bool // whether values are written as Go source, and structs with the names of fields
	bad         bool // whether it writes a value for which the verb is wrong: without methods
}

func newPrinter(st fmt.State, verb rune) printer {
	v := verb == 'v' || verb == 'w'
	return printer{State: st, verb: verb, sharp: v && st.Flag('#'), plus: v && st.Flag('+')}
}

func (p printer) text(s string) { io.WriteString(p.State, s) }

// leaf writes a value of a compiled type, with a verb and the flags of the printer.
func (p printer) leaf(v any, verb rune) { fmt.Fprintf(p.State, fmt.FormatString(p.State, verb), v) }

// access is what package reflect grants a value: whether package fmt calls its methods.
type access int

const (
	open   access = iota
	nested        // in an unexported embedded field, whose exported fields are open
	closed        // in another unexported field
)

// field returns the access to a field.
func (a access) field(f reflect.StructField) access {
	switch {
	case a == closed || !f.IsExported() && !f.Anonymous:
		return closed
	case !f.IsExported():
		return nested
	}
	return open
}

// element returns the access to elements and to what a pointer or an interface refers to.
func (a access) element() access {
	if a == open {
		return open
	}
	return closed
}

func (p printer) operand(v any) {
	r, t := Open(v)
	switch {
	case r.IsValid():
		p.value(r, t, 0, open)
	case p.verb == 'v':
		p.padded("<nil>")
	default:
		p.badVerb(r, t)
	}
}

// value writes a value of type t, which is nil if it is that of v. depth is the number of steps from the operand.
func (p printer) value(v reflect.Value, t *Type, depth int, a access) {
	if v.Kind() == reflect.Interface {
		p.content(v, t, depth, a)
		return
	}
	if w, ok := v.Interface().(Wrapper); ok {
		v, t = Open(w)
	}
	f := form{t, v.Type()}.described()
	if a == open && !p.bad && p.byMethod(v, f.t, depth) {
		return
	}
	switch v.Kind() {
	case reflect.Struct:
		p.structure(v, f, depth, a)
	case reflect.Map:
		p.table(v, f, depth, a.element())
	case reflect.Slice, reflect.Array:
		p.list(v, f, depth, a.element())
	case reflect.Pointer:
		if depth == 0 && !v.IsNil() {
			switch v.Elem().Kind() {
			case reflect.Array, reflect.Slice, reflect.Struct, reflect.Map:
				p.text("&")
				p.value(v.Elem(), f.elem().t, depth+1, a.element())
				return
			}
		}
		p.pointer(v, f.t)
	case reflect.Chan, reflect.Func, reflect.UnsafePointer:
		p.pointer(v, f.t)
	default:
		p.basic(v, f.t)
	}
}

// content writes what an interface of type t holds.
func (p printer) content(v reflect.Value, t *Type, depth int, a access) {
	switch {
	case !v.IsNil():
		r, d := Open(v.Elem().Interface())
		p.value(r, d, depth+1, a)
	case p.sharp:
		p.text(nameOf(v.Type(), t) + "(nil)")
	default:
		p.text("<nil>")
	}
}

// around writes parts between an opening and a closing text.
func (p printer) around(open, end string, n int, part func(i int)) {
	space := " "
	if p.sharp {
		space = ", "
	}
	p.text(open)
	for i := range n {
		if i > 0 {
			p.text(space)
		}
		part(i)
	}
	p.text(end)
}

func (p printer) structure(v reflect.Value, f form, depth int, a access) {
	opening := "{"
	if p.sharp {
		opening = nameOf(f.r, f.t) + "{"
	}
	p.around(opening, "}", v.NumField(), func(i int) {
		e, s := f.field(i)
		if p.sharp || p.plus {
			p.text(s.Name + ":")
		}
		x := v.Field(i)
		if !x.CanInterface() { // of a compiled type
			if !v.CanAddr() {
				v = copied(v)
				x = v.Field(i)
			}
			x = reflect.NewAt(x.Type(), unsafe.Pointer(x.UnsafeAddr())).Elem()
		}
		p.value(x, e.t, depth+1, a.field(s))
	})
}

func (p printer) list(v reflect.Value, f form, depth int, a access) {
	opening, end := "[", "]"
	switch p.verb {
	case 's', 'q', 'x', 'X':
		if v.Type().Elem().Kind() == reflect.Uint8 {
			b := make([]byte, v.Len())
			reflect.Copy(reflect.ValueOf(b), v)
			p.leaf(b, p.verb)
			return
		}
	}
	if p.sharp {
		opening, end = nameOf(f.r, f.t)+"{", "}"
		if v.Kind() == reflect.Slice && v.IsNil() {
			p.text(nameOf(f.r, f.t) + "(nil)")
			return
		}
	}
	e := f.elem()
	p.around(opening, end, v.Len(), func(i int) { p.value(v.Index(i), e.t, depth+1, a) })
}

func (p printer) table(v reflect.Value, f form, depth int, a access) {
	opening, end := "map[", "]"
	if p.sharp {
		opening, end = nameOf(f.r, f.t)+"{", "}"
		if v.IsNil() {
			p.text(nameOf(f.r, f.t) + "(nil)")
			return
		}
	}
	list := mapaccess.Entries(v)
	slices.SortStableFunc(list, func(a, b mapaccess.Entry) int { return order(a.Key, b.Key) })
	k, e := f.key(), f.elem()
	p.around(opening, end, len(list), func(i int) {
		p.value(list[i].Key, k.t, depth+1, a)
		p.text(":")
		p.value(list[i].Value, e.t, depth+1, a)
	})
}

// verbsOf are the verbs for values of each kind.
var verbsOf = func() map[reflect.Kind]string {
	m := map[reflect.Kind]string{reflect.Bool: "tv", reflect.String: "vsxXq"}
	for k := reflect.Int; k <= reflect.Uintptr; k++ {
		m[k] = "vdboOxXcqU"
	}
	for k := reflect.Float32; k <= reflect.Complex128; k++ {
		m[k] = "vbgGxXfFeE"
	}
	return m
}()

// basic writes a value of a basic type.
func (p printer) basic(v reflect.Value, t *Type) {
	switch {
	case !strings.ContainsRune(verbsOf[v.Kind()], p.verb):
		p.badVerb(v, t)
	case p.bad && !p.sharp && !p.plus: // v would give flags another meaning
		p.leaf(bare(v), plainVerb[verbsOf[v.Kind()]])
	default:
		p.leaf(bare(v), p.verb)
	}
}

// plainVerb are the verbs that write like v.
var plainVerb = map[string]rune{"tv": 't', "vsxXq": 's', "vdboOxXcqU": 'd', "vbgGxXfFeE": 'g'}

// bare returns a value of a basic kind without the methods of its type.
func bare(v reflect.Value) any {
	if t, ok := basic[v.Kind()]; ok {
		return v.Convert(t).Interface()
	}
	return v.Interface()
}

var basic = func() map[reflect.Kind]reflect.Type {
	m := map[reflect.Kind]reflect.Type{}
	for _, v := range []any{false, "", 0, int8(0), int16(0), int32(0), int64(0), uint(0), uint8(0), uint16(0), uint32(0), uint64(0), uintptr(0),
		float32(0), float64(0), complex64(0), complex128(0)} {
		m[reflect.TypeOf(v).Kind()] = reflect.TypeOf(v)
	}
	return m
}()

// badVerb writes a value for which the verb is wrong.
func (p printer) badVerb(v reflect.Value, t *Type) {
	p.text("%!" + string(p.verb) + "(")
	if v.IsValid() {
		p.text(nameOf(v.Type(), t) + "=")
		p.bad, p.verb = true, 'v'
		p.value(v, t, 0, closed)
	} else {
		p.text("<nil>")
	}
	p.text(")")
}

// pointer writes the address in a pointer, channel or function and, for the verb p, in a map or slice.
func (p printer) pointer(v reflect.Value, t *Type) {
	var at uintptr
	switch v.Kind() {
	case reflect.Chan, reflect.Func, reflect.Map, reflect.Pointer, reflect.Slice, reflect.UnsafePointer:
		at = v.Pointer()
	default:
		p.badVerb(v, t)
		return
	}
	switch p.verb {
	case 'v':
		switch {
		case p.sharp && at == 0:
			p.text("(" + nameOf(v.Type(), t) + ")(nil)")
		case p.sharp:
			p.text("(" + nameOf(v.Type(), t) + ")(")
			p.hex(at, true)
			p.text(")")
		case at == 0:
			p.padded("<nil>")
		default:
			p.hex(at, !(p.bad && p.Flag('#')))
		}
	case 'p':
		p.hex(at, !p.Flag('#'))
	case 'b', 'o', 'd', 'x', 'X':
		p.leaf(at, p.verb)
	default:
		p.badVerb(v, t)
	}
}

// flags returns the width, the precision if it is wanted, and the flags that are set, of those in set.
func (p printer) flags(set string, precision bool) string {
	s := ""
	for _, c := range set {
		if p.Flag(int(c)) {
			s += string(c)
		}
	}
	if n, ok := p.Width(); ok {
		s += strconv.Itoa(n)
	}
	if n, ok := p.Precision(); ok && precision {
		s += "." + strconv.Itoa(n)
	}
	return s
}

func (p printer) hex(at uintptr, leading bool) {
	flags := p.flags("- 0", true)
	if !p.plus && p.Flag('+') {
		flags = "+" + flags
	}
	if leading {
		flags = "#" + flags
	}
	fmt.Fprintf(p.State, "%"+flags+"x", at)
}

// padded writes a text in the width.
func (p printer) padded(s string) { fmt.Fprintf(p.State, "%"+p.flags("-0", false)+"s", s) }

// byMethod lets a value of type t format itself, and reports whether it does.
func (p printer) byMethod(v reflect.Value, t *Type, depth int) (done bool) {
	if t == nil || t.Kind == reflect.Invalid {
		x := v.Interface()
		if done = p.formats(x); done {
			if r, ok := x.(reflect.Value); ok && depth > 0 { // package fmt would write its content
				x = r.String()
			}
			p.leaf(x, p.verb)
		}
		return done
	}
	x := t.In(v)
	if p.call(v, t, "Format", func(m any) bool {
		f, ok := m.(func(any, fmt.State, rune))
		if ok {
			f(x, p.State, p.verb)
		}
		return ok
	}) {
		return true
	}
	text := func(write func(string)) func(any) bool {
		return func(m any) bool {
			f, ok := m.(func(any) string)
			if ok {
				write(f(x))
			}
			return ok
		}
	}
	if p.sharp {
		return p.call(v, t, "GoString", text(func(s string) { fmt.Fprintf(p.State, "%"+p.flags("-0", true)+"s", s) }))
	}
	switch p.verb {
	case 'v', 's', 'x', 'X', 'q':
		write := text(func(s string) { p.leaf(s, p.verb) })
		return p.call(v, t, "Error", write) || p.call(v, t, "String", write)
	}
	return false
}

// call lets use call a method of v, if there is one, and writes a panic as package fmt does.
func (p printer) call(v reflect.Value, t *Type, name string, use func(method any) bool) (done bool) {
	defer func() {
		if r := recover(); r != nil {
			p.panicked(v, name, r)
			done = true
		}
	}()
	return use(MethodOf(t.In(v), name))
}

// formats reports whether package fmt lets a value of a compiled type format itself.
func (p printer) formats(v any) bool {
	if _, ok := v.(fmt.Formatter); ok {
		return true
	}
	if p.sharp {
		_, ok := v.(fmt.GoStringer)
		return ok
	}
	switch p.verb {
	case 'v', 's', 'x', 'X', 'q':
		switch v.(type) {
		case error, fmt.Stringer:
			return true
		}
	}
	return false
}

// panicked writes a panic of a method as package fmt does.
func (p printer) panicked(v reflect.Value, method string, r any) {
	if v.Kind() == reflect.Pointer && v.IsNil() {
		p.text("<nil>")
		return
	}
	if x, ok := r.(reflect.Value); ok && x.IsValid() && x.CanInterface() {
		r = x.Interface()
	}
	p.text("%!" + string(p.verb) + "(PANIC=" + method + " method: " + Sprint(r) + ")")
}

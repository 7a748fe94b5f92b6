package dynamic

import (
	"cmp"
	"fmt"
	"io"
	"reflect"
	"slices"

	"halfnote/interp/internal/mapaccess"
)

// shown is an operand that formats itself as package fmt would if it knew interpreted types.
type shown struct{ v any }

// Format implements fmt.Formatter.
func (s shown) Format(st fmt.State, verb rune) {
	p := printer{st, verb}
	r, t := Open(s.v)
	p.value(r, t, 0, true)
}

type printer struct {
	fmt.State
	verb rune
}

func (p printer) text(s string) { io.WriteString(p.State, s) }

// leaf writes a value of a compiled type, with the verb and its flags.
func (p printer) leaf(v any) { fmt.Fprintf(p.State, fmt.FormatString(p.State, p.verb), v) }

func (p printer) sharp() bool { return p.verb == 'v' && p.Flag('#') }

// value writes a value like printValue of package fmt. methods is false in unexported
// fields.
func (p printer) value(v reflect.Value, t *Type, depth int, methods bool) {
	if !v.IsValid() {
		p.leaf(nil)
		return
	}
	if t == nil || t.Kind == reflect.Invalid {
		p.compiled(v, depth, methods)
		return
	}
	if methods && t.Kind != reflect.Interface && p.byMethod(v, t) {
		return
	}
	switch t.Kind {
	case reflect.Struct:
		if p.sharp() {
			p.text(t.Name)
		}
		p.text("{")
		for i, f := range t.Fields {
			p.separate(i)
			if p.sharp() || p.verb == 'v' && p.Flag('+') {
				p.text(f.Name + ":")
			}
			p.value(v.Field(i), f.Type, depth+1, methods && f.Exported)
		}
		p.text("}")
	case reflect.Interface:
		if v.Kind() == reflect.Interface {
			v = v.Elem()
		}
		if v.IsValid() {
			r, d := Open(v.Interface())
			p.value(r, d, depth+1, methods)
		} else if p.sharp() {
			p.text(t.Name + "(nil)")
		} else {
			p.nothing()
		}
	case reflect.Map:
		p.table(v, t, depth, methods)
	case reflect.Slice, reflect.Array:
		p.list(v, t, depth, methods)
	case reflect.Pointer:
		if depth == 0 && !v.IsNil() {
			switch v.Elem().Kind() {
			case reflect.Array, reflect.Slice, reflect.Struct, reflect.Map:
				p.text("&")
				p.value(v.Elem(), t.Elem, depth+1, methods)
				return
			}
		}
		p.address(v, t)
	case reflect.Chan, reflect.Func, reflect.UnsafePointer:
		p.address(v, t)
	default:
		p.leaf(bare(v, t.Kind))
	}
}

func (p printer) separate(i int) {
	switch {
	case i == 0:
	case p.sharp():
		p.text(", ")
	default:
		p.text(" ")
	}
}

func (p printer) nothing() { printer{p.State, 's'}.leaf("<nil>") }

// compiled writes a value of a compiled type, which may contain interpreted values.
func (p printer) compiled(v reflect.Value, depth int, methods bool) {
	for v.Kind() == reflect.Interface {
		if v.IsNil() {
			if p.sharp() {
				p.text(typeName(v.Type()) + "(nil)")
			} else {
				p.nothing()
			}
			return
		}
		r, t := Open(v.Interface())
		if t != nil {
			p.value(r, t, depth, methods)
			return
		}
		v = r
		depth++
	}
	if w, ok := v.Interface().(Wrapper); ok {
		r, t := Open(w)
		p.value(r, t, depth, methods)
		return
	}
	t := v.Type()
	if depth > 0 && (!methods || !special(v.Interface())) {
		switch v.Kind() {
		case reflect.Pointer, reflect.Chan, reflect.Func, reflect.UnsafePointer:
			p.address(v, &Type{Name: t.String()})
			return
		}
	}
	if special(v.Interface()) && methods || !holds(t) {
		if !methods {
			p.leaf(bare(v, v.Kind()))
			return
		}
		p.leaf(v.Interface())
		return
	}
	d := &Type{Name: typeName(t), Kind: v.Kind()}
	switch v.Kind() {
	case reflect.Slice, reflect.Array:
		d.Elem = Of(t.Elem())
		p.list(v, d, depth, methods)
	case reflect.Map:
		d.Key, d.Elem = Of(t.Key()), Of(t.Elem())
		p.table(v, d, depth, methods)
	case reflect.Pointer:
		p.text("&")
		p.value(v.Elem(), Of(t.Elem()), depth+1, methods)
	case reflect.Struct:
		for i := range t.NumField() {
			f := t.Field(i)
			d.Fields = append(d.Fields, Field{Name: f.Name, Exported: true, Type: &Type{Name: f.Type.String()}})
			if o := Of(f.Type); o != nil {
				d.Fields[i].Type = o
			}
		}
		p.value(v, d, depth, false)
	default:
		p.leaf(v.Interface())
	}
}

func typeName(t reflect.Type) string { return t.String() }

// special reports whether package fmt lets a value format itself.
func special(v any) bool {
	switch v.(type) {
	case fmt.Formatter, error, fmt.Stringer, fmt.GoStringer:
		return true
	}
	return false
}

func (p printer) list(v reflect.Value, t *Type, depth int, methods bool) {
	switch p.verb {
	case 's', 'q', 'x', 'X':
		if v.Type().Elem().Kind() == reflect.Uint8 && v.Kind() == reflect.Slice {
			p.leaf(v.Bytes())
			return
		}
	}
	open, end := "[", "]"
	if p.sharp() {
		p.text(t.Name)
		if v.Kind() == reflect.Slice && v.IsNil() {
			p.text("(nil)")
			return
		}
		open, end = "{", "}"
	}
	p.text(open)
	for i := range v.Len() {
		p.separate(i)
		p.value(v.Index(i), t.Elem, depth+1, methods)
	}
	p.text(end)
}

func (p printer) table(v reflect.Value, t *Type, depth int, methods bool) {
	open, end := "map[", "]"
	if p.sharp() {
		p.text(t.Name)
		if v.IsNil() {
			p.text("(nil)")
			return
		}
		open, end = "{", "}"
	}
	list := mapaccess.Entries(v)
	slices.SortStableFunc(list, func(a, b mapaccess.Entry) int { return order(a.Key, b.Key) })
	p.text(open)
	for i, e := range list {
		p.separate(i)
		p.value(e.Key, t.Key, depth+1, methods)
		p.text(":")
		p.value(e.Value, t.Elem, depth+1, methods)
	}
	p.text(end)
}

// order returns a map's keys in the order of package fmt.
func order(a, b reflect.Value) int {
	if a.Kind() == reflect.Interface || b.Kind() == reflect.Interface {
		if a.Kind() == reflect.Interface {
			a = a.Elem()
		}
		if b.Kind() == reflect.Interface {
			b = b.Elem()
		}
		if !a.IsValid() || !b.IsValid() {
			return cmp.Compare(boolInt(a.IsValid()), boolInt(b.IsValid()))
		}
		if x, t := Open(a.Interface()); t != nil {
			a = x
		}
		if x, t := Open(b.Interface()); t != nil {
			b = x
		}
	}
	if a.Kind() != b.Kind() {
		return cmp.Compare(a.Kind(), b.Kind())
	}
	switch {
	case a.CanInt():
		return cmp.Compare(a.Int(), b.Int())
	case a.CanUint():
		return cmp.Compare(a.Uint(), b.Uint())
	case a.CanFloat():
		return cmp.Compare(a.Float(), b.Float())
	case a.CanComplex():
		return cmp.Or(cmp.Compare(real(a.Complex()), real(b.Complex())), cmp.Compare(imag(a.Complex()), imag(b.Complex())))
	}
	switch a.Kind() {
	case reflect.String:
		return cmp.Compare(a.String(), b.String())
	case reflect.Bool:
		return cmp.Compare(boolInt(a.Bool()), boolInt(b.Bool()))
	case reflect.Pointer, reflect.Chan, reflect.UnsafePointer:
		return cmp.Compare(a.Pointer(), b.Pointer())
	case reflect.Struct:
		for i := range a.NumField() {
			if c := order(a.Field(i), b.Field(i)); c != 0 {
				return c
			}
		}
	case reflect.Array:
		for i := range a.Len() {
			if c := order(a.Index(i), b.Index(i)); c != 0 {
				return c
			}
		}
	}
	return 0
}

func boolInt(b bool) int {
	if b {
		return 1
	}
	return 0
}

// address writes a pointer, channel or function.
func (p printer) address(v reflect.Value, t *Type) {
	u := v.Pointer()
	switch {
	case p.sharp():
		if u == 0 {
			p.text("(" + t.Name + ")(nil)")
		} else {
			fmt.Fprintf(p.State, "(%s)(%#x)", t.Name, u)
		}
	case p.verb != 'v':
		p.leaf(u)
	case u == 0:
		p.nothing()
	default:
		fmt.Fprintf(p.State, "%#x", u)
	}
}

// bare returns a value of a basic type without the type's methods.
func bare(v reflect.Value, k reflect.Kind) any {
	if t, ok := basic[k]; ok && v.CanConvert(t) {
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

// byMethod lets a value format itself, and reports whether it does.
func (p printer) byMethod(v reflect.Value, t *Type) (done bool) {
	x := t.In(v)
	if f, ok := MethodOf(x, "Format").(func(any, fmt.State, rune)); ok {
		defer p.caught(v, "Format", &done)
		f(x, p.State, p.verb)
		return true
	}
	if p.sharp() {
		if f, ok := MethodOf(x, "GoString").(func(any) string); ok {
			defer p.caught(v, "GoString", &done)
			p.text(f(x))
			return true
		}
		return false
	}
	switch p.verb {
	case 'v', 's', 'x', 'X', 'q':
		for _, name := range []string{"Error", "String"} {
			if f, ok := MethodOf(x, name).(func(any) string); ok {
				defer p.caught(v, name, &done)
				p.leaf(f(x))
				return true
			}
		}
	}
	return false
}

// caught formats the panic of a method as package fmt does.
func (p printer) caught(v reflect.Value, method string, done *bool) {
	r := recover()
	if r == nil {
		return
	}
	*done = true
	if v.Kind() == reflect.Pointer && v.IsNil() {
		p.text("<nil>")
		return
	}
	if x, ok := r.(reflect.Value); ok && x.IsValid() && x.CanInterface() {
		r = x.Interface()
	}
	p.text("%!" + string(p.verb) + "(PANIC=" + method + " method: " + Sprint(r) + ")")
}

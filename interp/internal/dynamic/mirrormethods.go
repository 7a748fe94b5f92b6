package dynamic

import (
	"cmp"
	"go/token"
	"maps"
	"reflect"
	"slices"

	"halfnote/interp/internal/typemaker"
)

// method is an exported method of a mirror.
type method struct {
	name    string
	pointer bool // whether the receiver must be a pointer
	sig     form // without the receiver
	skip    int  // parameters before those of the method in the sig's reflect type
}

// holder is a type whose methods and fields a struct has: itself, or an embedded field.
type holder struct {
	form
	pointer bool // whether it is reached through a pointer
}

// methods lists the exported methods of a type and of its embedded fields by name, under
// Go's rules for promotion.
func (f form) methods() []method {
	found := map[string]method{}
	hidden := map[string]bool{}
	level := []holder{{form: f}}
	for depth := 0; len(level) > 0 && depth < 8; depth++ {
		var next []holder
		here := map[string][]method{}
		fields := map[string]bool{}
		for _, h := range level {
			if h.r.Kind() == reflect.Pointer && (h.t == nil || !h.t.Named) {
				h.form, h.pointer = h.elem(), true
			}
			for _, m := range h.own() {
				here[m.name] = append(here[m.name], m)
			}
			if h.compiled() || h.r.Kind() != reflect.Struct {
				continue
			}
			for i := range h.r.NumField() {
				e, s := h.field(i)
				fields[s.Name] = true
				if s.Anonymous {
					next = append(next, holder{e, h.pointer})
				}
			}
		}
		for name, list := range here {
			if !hidden[name] && len(list) == 1 && !fields[name] {
				found[name] = list[0]
			}
			hidden[name] = true
		}
		for name := range fields {
			hidden[name] = true
		}
		level = next
	}
	return slices.SortedFunc(maps.Values(found), func(a, b method) int { return cmp.Compare(a.name, b.name) })
}

// own lists the methods of the type without those of the fields that interpreted code embeds.
func (h holder) own() (list []method) {
	if h.compiled() {
		if h.r.Kind() == reflect.Interface {
			for i := range h.r.NumMethod() {
				m := h.r.Method(i)
				list = append(list, method{m.Name, false, form{nil, m.Type}, 0})
			}
			return list
		}
		p := reflect.PointerTo(h.r)
		for i := range p.NumMethod() {
			m := p.Method(i)
			_, value := h.r.MethodByName(m.Name)
			list = append(list, method{m.Name, !value && !h.pointer, form{nil, m.Type}, 1})
		}
		return list
	}
	if h.t == nil {
		return nil
	}
	h.t.mu.Lock()
	defer h.t.mu.Unlock()
	for name, m := range h.t.has {
		if token.IsExported(name) {
			list = append(list, method{name, m.value == nil && !h.pointer, form{h.t.space.lookup(m.sig), reflect.TypeOf(m.pointer)}, 1})
		}
	}
	return list
}

// params returns the forms of the parameters.
func (m method) params() (list []form) {
	for i := m.skip; i < m.sig.r.NumIn(); i++ {
		f := form{nil, m.sig.r.In(i)}
		if m.sig.t != nil && i-m.skip < len(m.sig.t.Params) {
			f.t = m.sig.t.Params[i-m.skip]
		}
		list = append(list, f.described())
	}
	return list
}

// show returns the method for a mirror.
func (m method) show() typemaker.Method {
	params := m.params()
	var in, out []reflect.Type
	var results []form
	for _, p := range params {
		in = append(in, p.mirror())
	}
	for i := range m.sig.r.NumOut() {
		results = append(results, m.sig.out(i))
		out = append(out, results[i].mirror())
	}
	call := func(args []reflect.Value) []reflect.Value {
		x := returned(args[0])
		g := Call(x, m.name)
		if g == nil {
			panic(errNil)
		}
		if d := Of(reflect.TypeOf(Unwrap(x))); d != nil && d.space != nil && d.space.Through != nil {
			d.space.Through()
		}
		list := []reflect.Value{reflect.ValueOf(&x).Elem()}
		for i, a := range args[1:] {
			list = append(list, params[i].take(a))
		}
		fn := reflect.ValueOf(g)
		var got []reflect.Value
		if fn.Type().IsVariadic() {
			got = fn.CallSlice(list)
		} else {
			got = fn.Call(list)
		}
		for i, v := range got {
			got[i] = results[i].lend(v, out[i], newLender())
		}
		return got
	}
	return typemaker.Method{Name: m.name, Pointer: m.pointer, Type: reflect.FuncOf(in, out, m.sig.r.IsVariadic()), Func: call}
}

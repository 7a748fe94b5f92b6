package yaegi

import (
	"go/token"
	"reflect"
	"unsafe"

	"halfnote/interp/internal/words"
)

//go:linkname getExec github.com/traefik/yaegi/interp.getExec
func getExec(node unsafe.Pointer) run

//go:linkname getFrame github.com/traefik/yaegi/interp.getFrame
func getFrame(frame unsafe.Pointer, level int) unsafe.Pointer

//go:linkname genValueArray github.com/traefik/yaegi/interp.genValueArray
func genValueArray(node unsafe.Pointer) func(frame unsafe.Pointer) reflect.Value

//go:linkname genValueInt github.com/traefik/yaegi/interp.genValueInt
func genValueInt(node unsafe.Pointer) func(frame unsafe.Pointer) (reflect.Value, int64)

//go:linkname vInt github.com/traefik/yaegi/interp.vInt
func vInt(v reflect.Value) int64

// constant returns the value of a node that is a constant; it is not valid for others.
func (m *guards) constant(n unsafe.Pointer) reflect.Value { return *at[reflect.Value](n, m.rval) }

// place returns what sets the value of a node in a frame.
func (m *guards) place(n unsafe.Pointer) func(frame unsafe.Pointer, v reflect.Value) {
	index, level := *at[int](n, m.findex), *at[int](n, m.level)
	return func(f unsafe.Pointer, v reflect.Value) {
		if level != 0 {
			f = getFrame(f, level)
		}
		(*at[[]reflect.Value](f, m.data))[index] = v
	}
}

// element generates the code of s[i], which differs from Yaegi's in its test.
func (m *guards) element(n unsafe.Pointer) {
	list, i := genValueArray(m.child(n, 0)), m.child(n, 1)
	set, pos := m.place(n), *at[token.Pos](i, m.pos)
	next, exec := getExec(*m.tree.node(n, "tnext")), at[run](n, m.exec)
	var variable func(unsafe.Pointer) (reflect.Value, int64)
	constant := int64(0)
	if c := m.constant(i); c.IsValid() {
		constant = vInt(c)
	} else {
		variable = genValueInt(i)
	}
	value := func(f unsafe.Pointer) reflect.Value {
		i := constant
		if variable != nil {
			_, i = variable(f)
		}
		s := list(f)
		if n := s.Len(); uint64(i) >= uint64(n) {
			m.failing(pos)
			signed := variable == nil
			if !signed {
				v, _ := variable(f)
				signed = v.CanInt()
			}
			words.Index(i, signed, n)
		}
		return s.Index(int(i))
	}
	other := *m.tree.node(n, "fnext")
	if other == nil {
		*exec = func(f unsafe.Pointer) run {
			set(f, value(f))
			return next
		}
		return
	}
	otherwise := getExec(other)
	*exec = func(f unsafe.Pointer) run {
		v := value(f)
		set(f, v)
		if v.Bool() {
			return next
		}
		return otherwise
	}
}

// part generates the code of a slice expression, which has its first bound if low is true.
func (m *guards) part(n unsafe.Pointer, low bool) {
	list, next, set := genValueArray(m.child(n, 0)), getExec(*m.tree.node(n, "tnext")), m.place(n)
	var bounds [3]func(unsafe.Pointer) reflect.Value
	given := bounds[:]
	if !low {
		given = given[1:]
	}
	pos := token.NoPos
	for i, c := range m.tree.nodes(n, "child")[1:] {
		given[i] = genValue(c)
		if i == 0 {
			pos = *at[token.Pos](c, m.pos)
		}
	}
	first, second, third := bounds[0], bounds[1], bounds[2]
	*at[run](n, m.exec) = func(f unsafe.Pointer) run {
		s := list(f)
		low, high := 0, s.Len()
		limit, hasCap := high, s.Kind() == reflect.Slice
		if hasCap {
			limit = s.Cap()
		}
		if first != nil {
			low = int(vInt(first(f)))
		}
		if second != nil {
			high = int(vInt(second(f)))
		}
		most := limit
		if third != nil {
			most = int(vInt(third(f)))
		}
		if uint(low) > uint(high) || uint(high) > uint(most) || uint(most) > uint(limit) {
			m.failing(pos)
			if third != nil {
				words.Slice3(low, high, most, limit, hasCap)
			}
			words.Slice(low, high, limit, hasCap)
		}
		if third != nil {
			set(f, s.Slice3(low, high, most))
		} else {
			set(f, s.Slice(low, high))
		}
		return next
	}
}

// counted makes a shift test its count.
func (m *guards) counted(n unsafe.Pointer) {
	count, pos, exec := genValue(m.child(n, 1)), *at[token.Pos](m.child(n, 1), m.pos), at[run](n, m.exec)
	original := *exec
	*exec = func(f unsafe.Pointer) run {
		if v := count(f); v.CanInt() && v.Int() < 0 {
			m.failing(pos)
			words.ShiftCount(v.Int())
		}
		return original(f)
	}
}

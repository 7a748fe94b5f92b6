package interp

import (
	"fmt"
	"go/types"
	"reflect"

	"halfnote/display"
	"halfnote/interp/internal/dynamic"
)

// maxRows is the maximum number of rows of a table.
const maxRows = 50

// records returns a slice of structs of the session as an HTML table, as display.Of returns
// other slices of structs: a row for each element and a column for each field. Structs and
// slices that have their own text are not shown as tables.
func (s *Session) records(c *cell, v reflect.Value, t types.Type, w func() *writer) (html string, ok bool) {
	for v.IsValid() && v.Kind() == reflect.Interface {
		v = v.Elem()
	}
	var elem types.Type
	switch u := t.Underlying().(type) {
	case *types.Slice:
		elem = u.Elem()
	case *types.Array:
		elem = u.Elem()
	default:
		return "", false
	}
	if !v.IsValid() || v.Kind() != reflect.Slice && v.Kind() != reflect.Array || v.Len() == 0 || hasText(t) || hasText(elem) {
		return "", false
	}
	list, pointers := elem.Underlying(), false
	if p, ok := list.(*types.Pointer); ok {
		list, pointers = p.Elem().Underlying(), true
	}
	st, ok := list.(*types.Struct)
	if !ok || st.NumFields() == 0 {
		return "", false
	}
	d := s.dynamicType(c, elem)
	if pointers {
		d = d.Elem
	}
	if len(d.Fields) != st.NumFields() {
		return "", false
	}
	head := []string{""}
	for f := range st.Fields() {
		head = append(head, f.Name())
	}
	var rows [][]any
	for i := range min(v.Len(), maxRows) {
		row, e := []any{i}, v.Index(i)
		for e.IsValid() && (e.Kind() == reflect.Interface || e.Kind() == reflect.Pointer) {
			e = e.Elem()
		}
		if e.IsValid() {
			if e.Kind() != reflect.Struct || e.NumField() != st.NumFields() {
				return "", false
			}
			for j := range st.NumFields() {
				row = append(row, s.tableCell(c, fieldOf(e, j), st.Field(j).Type(), d.Fields[j].Type, w))
			}
		}
		rows = append(rows, row)
	}
	if n := v.Len() - len(rows); n > 0 {
		rows = append(rows, []any{fmt.Sprintf("… %d more", n)})
	}
	html, ok = display.Table(head, rows).Data["text/html"].(string)
	return html, ok
}

// tableCell returns the value of a field, or its text if only the session knows its type.
func (s *Session) tableCell(c *cell, v reflect.Value, t types.Type, d *dynamic.Type, w func() *writer) any {
	if v.CanInterface() && !s.packages.own(t, c.pkg) && !s.holdsOwn(v, 0) {
		return v.Interface()
	}
	if b, ok := t.Underlying().(*types.Basic); ok && b.Info()&types.IsNumeric != 0 && v.CanInterface() {
		return v.Interface()
	}
	x := w()
	x.value(v, d, 1)
	return x.String()
}

// hasText reports whether values of a type have a method that gives their text.
func hasText(t types.Type) bool {
	for _, name := range []string{"String", "Error"} {
		if o, _, _ := types.LookupFieldOrMethod(t, false, nil, name); o != nil {
			if f, ok := o.(*types.Func); ok && f.Signature().Params().Len() == 0 {
				return true
			}
		}
	}
	return false
}

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

// records returns a slice or map of the session as an HTML table, as display.Of returns others: a row for
// each element and a column for each field of structs. Values that have a text of their own are not
// shown as tables.
func (s *Session) records(c *cell, v reflect.Value, t types.Type, w func() *writer) (html string, ok bool) {
	for v.IsValid() && v.Kind() == reflect.Interface {
		v = v.Elem()
	}
	if !v.IsValid() || hasText(t) {
		return "", false
	}
	var head []string
	var rows [][]any
	switch u := t.Underlying().(type) {
	case *types.Slice:
		head, rows = s.sliceRows(c, v, u.Elem(), w)
	case *types.Array:
		head, rows = s.sliceRows(c, v, u.Elem(), w)
	case *types.Map:
		head, rows = s.mapRows(c, v, u, w)
	}
	if len(rows) == 0 {
		return "", false
	}
	if n := v.Len() - len(rows); n > 0 {
		rows = append(rows, []any{fmt.Sprintf("… %d more", n)})
	}
	html, ok = display.Table(head, rows).Data["text/html"].(string)
	return html, ok
}

// sliceRows returns a row for each of the first elements of a slice of structs, and no row for other slices.
func (s *Session) sliceRows(c *cell, v reflect.Value, elem types.Type, w func() *writer) (head []string, rows [][]any) {
	fields, ok := s.columns(c, elem)
	if !ok || v.Kind() != reflect.Slice && v.Kind() != reflect.Array {
		return nil, nil
	}
	for i := range min(v.Len(), maxRows) {
		cells, ok := s.fieldCells(c, v.Index(i), fields, w)
		if !ok {
			return nil, nil
		}
		rows = append(rows, append([]any{i}, cells...))
	}
	return append([]string{""}, fields.names()...), rows
}

// mapRows returns a row for each of the first entries of a map, in the order in which its text lists them.
func (s *Session) mapRows(c *cell, v reflect.Value, t *types.Map, w func() *writer) (head []string, rows [][]any) {
	if v.Kind() != reflect.Map {
		return nil, nil
	}
	fields, structs := s.columns(c, t.Elem())
	key, elem := s.dynamicType(c, t.Key()), s.dynamicType(c, t.Elem())
	for _, e := range w().entries(v, key, 1) {
		if len(rows) == maxRows {
			break
		}
		row := []any{s.tableCell(c, e.Key, t.Key(), key, w)}
		if structs {
			cells, ok := s.fieldCells(c, e.Value, fields, w)
			if !ok {
				return nil, nil
			}
			row = append(row, cells...)
		} else {
			row = append(row, s.tableCell(c, e.Value, t.Elem(), elem, w))
		}
		rows = append(rows, row)
	}
	if structs {
		return append([]string{"key"}, fields.names()...), rows
	}
	return []string{"key", "value"}, rows
}

// columns are the fields of a struct type that a table shows.
type columns struct {
	checked *types.Struct
	dynamic []dynamic.Field
}

func (f columns) names() (list []string) {
	for field := range f.checked.Fields() {
		list = append(list, field.Name())
	}
	return list
}

// columns returns the fields of a struct type without its own text, or of a pointer to one.
func (s *Session) columns(c *cell, t types.Type) (f columns, ok bool) {
	under, pointer := t.Underlying(), false
	if p, ok := under.(*types.Pointer); ok {
		under, pointer = p.Elem().Underlying(), true
	}
	st, ok := under.(*types.Struct)
	if !ok || st.NumFields() == 0 || hasText(t) {
		return f, false
	}
	d := s.dynamicType(c, t)
	if pointer {
		d = d.Elem
	}
	return columns{st, d.Fields}, len(d.Fields) == st.NumFields()
}

// fieldCells returns the fields of a struct, or nothing for a nil pointer. ok is false if e is not such a struct.
func (s *Session) fieldCells(c *cell, e reflect.Value, f columns, w func() *writer) (cells []any, ok bool) {
	for e.IsValid() && (e.Kind() == reflect.Interface || e.Kind() == reflect.Pointer) {
		e = e.Elem()
	}
	if !e.IsValid() {
		return nil, true
	}
	if e.Kind() != reflect.Struct || e.NumField() != f.checked.NumFields() {
		return nil, false
	}
	for j := range e.NumField() {
		cells = append(cells, s.tableCell(c, fieldOf(e, j), f.checked.Field(j).Type(), f.dynamic[j].Type, w))
	}
	return cells, true
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

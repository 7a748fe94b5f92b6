package render

import (
	"fmt"
	"reflect"
	"slices"

	"halfnote/display"
	"halfnote/interp/internal/dynamic"
	"halfnote/interp/internal/peek"
)

// maxRows is the maximum number of rows of a table.
const maxRows = 50

// records returns a slice or map as an HTML table, as display.Of returns others: a row for
// each element and a column for each field of structs. Values that have a text of their own are not
// shown as tables.
func records(v reflect.Value, t *dynamic.Type, w func() *writer) (html string, ok bool) {
	for v.IsValid() && v.Kind() == reflect.Interface {
		v = v.Elem()
	}
	if !v.IsValid() || hasText(v.Type(), t) {
		return "", false
	}
	var head []string
	var rows [][]any
	switch t.Kind {
	case reflect.Slice, reflect.Array:
		head, rows = sliceRows(v, t.Elem, w)
	case reflect.Map:
		head, rows = mapRows(v, t, w)
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
func sliceRows(v reflect.Value, elem *dynamic.Type, w func() *writer) (head []string, rows [][]any) {
	if v.Kind() != reflect.Slice && v.Kind() != reflect.Array {
		return nil, nil
	}
	fields := columnsOf(v.Type().Elem(), elem)
	if len(fields) == 0 {
		return nil, nil
	}
	for i := range min(v.Len(), maxRows) {
		cells, ok := fieldCells(v.Index(i), fields, w)
		if !ok {
			return nil, nil
		}
		rows = append(rows, append([]any{i}, cells...))
	}
	return append([]string{""}, fields.names()...), rows
}

// mapRows returns a row for each of the first entries of a map, in the order in which its text lists them.
func mapRows(v reflect.Value, t *dynamic.Type, w func() *writer) (head []string, rows [][]any) {
	if v.Kind() != reflect.Map || v.Len() > maxEntries {
		return nil, nil
	}
	fields := columnsOf(v.Type().Elem(), t.Elem)
	for _, e := range w().entries(v, t.Key, 1) {
		if len(rows) == maxRows {
			break
		}
		row := []any{tableCell(e.Key, t.Key, w)}
		if len(fields) > 0 {
			cells, ok := fieldCells(e.Value, fields, w)
			if !ok {
				return nil, nil
			}
			row = append(row, cells...)
		} else {
			row = append(row, tableCell(e.Value, t.Elem, w))
		}
		rows = append(rows, row)
	}
	if len(fields) > 0 {
		return append([]string{"key"}, fields.names()...), rows
	}
	return []string{"key", "value"}, rows
}

// columns are the fields of a struct type that a table shows.
type columns []dynamic.Field

func (f columns) names() (list []string) {
	for _, field := range f {
		list = append(list, field.Name)
	}
	return list
}

// columnsOf returns the fields of a struct type without its own text, or of a pointer to one. r is the
// type by which package reflect knows t.
func columnsOf(r reflect.Type, t *dynamic.Type) columns {
	if hasText(r, t) {
		return nil
	}
	if t.Kind == reflect.Pointer {
		t = t.Elem
	}
	return t.Fields
}

// fieldCells returns the fields of a struct, or nothing for a nil pointer. ok is false if e is not such a struct.
func fieldCells(e reflect.Value, f columns, w func() *writer) (cells []any, ok bool) {
	for e.IsValid() && (e.Kind() == reflect.Interface || e.Kind() == reflect.Pointer) {
		e = e.Elem()
	}
	if !e.IsValid() {
		return nil, true
	}
	if e.Kind() != reflect.Struct || e.NumField() != len(f) {
		return nil, false
	}
	for j := range e.NumField() {
		cells = append(cells, tableCell(peek.Field(e, j), f[j].Type, w))
	}
	return cells, true
}

// tableCell returns the value of a field, or its text if package display does not know its type.
func tableCell(v reflect.Value, t *dynamic.Type, w func() *writer) any {
	if v.CanInterface() && !interpretedType(t) && !HoldsOwn(v) {
		return v.Interface()
	}
	if t.Kind >= reflect.Int && t.Kind <= reflect.Complex128 && v.CanInterface() {
		return v.Interface()
	}
	x := w()
	x.value(v, t, 1)
	return x.String()
}

// interpretedType reports whether values of t may contain values of interpreted types.
func interpretedType(t *dynamic.Type) bool {
	switch {
	case t.Named:
		return true
	case t.Kind == reflect.Struct, t.Kind == reflect.Func:
		return true
	case t.Kind == reflect.Map:
		return interpretedType(t.Key) || interpretedType(t.Elem)
	case t.Kind == reflect.Pointer, t.Kind == reflect.Slice, t.Kind == reflect.Array:
		return interpretedType(t.Elem)
	}
	return false
}

// textMethods are the methods that give the text of a value.
var textMethods = []string{"Error", "String"}

// hasText reports whether values of a type have a method that gives their text. r is the type by which
// package reflect knows t.
func hasText(r reflect.Type, t *dynamic.Type) bool {
	if r.Implements(reflect.TypeFor[fmt.Stringer]()) || r.Implements(reflect.TypeFor[error]()) {
		return true
	}
	if t.Kind == reflect.Struct && r.Kind() == reflect.Struct && r.NumField() == len(t.Fields) {
		for i, f := range t.Fields {
			if f.Embedded && hasText(r.Field(i).Type, f.Type) {
				return true
			}
		}
	}
	return slices.ContainsFunc(textMethods, t.GivesText)
}

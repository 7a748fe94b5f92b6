package display

import (
	"fmt"
	"image"
	"reflect"
)

// maxRecords is the maximum number of rows in the table of a slice or map.
const maxRecords = 50

// records returns slices of structs and maps as an HTML table. ok is false for other values and
// for values with their own text.
func records(v any) (html string, ok bool) {
	switch v.(type) {
	case fmt.Stringer, error, image.Image:
		return "", false
	}
	rv := reflect.ValueOf(v)
	var rows [][]any
	var head []string
	switch rv.Kind() {
	case reflect.Slice, reflect.Array:
		c := columnsOf(rv.Type().Elem())
		if len(c) == 0 || rv.Len() == 0 {
			return "", false
		}
		head = append([]string{""}, c.names()...)
		for i := range min(rv.Len(), maxRecords) {
			rows = append(rows, append([]any{i}, c.cells(rv.Index(i))...))
		}
	case reflect.Map:
		if rv.Len() == 0 {
			return "", false
		}
		c := columnsOf(rv.Type().Elem())
		head = []string{"key", "value"}
		if len(c) > 0 {
			head = append([]string{"key"}, c.names()...)
		}
		for _, e := range sortedEntries(rv) {
			if len(rows) == maxRecords {
				break
			}
			row := []any{e.key.Interface()}
			if len(c) > 0 {
				row = append(row, c.cells(e.value)...)
			} else {
				row = append(row, e.value.Interface())
			}
			rows = append(rows, row)
		}
	default:
		return "", false
	}
	if n := rv.Len() - len(rows); n > 0 {
		rows = append(rows, []any{fmt.Sprintf("… %d more", n)})
	}
	return newTable(head, rows).html(), true
}

// columns are the fields of structs that a table shows.
type columns []reflect.StructField

// columnsOf returns the exported fields of a struct type, or of a pointer to one. Types with a text of
// their own have none.
func columnsOf(t reflect.Type) (c columns) {
	if hasText(t) {
		return nil
	}
	for _, f := range reflect.VisibleFields(structOf(t)) {
		if f.IsExported() && !f.Anonymous && len(f.Index) == 1 {
			c = append(c, f)
		}
	}
	return c
}

func (c columns) names() (list []string) {
	for _, f := range c {
		list = append(list, f.Name)
	}
	return list
}

// cells returns the fields of a struct, or nothing for a nil pointer.
func (c columns) cells(v reflect.Value) (list []any) {
	if v = reflect.Indirect(v); v.IsValid() {
		for _, f := range c {
			list = append(list, v.FieldByIndex(f.Index).Interface())
		}
	}
	return list
}

// structOf returns t if it is a struct or a pointer to one, else struct{}.
func structOf(t reflect.Type) reflect.Type {
	if t.Kind() == reflect.Pointer {
		t = t.Elem()
	}
	if t.Kind() != reflect.Struct {
		return reflect.TypeFor[struct{}]()
	}
	return t
}

func hasText(t reflect.Type) bool {
	return t.Implements(reflect.TypeFor[fmt.Stringer]()) || t.Implements(reflect.TypeFor[error]())
}

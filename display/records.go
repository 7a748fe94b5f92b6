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
		elem := rv.Type().Elem()
		fields := reflect.VisibleFields(structOf(elem))
		shown := fields[:0:0]
		for _, f := range fields {
			if f.IsExported() && !f.Anonymous && len(f.Index) == 1 {
				shown = append(shown, f)
				head = append(head, f.Name)
			}
		}
		if len(shown) == 0 || rv.Len() == 0 || hasText(elem) {
			return "", false
		}
		head = append([]string{""}, head...)
		for i := range min(rv.Len(), maxRecords) {
			row := []any{i}
			if e := reflect.Indirect(rv.Index(i)); e.IsValid() {
				for _, f := range shown {
					row = append(row, e.FieldByIndex(f.Index).Interface())
				}
			}
			rows = append(rows, row)
		}
	case reflect.Map:
		if rv.Len() == 0 {
			return "", false
		}
		head = []string{"key", "value"}
		for _, e := range sortedEntries(rv) {
			if len(rows) == maxRecords {
				break
			}
			rows = append(rows, []any{e.key.Interface(), e.value.Interface()})
		}
	default:
		return "", false
	}
	if n := rv.Len() - len(rows); n > 0 {
		rows = append(rows, []any{fmt.Sprintf("… %d more", n)})
	}
	return newTable(head, rows).html(), true
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

package dynamic

import (
	"encoding"
	"encoding/json"
	"fmt"
	"reflect"
	"strings"

	"halfnote/interp/internal/mapaccess"
)

// ToJSON returns the value that package encoding/json must encode for v: v itself or,
// if it holds values of interpreted types, a copy with the fields and methods that Go
// sees.
func ToJSON(v any) any {
	r, t := Open(v)
	if !r.IsValid() || t == nil && !holds(r.Type()) {
		return v
	}
	return encoded(r, t, 0).Interface()
}

// deepest is the nesting depth above which values are treated as cycles.
const deepest = 1000

// marshals is a value that encodes itself.
type marshals func() ([]byte, error)

// MarshalJSON implements json.Marshaler.
func (m marshals) MarshalJSON() ([]byte, error) { return m() }

// encoded copies a value for package encoding/json.
func encoded(v reflect.Value, t *Type, depth int) reflect.Value {
	if depth > deepest {
		return reflect.ValueOf(marshals(func() ([]byte, error) { return nil, fmt.Errorf("json: unsupported value: encountered a cycle") }))
	}
	if v.Kind() == reflect.Interface {
		var nothing any
		if v.IsNil() {
			return reflect.ValueOf(&nothing).Elem()
		}
		r, d := Open(v.Interface())
		nothing = encoded(r, d, depth+1).Interface()
		return reflect.ValueOf(&nothing).Elem()
	}
	if t == nil || t.Kind == reflect.Invalid {
		if _, ok := v.Interface().(json.Marshaler); ok || !holds(v.Type()) {
			return v
		}
		t = &Type{Kind: v.Kind()}
	} else if m := marshaler(v, t); m != nil {
		return reflect.ValueOf(m)
	}
	switch t.Kind {
	case reflect.Struct:
		return encodedStruct(v, t, depth)
	case reflect.Pointer:
		if v.IsNil() {
			return reflect.ValueOf((*struct{})(nil))
		}
		x := encoded(v.Elem(), t.Elem, depth+1)
		p := reflect.New(x.Type())
		p.Elem().Set(x)
		return p
	case reflect.Slice, reflect.Array:
		if v.Kind() == reflect.Slice && v.Type().Elem().Kind() == reflect.Uint8 {
			return reflect.ValueOf(v.Bytes())
		}
		var list []any
		if v.Kind() == reflect.Array || !v.IsNil() {
			list = make([]any, v.Len())
		}
		for i := range list {
			list[i] = encoded(v.Index(i), t.Elem, depth+1).Interface()
		}
		return reflect.ValueOf(list)
	case reflect.Map:
		var m map[string]any
		if !v.IsNil() {
			m = map[string]any{}
		}
		for _, e := range mapaccess.Entries(v) {
			m[keyText(e.Key, t.Key)] = encoded(e.Value, t.Elem, depth+1).Interface()
		}
		return reflect.ValueOf(m)
	}
	return reflect.ValueOf(bare(v, t.Kind))
}

// keyText returns the JSON text of a map key.
func keyText(k reflect.Value, t *Type) string {
	if t != nil && t.Kind != reflect.Invalid {
		if f, ok := MethodOf(t.In(k), "MarshalText").(func(any) ([]byte, error)); ok && k.Kind() != reflect.String {
			if b, err := f(t.In(k)); err == nil {
				return string(b)
			}
		}
	}
	if m, ok := k.Interface().(encoding.TextMarshaler); ok && k.Kind() != reflect.String {
		if b, err := m.MarshalText(); err == nil {
			return string(b)
		}
	}
	return fmt.Sprint(bare(k, k.Kind()))
}

// marshaler returns the method by which a value encodes itself, or nil if it has none.
func marshaler(v reflect.Value, t *Type) marshals {
	if v.Kind() == reflect.Pointer && v.IsNil() {
		return nil
	}
	receivers := []any{t.In(v)}
	if v.Kind() != reflect.Pointer && v.CanAddr() {
		receivers = append(receivers, t.Pointer().In(v.Addr()))
	}
	for _, x := range receivers {
		if f, ok := MethodOf(x, "MarshalJSON").(func(any) ([]byte, error)); ok {
			return func() ([]byte, error) { return f(x) }
		}
	}
	for _, x := range receivers {
		if f, ok := MethodOf(x, "MarshalText").(func(any) ([]byte, error)); ok {
			return func() ([]byte, error) {
				b, err := f(x)
				if err != nil {
					return nil, err
				}
				return json.Marshal(string(b))
			}
		}
	}
	return nil
}

// encodedStruct copies the fields that Go encodes. Embedded structs remain embedded.
func encodedStruct(v reflect.Value, t *Type, depth int) reflect.Value {
	var fields []reflect.StructField
	var values []reflect.Value
	for i, f := range t.Fields {
		inner := f.Type
		if f.Embedded && inner.Kind == reflect.Pointer {
			inner = inner.Elem
		}
		flat := f.Embedded && inner.Kind == reflect.Struct && tagName(f.Tag) == ""
		if !f.Exported && !flat {
			continue
		}
		x := v.Field(i)
		if omitted(x, f.Tag) {
			continue
		}
		if flat && x.Kind() == reflect.Pointer {
			if x.IsNil() {
				continue
			}
			x = x.Elem()
		}
		if flat {
			x = encodedStruct(x, inner, depth+1)
		} else {
			x = encoded(x, f.Type, depth+1)
		}
		fields = append(fields, reflect.StructField{Name: "X" + f.Name, Type: x.Type(), Tag: named(f), Anonymous: flat})
		values = append(values, x)
	}
	s := reflect.New(reflect.StructOf(fields)).Elem()
	for i, x := range values {
		s.Field(i).Set(x)
	}
	return s
}

// omitted reports whether a field's tag omits its value.
func omitted(v reflect.Value, tag string) bool {
	_, options, _ := strings.Cut(reflect.StructTag(tag).Get("json"), ",")
	for o := range strings.SplitSeq(options, ",") {
		switch {
		case o == "omitzero" && v.IsZero():
			return true
		case o != "omitempty":
		case v.Kind() == reflect.Slice || v.Kind() == reflect.Map || v.Kind() == reflect.Array:
			return v.Len() == 0
		case v.Kind() != reflect.Struct && v.IsZero():
			return true
		}
	}
	return false
}

func tagName(tag string) string {
	name, _, _ := strings.Cut(reflect.StructTag(tag).Get("json"), ",")
	return name
}

// named returns a field's tag with the field's name in JSON.
func named(f Field) reflect.StructTag {
	tag := reflect.StructTag(f.Tag).Get("json")
	name, options, comma := strings.Cut(tag, ",")
	switch {
	case name == "" && f.Embedded && f.Type.Kind == reflect.Struct, tag == "-":
	case name == "":
		tag = f.Name
		if comma {
			tag += "," + options
		}
	}
	if tag == "" {
		return ""
	}
	return reflect.StructTag(fmt.Sprintf("json:%q", tag))
}

// FromJSON returns the value that package encoding/json must decode into for a pointer
// p: p itself or, if it leads to values of interpreted types, a value that decodes into
// those.
func FromJSON(p any) any {
	r, t := Open(p)
	if t == nil || r.Kind() != reflect.Pointer || r.IsNil() {
		return p
	}
	return &target{r.Elem(), t.Elem}
}

type target struct {
	v reflect.Value
	t *Type
}

// UnmarshalJSON implements json.Unmarshaler.
func (d *target) UnmarshalJSON(data []byte) error { return decode(d.v, d.t, data) }

// decode sets a value of type t from JSON.
func decode(v reflect.Value, t *Type, data []byte) error {
	if t == nil || t.Kind == reflect.Invalid {
		return json.Unmarshal(data, v.Addr().Interface())
	}
	null := string(data) == "null"
	if t.Kind != reflect.Pointer && t.Kind != reflect.Interface && v.CanAddr() {
		x := t.Pointer().In(v.Addr())
		if f, ok := MethodOf(x, "UnmarshalJSON").(func(any, []byte) error); ok {
			return f(x, data)
		}
		var s string
		if f, ok := MethodOf(x, "UnmarshalText").(func(any, []byte) error); ok && !null {
			if err := json.Unmarshal(data, &s); err != nil {
				return err
			}
			return f(x, []byte(s))
		}
	}
	if null {
		switch v.Kind() {
		case reflect.Pointer, reflect.Map, reflect.Slice, reflect.Interface:
			v.SetZero()
		}
		return nil
	}
	switch t.Kind {
	case reflect.Struct:
		var m map[string]json.RawMessage
		if err := json.Unmarshal(data, &m); err != nil {
			return typeError(err, t)
		}
		return decodeStruct(v, t, m)
	case reflect.Pointer:
		if v.IsNil() {
			v.Set(reflect.New(v.Type().Elem()))
		}
		return decode(v.Elem(), t.Elem, data)
	case reflect.Slice, reflect.Array:
		if v.Type().Elem().Kind() == reflect.Uint8 {
			break
		}
		var list []json.RawMessage
		if err := json.Unmarshal(data, &list); err != nil {
			return typeError(err, t)
		}
		if v.Kind() == reflect.Slice {
			v.Set(reflect.MakeSlice(v.Type(), len(list), len(list)))
		}
		for i := range min(v.Len(), len(list)) {
			if err := decode(v.Index(i), t.Elem, list[i]); err != nil {
				return err
			}
		}
		return nil
	case reflect.Map:
		return decodeMap(v, t, data)
	}
	return json.Unmarshal(data, v.Addr().Interface())
}

func typeError(err error, t *Type) error {
	if e, ok := err.(*json.UnmarshalTypeError); ok {
		return fmt.Errorf("json: cannot unmarshal %s into Go value of type %s", e.Value, t.Name)
	}
	return err
}

func decodeMap(v reflect.Value, t *Type, data []byte) error {
	var m map[string]json.RawMessage
	if err := json.Unmarshal(data, &m); err != nil {
		return typeError(err, t)
	}
	if v.IsNil() {
		v.Set(reflect.MakeMap(v.Type()))
	}
	for key, raw := range m {
		k := reflect.New(v.Type().Key()).Elem()
		if k.Kind() == reflect.String {
			k.SetString(key)
		} else if err := json.Unmarshal([]byte(key), k.Addr().Interface()); err != nil {
			return err
		}
		x := reflect.New(v.Type().Elem()).Elem()
		if err := decode(x, t.Elem, raw); err != nil {
			return err
		}
		v.SetMapIndex(k, x)
	}
	return nil
}

// decodeStruct sets the fields of a struct, then those of embedded structs.
func decodeStruct(v reflect.Value, t *Type, m map[string]json.RawMessage) error {
	taken := map[string]bool{}
	for i, f := range t.Fields {
		name := tagName(f.Tag)
		if !f.Exported || name == "-" || f.Embedded && name == "" && plainStruct(f.Type) != nil {
			continue
		}
		if name == "" {
			name = f.Name
		}
		key := name
		raw, ok := m[name]
		for k, r := range m {
			if !ok && strings.EqualFold(k, name) {
				key, raw, ok = k, r, true
			}
		}
		if !ok {
			continue
		}
		taken[key] = true
		if err := decode(v.Field(i), f.Type, raw); err != nil {
			return err
		}
	}
	rest := map[string]json.RawMessage{}
	for k, r := range m {
		if !taken[k] {
			rest[k] = r
		}
	}
	for i, f := range t.Fields {
		inner := plainStruct(f.Type)
		if !f.Embedded || tagName(f.Tag) != "" || inner == nil || len(rest) == 0 {
			continue
		}
		x := v.Field(i)
		if x.Kind() == reflect.Pointer {
			if x.IsNil() {
				x.Set(reflect.New(x.Type().Elem()))
			}
			x = x.Elem()
		}
		if err := decodeStruct(x, inner, rest); err != nil {
			return err
		}
	}
	return nil
}

// plainStruct returns the type of an embedded struct, or the struct that an embedded pointer
// points to.
func plainStruct(t *Type) *Type {
	if t.Kind == reflect.Pointer {
		t = t.Elem
	}
	if t.Kind == reflect.Struct {
		return t
	}
	return nil
}

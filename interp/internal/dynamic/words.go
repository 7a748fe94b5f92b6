package dynamic

import (
	"reflect"
	"runtime"
	"strconv"
	"strings"

	"halfnote/interp/internal/words"
)

// Key returns the key under which an assignment stores a value in a map whose keys are interfaces, and panics as Go does
// if that has no hash.
func Key(v any) any {
	unhashable(reflect.ValueOf(v))
	return v
}

// unhashable panics if a value, or what an interface in it holds, has no hash.
func unhashable(v reflect.Value) {
	switch v.Kind() {
	case reflect.Invalid:
		return
	case reflect.Interface:
		unhashable(v.Elem())
		return
	}
	if !v.Type().Comparable() {
		panic(words.RuntimeError("hash of unhashable type " + nameOf(v.Type(), Of(v.Type()))))
	}
	switch v.Kind() {
	case reflect.Array:
		for i := range v.Len() {
			unhashable(v.Index(i))
		}
	case reflect.Struct:
		for i := range v.NumField() {
			unhashable(v.Field(i))
		}
	}
}

// Worded returns the value of a panic. In the text of a run-time error interpreted types have the names that Go shows.
func Worded(v any) any {
	e, ok := v.(runtime.Error)
	if !ok || !words.OfRuntime(e) || !strings.Contains(e.Error(), tagKey+":") {
		return v
	}
	text := named(e.Error())
	if rest, ok := strings.CutPrefix(text, "runtime error: "); ok {
		return words.RuntimeError(rest)
	}
	return &words.AssertionError{Text: text}
}

// named replaces in a text the types that package reflect shows for interpreted types by their names.
func named(text string) string {
	const start = "struct { "
	var b strings.Builder
	for {
		i := strings.Index(text, start)
		if i < 0 {
			return b.String() + text
		}
		b.WriteString(text[:i])
		fields, rest := inBraces(text[i+len(start):])
		if t := identified(fields); t != nil {
			b.WriteString(t.Name)
		} else {
			b.WriteString(start + named(fields) + "}")
		}
		text = rest
	}
}

// inBraces divides a text after the brace that closes the one before it.
func inBraces(text string) (inside, rest string) {
	depth := 1
	for i := 0; i < len(text); i++ {
		switch text[i] {
		case '"':
			if q, err := strconv.QuotedPrefix(text[i:]); err == nil {
				i += len(q) - 1
			}
		case '{':
			depth++
		case '}':
			if depth--; depth == 0 {
				return text[:i], text[i+1:]
			}
		}
	}
	return text, ""
}

// identified returns the type that the tag of the first of these fields identifies, or nil.
func identified(fields string) *Type {
	depth := 0
	for i := 0; i < len(fields); i++ {
		switch fields[i] {
		case '{':
			depth++
		case '}':
			depth--
		case ';':
			if depth == 0 {
				return nil
			}
		case '"':
			q, err := strconv.QuotedPrefix(fields[i:])
			if err != nil {
				return nil
			}
			if tag, err := strconv.Unquote(q); err == nil && depth == 0 {
				return tagged(reflect.StructTag(tag))
			}
			i += len(q) - 1
		}
	}
	return nil
}

package native

import (
	"encoding/binary"
	"reflect"
	"regexp"
	"strings"

	"halfnote/interp/internal/native/object"
)

// TypeName implements engine.Namer.
func (e *Engine) TypeName(t reflect.Type) string {
	return strings.TrimPrefix(e.loader.Name(t), unitPrefix)
}

// showNames gives the types of an object, and fields that embed them, the names that users see, where units have numbers in them: fmt and
// reflect show main.T for the type that is main.T__3 in its unit. The loader knows types by the names of their symbols, which stay.
func showNames(o *object.Object, label func(name string, argument bool) string) {
	for i := range o.Defs {
		if s := &o.Defs[i]; strings.HasPrefix(s.Name, "type:.namedata.") {
			showName(s, label)
		}
	}
}

// Parts of a name in the description of a type, abi.Name: flags, the length, and the text.
const embeddedName = 1 << 3

func showName(s *object.Symbol, label func(name string, argument bool) string) {
	if len(s.Data) == 0 {
		return
	}
	n, width := binary.Uvarint(s.Data[1:])
	from := 1 + width
	end := from + int(n)
	if width <= 0 || end > len(s.Data) {
		return
	}
	text := string(s.Data[from:end])
	shown := shownText(text, label)
	if s.Data[0]&embeddedName != 0 && !strings.Contains(text, ".") {
		shown = label(text, false)
		shown = shown[strings.LastIndexByte(shown, '.')+1:]
	}
	if shown == text {
		return
	}
	data := binary.AppendUvarint(s.Data[:1:1], uint64(len(shown)))
	data = append(append(data, shown...), s.Data[end:]...)
	for i := range s.Relocs { // of the package of an unexported name, behind the text
		s.Relocs[i].Off += len(data) - len(s.Data)
	}
	s.Size += uint32(len(data) - len(s.Data))
	s.Data = data
}

// ofUnit matches a type of a unit in the text of a type.
var ofUnit = regexp.MustCompile(`\bmain\.([\pL_][\pL\pN_]*)`)

// shownText writes the types in the text of a type by the names that users see.
func shownText(text string, label func(name string, argument bool) string) string {
	var b strings.Builder
	from := 0
	for _, m := range ofUnit.FindAllStringSubmatchIndex(text, -1) {
		b.WriteString(text[from:m[0]])
		b.WriteString(label(text[m[2]:m[3]], inArguments(text[:m[0]])))
		from = m[1]
	}
	return b.String() + text[from:]
}

// What stands before the bracket of type arguments, or of the key of a map.
var (
	instance = regexp.MustCompile(`[\pL\pN_]$`)
	mapType  = regexp.MustCompile(`(^|[^\pL\pN_.])map$`)
)

// inArguments reports whether a text ends within the type arguments of an instance.
func inArguments(text string) bool {
	var open []bool // the brackets, and whether type arguments follow
	for i, c := range text {
		switch c {
		case '[':
			open = append(open, instance.MatchString(text[:i]) && !mapType.MatchString(text[:i]))
		case ']':
			open = open[:max(0, len(open)-1)]
		}
	}
	for _, arguments := range open {
		if arguments {
			return true
		}
	}
	return false
}

package native

import (
	"fmt"
	"go/ast"
	"reflect"
	"regexp"
	"slices"
	"strings"

	"halfnote/interp/internal/engine"
)

// gain returns a function that mentions the types of earlier units that gain methods from a
// unit, so that the compiler describes them with all their methods: those that the unit declares
// methods of, and those that embed them.
func (e *Engine) gain(s *source, used map[string]bool) string {
	gains := map[string]bool{}
	for name := range s.methods {
		gains[name] = true
	}
	if len(gains) == 0 {
		return ""
	}
	for grown := true; grown; {
		grown = false
		for name, d := range e.known {
			if !gains[name] && !s.types[name] && slices.ContainsFunc(d.embeds, func(name string) bool { return gains[name] }) {
				gains[name], grown = true, true
			}
		}
	}
	var list strings.Builder
	for _, t := range e.loader.Types() {
		uses := map[string]bool{}
		if text, ok := e.gainer(t, gains, uses); ok {
			fmt.Fprintf(&list, "(*%s)(nil), ", text)
			for name := range uses {
				used[name] = true
			}
		}
	}
	return fmt.Sprintf("func gain%s() []any { return []any{%s} }\n", common, list.String())
}

// gainer returns a type as units write it, and notes the names that it uses. ok is false if the
// type has none of the names, is a struct without a name that embeds none of them, or
// cannot be written outside its function or package.
func (e *Engine) gainer(t reflect.Type, names, uses map[string]bool) (text string, ok bool) {
	switch {
	case t.PkgPath() == unitPath:
		ok = names[e.genericName(t)]
	case t.Name() == "" && t.Kind() == reflect.Struct:
		for f := range t.Fields() {
			of := f.Type
			if of.Kind() == reflect.Pointer {
				of = of.Elem()
			}
			ok = ok || f.Anonymous && of.PkgPath() == unitPath && names[e.genericName(of)]
		}
	}
	if !ok {
		return "", false
	}
	text = e.typeText(t, uses)
	return text, !uses[""]
}

// unitPath is the path of the package of units.
const unitPath = "main"

// genericName returns the name that a type has in its unit, without type arguments.
func (e *Engine) genericName(t reflect.Type) string {
	name, _, _ := strings.Cut(e.TypeName(t), "[")
	return name
}

// qualified matches a type's name with the path of its package, as type arguments have it.
var qualified = regexp.MustCompile(`([A-Za-z_][\w.\-~/%]*)\.([A-Za-z_]\w*(?:·\d+)?)`)

// namedText returns a named type as units write it, and notes the names that it uses: the name ""
// if it uses a type that they cannot name.
func (e *Engine) namedText(t reflect.Type, uses map[string]bool) string {
	name := t.PkgPath() + "." + t.Name()
	if t.PkgPath() == unitPath {
		name = unitPrefix + e.TypeName(t)
	}
	return qualified.ReplaceAllStringFunc(name, func(s string) string {
		dot := strings.LastIndexByte(s, '.')
		path, name := s[:dot], s[dot+1:]
		if path == unitPath {
			if strings.Contains(name, "·") {
				name = ""
			}
			uses[name] = true
			return name
		}
		alias := e.alias(path)
		if !ast.IsExported(name) {
			alias = ""
		}
		uses[alias] = true
		return alias + "." + name
	})
}

// wrapper returns the symbol of a method that the front end has made to call the method's
// latest body, or "".
func wrapper(d *ast.FuncDecl) string {
	if d.Recv == nil || len(d.Recv.List[0].Names) == 0 || d.Recv.List[0].Names[0].Name != engine.ForwardReceiver {
		return ""
	}
	if _, ok := d.Recv.List[0].Type.(*ast.StarExpr); ok {
		return unitPrefix + "(*" + owner(d) + ")." + d.Name.Name
	}
	return unitPrefix + owner(d) + "." + d.Name.Name
}

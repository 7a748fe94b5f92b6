package assist

import (
	"fmt"

	"go/types"
	"maps"
	"regexp"
	"strings"

	"halfnote/interp/internal/exports"
	"halfnote/interp/internal/syntax"
)

// section is a titled list of declarations on a page of help.
type section struct {
	title string
	list  []entry
}

// entry is a declaration with its summary. The members of a type are the functions that
// return it; methods is a list of names.
type entry struct {
	decl, summary, methods string
	words                  string // further words that find it
	members                []entry
}

// maxMethods is the number of methods that the page of a package names for each type.
const maxMethods = 40

// packageIndex lists the exported names of a package: functions, then types with the functions
// that return them.
func (p *probe) packageIndex(pkg *types.Package) []section {
	var constants, variables, functions, list section
	constants.title, variables.title, functions.title, list.title = "Constants", "Variables", "Functions", "Types"
	scope := pkg.Scope()
	grouped := map[types.Object]bool{}
	for _, name := range scope.Names() {
		t, ok := scope.Lookup(name).(*types.TypeName)
		if !ok || !t.Exported() {
			continue
		}
		e := p.entry(t)
		for _, o := range p.returning(t) {
			grouped[o] = true
		}
		for _, part := range p.valuesOf(t) {
			e.members = append(e.members, part.list...)
		}
		methods := p.methods(t)
		if n := len(methods); n > maxMethods {
			e.methods = fmt.Sprintf("%d methods: %s.%s? lists them", n, pkg.Name(), name)
		} else if n > 0 {
			var names []string
			for _, m := range methods {
				names = append(names, m.Name())
			}
			e.methods = "methods: " + strings.Join(names, ", ")
		}
		list.list = append(list.list, e)
	}
	for _, name := range scope.Names() {
		o := scope.Lookup(name)
		if !o.Exported() || grouped[o] {
			continue
		}
		switch o.(type) {
		case *types.Const:
			constants.list = append(constants.list, p.entry(o))
		case *types.Var:
			variables.list = append(variables.list, p.entry(o))
		case *types.Func:
			functions.list = append(functions.list, p.entry(o))
		}
	}
	return []section{constants, variables, functions, list}
}

// typeIndex lists what belongs to a type: the functions of its package that return it, its
// constants, and its methods.
func (p *probe) typeIndex(o types.Object) []section {
	t, ok := o.(*types.TypeName)
	if !ok {
		return nil
	}
	var list []section
	if t.Pkg() != nil && t.Pkg() != p.pkg {
		list = p.valuesOf(t)
	}
	methods := section{title: "Methods"}
	for _, m := range p.methods(t) {
		methods.list = append(methods.list, p.entry(m))
	}
	return append(list, methods)
}

// valuesOf lists the constants of a type in one entry, and the variables of the type and the
// functions that return it.
func (p *probe) valuesOf(t *types.TypeName) []section {
	var names []string
	variables, functions := section{title: "Variables"}, section{title: "Functions that return it"}
	for _, o := range p.returning(t) {
		switch o.(type) {
		case *types.Const:
			names = append(names, o.Name())
		case *types.Var:
			variables.list = append(variables.list, p.entry(o))
		default:
			functions.list = append(functions.list, p.entry(o))
		}
	}
	constants := section{title: "Constants"}
	if len(names) > 0 {
		constants.list = []entry{{decl: "const " + strings.Join(names, ", ") + " " + t.Name()}}
	}
	return []section{constants, variables, functions}
}

// maxOptions is the number of options of a type up to which a function whose comment does not
// name its options has them listed.
const maxOptions = 30

// optionIndex lists the options of a function: those that its comment names, or else all
// values of the type that it takes.
func (p *probe) optionIndex(o types.Object) []section {
	fn, ok := o.(*types.Func)
	if !ok || fn.Pkg() == nil || fn.Pkg() == p.pkg {
		return nil
	}
	sig := fn.Signature()
	if !sig.Variadic() {
		return nil
	}
	named, rest := p.options(fn, sig.Params().At(sig.Params().Len()-1).Type().(*types.Slice).Elem())
	if len(named) == 0 && len(rest) <= maxOptions {
		named = rest
	}
	s := section{title: "Options"}
	for _, o := range named {
		s.list = append(s.list, p.entry(o))
	}
	return []section{s}
}

// options returns the functions and constants that make a value of an option's type: those
// that the comment of fn names, and the others. Only a defined type of a package, such as
// amp.ScalerOption, is an option's type.
func (p *probe) options(fn *types.Func, t types.Type) (named, rest []types.Object) {
	n, ok := types.Unalias(t).(*types.Named)
	if !ok || n.Obj().Pkg() == nil || n.Obj().Pkg() == p.pkg || !n.Obj().Exported() || types.IsInterface(n) {
		return nil, nil
	}
	var words map[string]bool
	if fn != nil && fn.Pkg() != nil {
		words = p.named(fn, map[types.Object]bool{})
	}
	for _, o := range p.returning(n.Obj()) {
		if words[o.Name()] {
			named = append(named, o)
		} else {
			rest = append(rest, o)
		}
	}
	return named, rest
}

// word matches a word of a comment.
var word = regexp.MustCompile(`\pL[\pL\pN]*`)

// named returns the words of the sentences in which the comment of a function names its
// options, "It takes Bias and InitFrom". A function of the same options that these sentences or
// the first one mention adds its own: "AvgPool2d is AvgPool1d for …".
func (p *probe) named(fn *types.Func, seen map[types.Object]bool) map[string]bool {
	seen[fn] = true
	found := map[string]bool{}
	for i, s := range strings.Split(strings.Join(strings.Fields(p.comment(fn)), " "), ". ") {
		naming := strings.Contains(s, "takes ") || strings.Contains(s, "uses ") || strings.Contains(s, "options ")
		if !naming && i > 0 {
			continue
		}
		for _, w := range word.FindAllString(s, -1) {
			if naming {
				found[w] = true
			}
			if other, ok := fn.Pkg().Scope().Lookup(w).(*types.Func); ok && !seen[other] && sameOptions(fn, other) {
				maps.Copy(found, p.named(other, seen))
			}
		}
	}
	return found
}

// sameOptions reports whether two functions take options of one type.
func sameOptions(f, g *types.Func) bool {
	last := func(f *types.Func) types.Type {
		params := f.Signature().Params()
		if !f.Signature().Variadic() {
			return nil
		}
		return params.At(params.Len() - 1).Type()
	}
	return last(f) != nil && last(g) != nil && types.Identical(last(f), last(g))
}

// returning lists the functions and constants of a type's package whose value, or first
// result, is of that type or a pointer to it.
func (p *probe) returning(t *types.TypeName) (list []types.Object) {
	scope := t.Pkg().Scope()
	for _, name := range scope.Names() {
		o := scope.Lookup(name)
		if !o.Exported() {
			continue
		}
		switch o := o.(type) {
		case *types.Func:
			if r := o.Signature().Results(); r.Len() > 0 && isOf(r.At(0).Type(), t) {
				list = append(list, o)
			}
		case *types.Const, *types.Var:
			if isOf(o.Type(), t) {
				list = append(list, o)
			}
		}
	}
	return list
}

// isOf reports whether t is the type of name, or a pointer to it.
func isOf(t types.Type, name *types.TypeName) bool {
	if ptr, ok := types.Unalias(t).(*types.Pointer); ok {
		t = ptr.Elem()
	}
	have, ok := types.Unalias(t).(*types.Named)
	want, isNamed := types.Unalias(name.Type()).(*types.Named)
	return ok && isNamed && have.Origin() == want.Origin()
}

// methods returns the methods of a type and of pointers to it that a cell may want to call. Those of an
// interface are in its declaration.
func (p *probe) methods(t *types.TypeName) (list []types.Object) {
	if types.IsInterface(t.Type()) {
		return nil
	}
	set := types.NewMethodSet(types.NewPointer(t.Type()))
	for m := range set.Methods() {
		if o := m.Obj(); (o.Exported() || o.Pkg() == p.pkg) && !exports.Displays(o) {
			list = append(list, o)
		}
	}
	return list
}

// entry returns the declaration of o in one line, with its summary.
func (p *probe) entry(o types.Object) entry {
	return entry{decl: p.short(o), summary: exports.Summary(o.Name(), p.comment(o))}
}

// short returns the declaration of o in one line, a method without its receiver.
func (p *probe) short(o types.Object) string {
	if o.Pkg() != nil && o.Pkg() != p.pkg {
		_, decl := exports.Doc(o.Pkg().Path(), exports.Member(o, o.Pkg().Scope()))
		if f, ok := o.(*types.Func); ok && decl != "" && !strings.Contains(decl, "\n") {
			if f.Signature().Recv() != nil {
				_, decl, _ = strings.Cut(decl, ") ")
			}
			return decl
		}
	}
	if f, ok := o.(*types.Func); ok && f.Signature().Recv() != nil {
		return o.Name() + strings.TrimPrefix(p.typeString(o.Type()), "func")
	}
	switch o := o.(type) {
	case *types.TypeName:
		return "type " + o.Name() + " " + kindOfType(o.Type())
	case *types.PkgName:
		return "package " + o.Name()
	}
	text := syntax.Versioned.ReplaceAllString(types.ObjectString(o, func(q *types.Package) string {
		if q == o.Pkg() {
			return ""
		}
		return q.Name()
	}), "$1")
	if c, ok := o.(*types.Const); ok {
		text += " = " + c.Val().String()
	}
	return text
}

// comment returns the comment of an object of another package.
func (p *probe) comment(o types.Object) string {
	if name, ok := o.(*types.PkgName); ok {
		return exports.Synopsis(name.Imported().Path())
	}
	if o.Pkg() == nil || o.Pkg() == p.pkg {
		return ""
	}
	text, _ := exports.Doc(o.Pkg().Path(), exports.Member(o, o.Pkg().Scope()))
	if text == "" && p.Loader != nil {
		if _, file, line := p.Loader.Source(o); file != "" {
			text = syntax.CommentAbove(file, line)
		}
	}
	return text
}

// plain renders sections as text.
func plain(sections []section) string {
	var b strings.Builder
	for _, s := range sections {
		if len(s.list) == 0 {
			continue
		}
		fmt.Fprintf(&b, "%s\n\n", s.title)
		for _, e := range s.list {
			e.plain(&b, "")
		}
		b.WriteString("\n")
	}
	return strings.TrimRight(b.String(), "\n")
}

func (e entry) plain(b *strings.Builder, indent string) {
	fmt.Fprintf(b, "%s%s\n", indent, e.decl)
	for _, text := range []string{e.summary, e.methods} {
		if text != "" {
			fmt.Fprintf(b, "%s    %s\n", indent, text)
		}
	}
	for _, m := range e.members {
		m.plain(b, indent+"    ")
	}
}

// markdown renders sections as lists.
func markdown(sections []section) string {
	var b strings.Builder
	for _, s := range sections {
		if len(s.list) == 0 {
			continue
		}
		fmt.Fprintf(&b, "#### %s\n\n", special.ReplaceAllString(s.title, `\$0`))
		for _, e := range s.list {
			e.markdown(&b, "")
		}
		b.WriteString("\n")
	}
	return strings.TrimRight(b.String(), "\n")
}

func (e entry) markdown(b *strings.Builder, indent string) {
	fmt.Fprintf(b, "%s- `%s`", indent, e.decl)
	for _, text := range []string{e.summary, e.methods} {
		if text != "" {
			fmt.Fprintf(b, "  \n%s  %s", indent, special.ReplaceAllString(text, `\$0`))
		}
	}
	b.WriteString("\n")
	for _, m := range e.members {
		m.markdown(b, indent+"  ")
	}
}

// special matches the characters that markdown or JupyterLab's formulas would interpret.
var special = regexp.MustCompile("[\\\\`*_\\[\\]<>$|~#]")

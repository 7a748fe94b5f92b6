package lower

import (
	"fmt"
	"go/ast"
	"go/token"
	"go/types"
	"slices"
	"strings"

	"golang.org/x/tools/go/ast/astutil"
)

// Generics makes one concrete copy of each generic function and type for each list of type
// arguments, so that a back end never sees a generic. It works on trees with the engine's
// names. It copies source text and checks the copies again, so every expression in them has
// the types of its instance.
type Generics struct {
	// File is the unit; Prelude declares the objects of earlier units that it uses.
	File, Prelude *ast.File
	// Check runs the type checker over both files. It returns no error for faults that
	// do not prevent instantiation.
	Check func(files []*ast.File) (*types.Package, *types.Info, error)
	// Fresh returns an unused name for an instance of a name, or for a type declared in
	// a function.
	Fresh func(name string) string
	// Known holds the names of the existing instances by the text of their types. Run adds
	// the new ones.
	Known map[string]string
	// Want adds to Prelude a known name that is used from now on.
	Want func(name string)
	// Compiled returns the replacement of an instance that is compiled, by its text;
	// nil for other instances.
	Compiled func(instance string, t types.Type) ast.Expr
	// Alias makes a package available and returns its name in the unit.
	Alias func(path string) string
	// Made lists the declarations of new instances, and types that were declared in
	// functions.
	Made []ast.Decl
	// Origin gives the generic name of each instance, and the name in the source of each type declared in
	// a function.
	Origin map[string]string
	// Suffix gives what Go adds to the name of a type: to that of an instance the type arguments, to that of a type declared in a function those
	// of the function, and after a dot, in type arguments only, its number.
	Suffix map[string]string
	// Label is that of Names.
	Label func(name string, argument bool) string

	Pkg  *types.Package
	Info *types.Info

	again  bool
	failed error
	local  map[token.Pos]int // numbers of types declared in functions
	// everywhere reports whether generic declarations have instances too: they may pass a value of a type
	// that is not generic, but has become one with instances, to generic code.
	everywhere bool
}

// maxRounds bounds the nesting of instances; go/types refuses infinite nesting.
const maxRounds = 40

// Run instantiates until no generic is in use, and removes the generic declarations
// from the unit.
func (g *Generics) Run() error {
	g.numberTypes()
	for round := range maxRounds {
		var err error
		if g.Pkg, g.Info, err = g.Check([]*ast.File{g.Prelude, g.File}); g.Pkg == nil {
			return err
		}
		g.again, g.failed = false, nil
		if round == 0 {
			g.explicit()
		}
		for _, step := range []func(){g.hoistTypes, g.uses, g.embedded, g.switches} {
			if !g.again {
				step()
			}
		}
		if g.failed != nil {
			return g.failed
		}
		if !g.again {
			if err != nil && !g.everywhere {
				g.everywhere = true
				continue
			}
			if err != nil {
				return err
			}
			g.File.Decls = slices.DeleteFunc(g.File.Decls, g.unwanted)
			return nil
		}
	}
	return fmt.Errorf("generic instances nest more than %d levels deep", maxRounds)
}

// unwanted reports whether a declaration has no meaning for the back end: it is generic, or
// a constraint.
func (g *Generics) unwanted(d ast.Decl) bool {
	if isGeneric(d) {
		return true
	}
	t, ok := d.(*ast.GenDecl)
	if !ok || t.Tok != token.TYPE {
		return false
	}
	t.Specs = slices.DeleteFunc(t.Specs, func(s ast.Spec) bool {
		o := g.Info.Defs[s.(*ast.TypeSpec).Name]
		if o == nil || s.(*ast.TypeSpec).TypeParams != nil {
			return o != nil
		}
		i, ok := o.Type().Underlying().(*types.Interface)
		return ok && !i.IsMethodSet()
	})
	return len(t.Specs) == 0
}

// isGeneric reports whether a whole declaration is generic.
func isGeneric(d ast.Decl) bool {
	switch d := d.(type) {
	case *ast.FuncDecl:
		return d.Type.TypeParams != nil || d.Recv != nil && receiverIndex(d) != nil
	case *ast.GenDecl:
		if d.Tok != token.TYPE {
			return false
		}
		for _, s := range d.Specs {
			if s.(*ast.TypeSpec).TypeParams == nil {
				return false
			}
		}
		return true
	}
	return false
}

// IsGeneric reports whether a declaration, or a type of it, is generic.
func IsGeneric(d ast.Decl) bool {
	g, ok := d.(*ast.GenDecl)
	if !ok || g.Tok != token.TYPE {
		return isGeneric(d)
	}
	return slices.ContainsFunc(g.Specs, func(s ast.Spec) bool { return s.(*ast.TypeSpec).TypeParams != nil })
}

// receiverIndex returns the receiver type of a generic method, with its type parameters.
func receiverIndex(d *ast.FuncDecl) ast.Expr {
	if len(d.Recv.List) == 0 {
		return nil
	}
	t := d.Recv.List[0].Type
	for {
		switch x := t.(type) {
		case *ast.StarExpr:
			t = x.X
		case *ast.ParenExpr:
			t = x.X
		case *ast.IndexExpr, *ast.IndexListExpr:
			return x
		default:
			return nil
		}
	}
}

// concrete calls f for every declaration that is not generic; type declarations are
// passed one spec at a time.
func (g *Generics) concrete(f func(file *ast.File, i int)) { g.declarations(false, f) }

// declarations is concrete, or calls f for generic declarations too.
func (g *Generics) declarations(all bool, f func(file *ast.File, i int)) {
	for _, file := range []*ast.File{g.Prelude, g.File} {
		for i := 0; i < len(file.Decls); i++ {
			if d, ok := file.Decls[i].(*ast.GenDecl); ok && d.Tok == token.TYPE && len(d.Specs) > 1 {
				list := make([]ast.Decl, len(d.Specs))
				for j, s := range d.Specs {
					list[j] = &ast.GenDecl{TokPos: s.Pos(), Tok: token.TYPE, Specs: []ast.Spec{s}}
				}
				file.Decls = slices.Replace(file.Decls, i, i+1, list...)
			}
			if all || !isGeneric(file.Decls[i]) {
				f(file, i)
			}
		}
	}
}

// explicit writes out all inferred type arguments: once one operand of an inference has
// become an instance, inference would fail.
func (g *Generics) explicit() {
	for _, file := range []*ast.File{g.Prelude, g.File} {
		astutil.Apply(file, nil, func(c *astutil.Cursor) bool {
			e, ok := c.Node().(ast.Expr)
			if !ok || partOfInstance(e, c.Parent()) {
				return true
			}
			id := genericIdent(e)
			if id == nil {
				return true
			}
			inst, ok := g.Info.Instances[id]
			if f, isFunc := g.Info.Uses[id].(*types.Func); !ok || !isFunc || f.Pkg() != g.Pkg {
				return true
			}
			var list []ast.Expr
			for t := range inst.TypeArgs.Types() {
				list = append(list, g.write(id, t))
			}
			c.Replace(Index(id, list))
			g.again = true
			return true
		})
	}
}

// partOfInstance reports whether e is the generic operand of its parent, an instance.
func partOfInstance(e ast.Expr, parent ast.Node) bool {
	switch p := parent.(type) {
	case *ast.IndexExpr:
		return p.X == e
	case *ast.IndexListExpr:
		return p.X == e
	case *ast.SelectorExpr:
		return p.Sel == e
	}
	return false
}

// uses replaces uses of generics with concrete type arguments by their instances.
func (g *Generics) uses() {
	g.declarations(g.everywhere, func(file *ast.File, i int) {
		file.Decls[i] = astutil.Apply(file.Decls[i], nil, func(c *astutil.Cursor) bool {
			e, ok := c.Node().(ast.Expr)
			if !ok {
				return true
			}
			id := genericIdent(e)
			if id == nil || partOfInstance(e, c.Parent()) {
				return true
			}
			if x := g.instance(id); x != nil {
				g.again = true
				c.Replace(x)
			}
			return true
		}).(ast.Decl)
	})
}

// genericIdent returns the identifier by which the checker knows an instance.
func genericIdent(e ast.Expr) *ast.Ident {
	switch x := e.(type) {
	case *ast.Ident:
		return x
	case *ast.SelectorExpr:
		return x.Sel
	case *ast.IndexExpr:
		return genericIdent(ast.Unparen(x.X))
	case *ast.IndexListExpr:
		return genericIdent(ast.Unparen(x.X))
	}
	return nil
}

// instance returns the replacement of an instance; nil if it has to wait for another
// round or is not one.
func (g *Generics) instance(id *ast.Ident) ast.Expr {
	inst, ok := g.Info.Instances[id]
	o := g.Info.Uses[id]
	if !ok || o == nil {
		return nil
	}
	for t := range inst.TypeArgs.Types() {
		if !g.ground(t) {
			return nil
		}
	}
	if o.Pkg() != g.Pkg { // iter.Seq and similar types
		return nil
	}
	var args []string
	for t := range inst.TypeArgs.Types() {
		args = append(args, argumentText(t, func(n *types.Named) string {
			if n.Obj().Pkg() == g.Pkg {
				return n.Obj().Name()
			}
			return ""
		}))
	}
	key := o.Name() + "[" + strings.Join(args, ",") + "]"
	if x := g.Compiled(key, inst.Type); x != nil {
		place(x, id.Pos())
		return x
	}
	name := g.Known[key]
	if name == "" {
		name = g.Fresh(o.Name())
		g.Known[key] = name
		g.Origin[name] = o.Name()
		g.Suffix[name] = Arguments(inst.TypeArgs, func(n *types.Named, argument bool) string {
			if n.Obj().Pkg() != g.Pkg {
				return ""
			}
			return g.Label(n.Obj().Name(), argument)
		})
		g.make(o, name, inst.TypeArgs)
	} else {
		g.Want(name)
	}
	return &ast.Ident{NamePos: id.Pos(), Name: name}
}

// ground reports whether a type contains no type parameter, and no instance but those of func types of packages.
func (g *Generics) ground(t types.Type) bool {
	ok := true
	var seen []types.Type
	var walk func(types.Type)
	walk = func(t types.Type) {
		if t == nil || !ok || slices.Contains(seen, t) {
			return
		}
		seen = append(seen, t)
		switch t := t.(type) {
		case *types.TypeParam:
			ok = false
		case *types.Alias:
			walk(types.Unalias(t))
		case *types.Named:
			ok = ok && (t.TypeArgs().Len() == 0 || t.Obj().Pkg() != g.Pkg && IsFuncType(t.Obj()))
			for arg := range t.TypeArgs().Types() {
				walk(arg)
			}
		case *types.Pointer:
			walk(t.Elem())
		case *types.Slice:
			walk(t.Elem())
		case *types.Array:
			walk(t.Elem())
		case *types.Chan:
			walk(t.Elem())
		case *types.Map:
			walk(t.Key())
			walk(t.Elem())
		case *types.Struct:
			for f := range t.Fields() {
				walk(f.Type())
			}
		case *types.Tuple:
			for v := range t.Variables() {
				walk(v.Type())
			}
		case *types.Signature:
			walk(t.Params())
			walk(t.Results())
		case *types.Interface:
			for m := range t.ExplicitMethods() {
				walk(m.Signature())
			}
			for e := range t.EmbeddedTypes() {
				walk(e)
			}
		}
	}
	walk(t)
	return ok
}

// write writes a type as code of the unit, for a node.
func (g *Generics) write(at ast.Node, t types.Type) ast.Expr {
	e, err := TypeExpr(t, func(o *types.TypeName) (ast.Expr, error) {
		if o.Pkg() == nil || o.Pkg() == g.Pkg {
			return ast.NewIdent(o.Name()), nil
		}
		if !o.Exported() {
			return nil, fmt.Errorf("the type %s.%s has no name outside its package", o.Pkg().Name(), o.Name())
		}
		return &ast.SelectorExpr{X: ast.NewIdent(g.Alias(o.Pkg().Path())), Sel: ast.NewIdent(o.Name())}, nil
	})
	if err != nil && g.failed == nil {
		g.failed = &Unsupported{at.Pos(), err.Error()}
	}
	return e
}

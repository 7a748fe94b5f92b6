package assist

import (
	"go/ast"
	"go/token"
	"go/types"
	"go/version"
	"runtime"
	"strconv"
	"strings"

	"halfnote/interp/internal/exports"
	"halfnote/interp/internal/library"
)

// object offers the name that o declares.
func (c *completer) object(r rank, o types.Object) {
	n := len(c.matches)
	c.declared(r, o)
	if len(c.matches) > n {
		c.matches[n].object, c.matches[n].fit = o, c.want.fit(o)
	}
}

func (c *completer) declared(r rank, o types.Object) {
	t := c.probe.typeString(o.Type())
	switch o := o.(type) {
	case *types.PkgName:
		c.add(rankPackage, o.Name(), "module", o.Imported().Path())
	case *types.TypeName:
		c.add(r, o.Name(), "type", c.probe.typeString(o.Type().Underlying()))
	case *types.Const:
		c.add(r, o.Name(), "constant", t+" = "+o.Val().String())
	case *types.Func:
		kind := "function"
		if o.Signature().Recv() != nil {
			kind = "method"
		}
		c.add(r, o.Name(), kind, strings.TrimPrefix(t, "func"))
	case *types.Var:
		kind := "variable"
		if o.IsField() {
			kind = "field"
		}
		c.add(r, o.Name(), kind, t)
	case *types.Builtin:
		_, decl := exports.Doc("builtin", o.Name())
		c.add(r, o.Name(), "function", strings.TrimPrefix(decl, "func "+o.Name()))
	case *types.Nil:
		c.add(r, o.Name(), "constant", "")
	}
}

// members offers the names that can follow the dot.
func (c *completer) members() {
	p := c.probe
	if p.ident() == nil || !p.known() {
		return
	}
	x := p.path[1].(*ast.SelectorExpr).X
	if id, ok := x.(*ast.Ident); ok {
		if pkg, ok := p.info.Uses[id].(*types.PkgName); ok {
			scope := pkg.Imported().Scope()
			for _, name := range scope.Names() {
				if o := scope.Lookup(name); o.Exported() {
					c.object(rankPackage, o)
				}
			}
			if p.missing[id.Name] != nil {
				for i := range c.matches {
					c.matches[i].Signature += "  // " + importOf(pkg.Imported().Path())
				}
			}
			return
		}
	}
	tv := p.info.Types[x]
	if tv.IsType() { // a method expression
		c.methods(tv.Type)
		return
	}
	c.fields(tv.Type)
	c.methods(tv.Type)
	if types.IsInterface(tv.Type) {
		c.dynamicMembers(x)
	}
}

// dynamicMembers offers the members of an interface variable's current value, each with the
// required type assertion.
func (c *completer) dynamicMembers(x ast.Expr) {
	t := c.probe.holds(x)
	if t == nil {
		return
	}
	assertion := "(" + c.probe.typeString(t) + ")"
	inner := completer{code: c.code, prefix: c.prefix, probe: c.probe, seen: c.seen}
	inner.fields(t)
	inner.methods(t)
	c.add(rankLocal, assertion, "type", "its dynamic type")
	for _, m := range inner.matches {
		m.Text = assertion + "." + m.Text
		m.rank = rankLocal
		c.matches = append(c.matches, m)
	}
}

// fields offers the fields of a struct or a pointer to one, then those of embedded
// structs.
func (c *completer) fields(t types.Type) {
	seen := map[types.Type]bool{}
	for level := []types.Type{t}; len(level) > 0; {
		var next []types.Type
		for _, t := range level {
			t = pointee(t)
			s, ok := t.Underlying().(*types.Struct)
			if !ok || seen[t] {
				continue
			}
			seen[t] = true
			for f := range s.Fields() {
				if f.Exported() || f.Pkg() == c.probe.pkg {
					c.object(rankField, f)
				}
				if f.Embedded() {
					next = append(next, f.Type())
				}
			}
		}
		level = next
	}
}

// methods offers the method sets of t and *t: a variable has both.
func (c *completer) methods(t types.Type) {
	if _, ok := t.Underlying().(*types.Pointer); !ok && !types.IsInterface(t) {
		t = types.NewPointer(t)
	}
	set := types.NewMethodSet(t)
	for i := range set.Len() {
		if m := set.At(i).Obj(); m.Exported() || m.Pkg() == c.probe.pkg {
			c.object(rankMethod, m)
		}
	}
}

// keys offers the unused fields of the struct literal that the cursor is in, where a
// key is allowed.
func (c *completer) keys() {
	p := c.probe
	if p.ident() == nil || len(p.path) < 2 {
		return
	}
	var at ast.Expr = p.ident()
	outer := p.path[1]
	if kv, ok := outer.(*ast.KeyValueExpr); ok && kv.Key == at && len(p.path) > 2 {
		at, outer = kv, p.path[2]
	}
	lit, ok := outer.(*ast.CompositeLit)
	if !ok || at == lit.Type || !isValid(p.info.Types[lit].Type) {
		return
	}
	s, ok := pointee(p.info.Types[lit].Type).Underlying().(*types.Struct)
	if !ok {
		return
	}
	there := map[string]bool{}
	for _, e := range lit.Elts {
		kv, ok := e.(*ast.KeyValueExpr)
		if !ok && e != at {
			return // the elements have no keys
		}
		if ok && e != at {
			if id, ok := kv.Key.(*ast.Ident); ok {
				there[id.Name] = true
			}
		}
	}
	for f := range s.Fields() {
		if (f.Exported() || f.Pkg() == p.pkg) && !there[f.Name()] {
			c.object(rankKey, f)
		}
	}
	if hasPromotedKeys {
		c.promotedKeys(s, there)
	}
}

// hasPromotedKeys reports whether promoted fields can be keys of struct literals.
var hasPromotedKeys = version.Compare(runtime.Version(), "go1.27") >= 0

// promotedKeys offers the promoted fields of the structs that a struct embeds, except of those that the
// literal has a key for.
func (c *completer) promotedKeys(s *types.Struct, there map[string]bool) {
	seen := map[string]bool{}
	for depth := []*types.Struct{s}; len(depth) > 0; {
		var deeper []*types.Struct
		var found []*types.Var
		times := map[string]int{}
		for _, s := range depth {
			for f := range s.Fields() {
				if !seen[f.Name()] {
					times[f.Name()]++
					found = append(found, f)
				}
				if inner, ok := f.Type().Underlying().(*types.Struct); ok && f.Embedded() && !there[f.Name()] && !seen[f.Name()] {
					deeper = append(deeper, inner)
				}
			}
		}
		for _, f := range found {
			seen[f.Name()] = true
			if depth[0] != s && times[f.Name()] == 1 && (f.Exported() || f.Pkg() == c.probe.pkg) && !there[f.Name()] {
				c.object(rankField, f)
			}
		}
		depth = deeper
	}
}

// labels offers the labels for break, continue or goto; ok is false if the cursor does
// not follow one of these.
func (c *completer) labels() (ok bool) {
	p := c.probe
	if p.ident() == nil || len(p.path) < 2 {
		return false
	}
	branch, ok := p.path[1].(*ast.BranchStmt)
	if !ok {
		return false
	}
	for _, n := range p.path {
		switch n := n.(type) {
		case *ast.LabeledStmt:
			c.add(rankKey, n.Label.Name, "label", branch.Tok.String())
		case *ast.FuncLit, *ast.FuncDecl:
			if branch.Tok == token.GOTO {
				ast.Inspect(n, func(n ast.Node) bool {
					if l, ok := n.(*ast.LabeledStmt); ok {
						c.add(rankKey, l.Label.Name, "label", branch.Tok.String())
					}
					return true
				})
			}
			return true
		}
	}
	return true
}

// names offers the names in scope, the packages, and the keywords.
func (c *completer) names() {
	p := c.probe
	inner := p.scope()
	if inner == nil && p.pkg != nil {
		inner = p.pkg.Scope()
	}
	for s := inner; s != nil; s = s.Parent() {
		r := rankLocal
		switch {
		case s == types.Universe:
			r = rankPackage
		case p.pkg != nil && s == p.pkg.Scope():
			r = rankSession
		}
		for _, name := range s.Names() {
			if _, o := inner.LookupParent(name, p.pos); o != nil && o.Parent() == s {
				c.object(r, o)
			}
		}
	}
	if c.prefix != "" {
		c.outputs()
	}
	for name, path := range p.Imports {
		c.add(rankPackage, name, "module", path)
	}
	for tok := token.BREAK; tok <= token.VAR; tok++ {
		c.add(rankKeyword, tok.String(), "keyword", "")
	}
	if c.prefix == "" {
		return
	}
	for _, path := range exports.Packages() {
		c.add(rankImport, exports.Name(path), "module", importOf(path))
	}
}

func importOf(path string) string { return "import " + strconv.Quote(path) }

func (c *completer) importPaths(loader *library.Loader) {
	for _, path := range exports.Packages() {
		if strings.HasPrefix(path, c.prefix) {
			c.add(rankPackage, path, "module", exports.Synopsis(path))
		}
	}
	if loader != nil {
		for _, path := range loader.Paths(c.prefix) {
			c.add(rankSession, path, "module", "")
		}
	}
}

// wantsType reports whether only a type is valid at the cursor.
func (p *probe) wantsType() bool {
	if p.ident() == nil {
		return false
	}
	n := ast.Node(p.ident())
	for _, outer := range p.path[1:] {
		switch outer := outer.(type) {
		case *ast.SelectorExpr:
			n = outer
			continue
		case *ast.Field:
			return outer.Type == n
		case *ast.ValueSpec:
			return outer.Type == n
		case *ast.TypeSpec:
			return outer.Type == n
		case *ast.ArrayType:
			return outer.Elt == n
		case *ast.MapType, *ast.ChanType:
			return true
		case *ast.CompositeLit:
			return outer.Type == n
		case *ast.TypeAssertExpr:
			return outer.Type == n
		case *ast.StarExpr: // a type only where one is expected
			n = outer
			continue
		}
		return false
	}
	return false
}

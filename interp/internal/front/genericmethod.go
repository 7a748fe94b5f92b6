package front

import (
	"fmt"
	"go/ast"
	"go/types"
	"strings"

	"halfnote/interp/internal/exports"
	"halfnote/interp/internal/lower"
)

// The front end treats a method with type parameters as a generic function (see
// lower.GenericMethods): it has a binding, whose name is T.M, besides being a method of its type.

// bindGenericMethod makes the binding of the function that a generic method becomes.
func (c *Bound) bindGenericMethod(m *Method, fn *types.Func) {
	old := c.Env.Of(m.Typ).Method(m.Name)
	m.Fn = &Binding{
		Name: m.Typ.Name + "." + m.Name, Kind: KindFunc, Generic: true, Made: m.Src.Cell, Seq: c.Seq, Src: m.Src,
		Typ: exports.TypeString(fn.Type(), c.Pkg), Slot: c.slotName(fmt.Sprintf("%s_%s__%d", m.Typ.Slot, m.Name, c.Seq)), Again: old != nil && old.Fn != nil,
	}
	c.methodFns[fn] = m.Fn
}

// methodFn returns the binding of a generic method of the session, or nil.
func (c *Bound) methodFn(fn *types.Func) *Binding {
	if fn = fn.Origin(); !lower.IsGenericMethod(fn) {
		return nil
	}
	if b := c.methodFns[fn]; b != nil {
		return b
	}
	if t := receiverType(fn); t != nil {
		if b := c.BindingOf(t); b != nil {
			if m := c.Env.Of(b).Method(fn.Name()); m != nil {
				return m.Fn
			}
		}
	}
	return nil
}

// receiverType returns the name of the type that has a method.
func receiverType(fn *types.Func) types.Object {
	t := fn.Signature().Recv().Type()
	if p, ok := types.Unalias(t).(*types.Pointer); ok {
		t = p.Elem()
	}
	if n, ok := types.Unalias(t).(*types.Named); ok {
		return n.Origin().Obj()
	}
	return nil
}

// methodFn returns the binding of the generic method named T.M, or nil.
func (e *Env) methodFn(name string) *Binding {
	typ, method, ok := strings.Cut(name, ".")
	if !ok || e.Named(typ) == nil {
		return nil
	}
	if m := e.Of(e.Named(typ)).Method(method); m != nil {
		return m.Fn
	}
	return nil
}

// current reports whether a name still has the meaning of a binding.
func (e *Env) current(b *Binding) bool { return e.Named(b.Name) == b || e.methodFn(b.Name) == b }

// genericMethods returns the rewrite of generic methods in trees that info describes.
func (c *Lowering) genericMethods(info *types.Info) *lower.GenericMethods {
	return &lower.GenericMethods{Info: info, Name: c.unitNames, Function: func(fn *types.Func) string {
		if b := c.methodFn(fn); b != nil {
			return b.Slot
		}
		return c.Session.Packages.methodName(fn)
	}}
}

// methodName returns the engine's name of the function that a generic method of a package
// becomes, or "" for other functions.
func (p *Packages) methodName(fn *types.Func) string {
	t := receiverType(fn)
	if t == nil || !lower.IsGenericMethod(fn) || t.Pkg() == nil || p.Units[t.Pkg()] == nil {
		return ""
	}
	return fmt.Sprintf("%s_%s_%s__%d", t.Pkg().Name(), t.Name(), fn.Name(), p.Units[t.Pkg()].seq)
}

// plainMethods replaces the uses of generic methods in the cell.
func (c *Lowering) plainMethods() error {
	if len(c.Info.Instances) == 0 {
		return nil
	}
	g := c.genericMethods(c.Info)
	for _, f := range append(c.Decls, c.Stmts) {
		for i, d := range f.Decls {
			n, err := g.Uses(d)
			if err != nil {
				return c.Unsupported(err)
			}
			f.Decls[i] = n.(ast.Decl)
		}
	}
	return nil
}

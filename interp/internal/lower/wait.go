package lower

import (
	"go/ast"
	"go/token"
	"go/types"

	"golang.org/x/tools/go/ast/astutil"
)

// waits maps methods that wait, or that would end the process when misused, to the support
// functions that replace them. These take a pointer to the receiver, and also wait for the
// end of the cell, or panic.
var waits = map[string]string{
	"(*bytes.Buffer).Grow":    "GrowBuffer",
	"(*flag.FlagSet).Parse":   "ParseFlags",
	"(*log.Logger).Fatal":     "LoggerFatal",
	"(*log.Logger).Fatalf":    "LoggerFatalf",
	"(*log.Logger).Fatalln":   "LoggerFatalln",
	"(*math/big.Int).Lsh":     "ShiftInt",
	"(*strings.Builder).Grow": "GrowBuilder",
	"(*sync.Cond).Wait":       "CondWait",
	"(*sync.Mutex).Lock":      "Lock",
	"(*sync.Mutex).Unlock":    "Unlock",
	"(*sync.RWMutex).Lock":    "Lock",
	"(*sync.RWMutex).RLock":   "RLock",
	"(*sync.RWMutex).RUnlock": "RUnlock",
	"(*sync.RWMutex).Unlock":  "UnlockRW",
	"(*sync.WaitGroup).Go":    "WaitGo",
	"(*sync.WaitGroup).Wait":  "Wait",
	"(*time.Timer).Reset":     "ResetTimer",
	"(sync.Locker).Lock":      "Lock",
	"(sync.Locker).Unlock":    "UnlockLocker",
}

// waitCalls replaces methods that wait by support functions.
func (u *Unit) waitCalls() {
	u.each(func(c *astutil.Cursor) {
		x, ok := c.Node().(*ast.CallExpr)
		if !ok {
			return
		}
		sel, ok := ast.Unparen(x.Fun).(*ast.SelectorExpr)
		if !ok {
			return
		}
		s := u.Info.Selections[sel]
		if s == nil || s.Kind() != types.MethodVal {
			return
		}
		name := waits[s.Obj().(*types.Func).FullName()]
		if name == "" {
			return
		}
		recv, t := u.receiver(sel, s)
		if _, ok := t.Underlying().(*types.Pointer); !ok && !types.IsInterface(t) {
			recv = &ast.UnaryExpr{Op: token.AND, X: recv}
		}
		u.imports = true
		c.Replace(u.as(calledFrom(sel.Sel.Pos(), Support(name, append([]ast.Expr{recv}, x.Args...)...)), x))
	})
}

// receiver writes out the embedded fields that lead to a promoted method, and returns
// the expression and the type of the field that has the method.
func (u *Unit) receiver(sel *ast.SelectorExpr, s *types.Selection) (ast.Expr, types.Type) {
	done := u.expanded[sel]
	return u.path(sel.X, typeAfter(s, done), s.Index()[done:])
}

// fieldName is a field's name in the unit: an embedded field is named after its type.
func (u *Unit) fieldName(f *types.Var) string {
	if !f.Embedded() {
		return f.Name()
	}
	if o, ok := TypeName(f.Type()).(*types.TypeName); ok && o.Pkg() == u.Pkg {
		return u.nameOf(o)
	}
	return f.Name()
}

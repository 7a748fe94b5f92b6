package lower

import (
	"go/ast"
	"go/token"
	"go/types"
	"slices"

	"golang.org/x/tools/go/ast/astutil"
)

// waits maps methods and functions that wait, or that would end the process when misused, to the support
// functions that replace them. These take a pointer to the receiver of a method, and also wait for the
// end of the cell, or panic.
var waits = map[string]string{
	"(*bytes.Buffer).Grow":          "GrowBuffer",
	"(*flag.FlagSet).Parse":         "ParseFlags",
	"(*log.Logger).Fatal":           "LoggerFatal",
	"(*log.Logger).Fatalf":          "LoggerFatalf",
	"(*log.Logger).Fatalln":         "LoggerFatalln",
	"(*math/big.Int).Lsh":           "ShiftInt",
	"(*os/exec.Cmd).CombinedOutput": "CommandCombinedOutput",
	"(*os/exec.Cmd).Output":         "CommandOutput",
	"(*os/exec.Cmd).Run":            "CommandRun",
	"(*os/exec.Cmd).Wait":           "CommandWait",
	"(*strings.Builder).Grow":       "GrowBuilder",
	"(*sync.Cond).Wait":             "CondWait",
	"(*sync.Mutex).Lock":            "Lock",
	"(*sync.Mutex).Unlock":          "Unlock",
	"(*sync.RWMutex).Lock":          "Lock",
	"(*sync.RWMutex).RLock":         "RLock",
	"(*sync.RWMutex).RUnlock":       "RUnlock",
	"(*sync.RWMutex).Unlock":        "UnlockRW",
	"(*sync.WaitGroup).Go":          "WaitGo",
	"(*sync.WaitGroup).Wait":        "Wait",
	"(*time.Timer).Reset":           "ResetTimer",
	"(sync.Locker).Lock":            "Lock",
	"(sync.Locker).Unlock":          "UnlockLocker",
	"time.Sleep":                    "Sleep",
}

// placed are the support functions whose last argument is the mark of the place, for lists of goroutines.
var placed = []string{"CondWait", "Lock", "RLock", "Sleep", "Wait", "WaitGo"}

// waitCalls replaces methods and functions that wait by support functions.
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
		o := u.Info.Uses[sel.Sel]
		if s != nil {
			o = s.Obj()
		}
		fn, ok := o.(*types.Func)
		if !ok || waits[fn.FullName()] == "" || s != nil && s.Kind() != types.MethodVal {
			return
		}
		name, args := waits[fn.FullName()], x.Args
		support := SupportName(name).(*ast.SelectorExpr)
		if s == nil { // the operands may be constants, which have no places
			support.X.(*ast.Ident).NamePos, support.Sel.NamePos = sel.Pos(), sel.Sel.Pos()
		} else {
			recv, t := u.receiver(sel, s)
			if _, ok := t.Underlying().(*types.Pointer); !ok && !types.IsInterface(t) {
				recv = &ast.UnaryExpr{Op: token.AND, X: recv}
			}
			args = append([]ast.Expr{recv}, args...)
		}
		if slices.Contains(placed, name) {
			args = append(slices.Clip(args), u.placed(sel.Sel.Pos()))
		}
		u.imports = true
		c.Replace(u.as(calledFrom(sel.Sel.Pos(), &ast.CallExpr{Fun: support, Args: args}), x))
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

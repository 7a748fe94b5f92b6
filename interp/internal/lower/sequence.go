package lower

import (
	"go/ast"
	"go/token"
	"go/types"
	"slices"
)

// effect is what an operation may do, apart from computing a value.
type effect uint8

const (
	doesPanic  effect = 1 << iota
	doesShow          // print, or panic with any value
	doesChange        // change variables
	doesRead          // read variables that a call may change
)

// before reports whether it shows that one operation comes before another.
func (a effect) before(b effect) bool {
	const visible = doesPanic | doesShow | doesChange
	either := func(x, y effect) bool { return a&x != 0 && b&y != 0 || b&x != 0 && a&y != 0 }
	return either(doesPanic, visible) || either(doesShow, doesShow) || either(doesChange, doesChange|doesRead)
}

// step is an operation of a statement. Its place is where the value of the operation stands; it is nil for the assignment to an element and
// for a division that is part of an assignment.
type step struct {
	place *ast.Expr
	does  effect
	kind  stepKind
}

type stepKind int

const (
	computes     stepKind = iota
	dereferences          // the pointer at the place
	calls                 // the method or function at the place, which may be missing
	stays                 // in the statement, with all that comes after it
)

// sequence lists the operations of a statement in the order of the Go compiler. The compiler goes over a statement three times. Its order pass
// makes temporaries for calls, receive operations, assertions, slices, logical operations and map literals (cmd/compile/internal/walk/order.go).
// The walk after it makes temporaries for literals, values in interfaces, and operands of functions of the runtime, such as those of sums of
// strings and map reads (complit.go, convert.go). What is left is computed from left to right.
type sequence struct {
	lateReader
	done  map[*ast.Expr]bool // places of operations that are listed or have no effect
	steps []step
}

// operandPlace returns the place of an operand without its parentheses.
func operandPlace(e *ast.Expr) *ast.Expr {
	for {
		p, ok := (*e).(*ast.ParenExpr)
		if !ok {
			return e
		}
		e = &p.X
	}
}

// simple reports whether an expression has no operations: a name, a constant, a type or a function.
func (u *Unit) simple(e ast.Expr) bool {
	tv := u.Info.Types[e]
	if tv.Value != nil || tv.IsType() || tv.IsNil() || u.written[e] != nil {
		return true
	}
	switch x := e.(type) {
	case *ast.Ident, *ast.BasicLit, *ast.FuncLit, *ast.IndexListExpr:
		return true
	case *ast.IndexExpr:
		return u.isGeneric(x.X)
	case *ast.SelectorExpr:
		s := u.Info.Selections[x]
		return s == nil || s.Kind() == types.MethodExpr
	}
	return false
}

// parts returns the places of the operands of an operation.
func (u *Unit) parts(e ast.Expr) (list []*ast.Expr) {
	switch x := e.(type) {
	case *ast.BinaryExpr:
		return []*ast.Expr{&x.X, &x.Y}
	case *ast.UnaryExpr:
		if x.Op != token.AND {
			return []*ast.Expr{&x.X}
		}
		return u.placeParts(&x.X)
	case *ast.StarExpr:
		return []*ast.Expr{&x.X}
	case *ast.SelectorExpr:
		s := u.Info.Selections[x]
		if s.Kind() == types.MethodVal && isPointer(s.Obj().(*types.Func).Signature().Recv().Type()) && !isPointer(orInvalid(u.typeOf(x.X))) {
			return u.placeParts(&x.X)
		}
		return []*ast.Expr{&x.X}
	case *ast.IndexExpr:
		return []*ast.Expr{&x.X, &x.Index}
	case *ast.SliceExpr:
		list = []*ast.Expr{&x.X}
		if _, array := orInvalid(u.typeOf(x.X)).Underlying().(*types.Array); array {
			list = u.placeParts(&x.X)
		}
		for _, b := range []*ast.Expr{&x.Low, &x.High, &x.Max} {
			if *b != nil {
				list = append(list, b)
			}
		}
	case *ast.TypeAssertExpr:
		return []*ast.Expr{&x.X}
	case *ast.CallExpr:
		list = u.calleeParts(x)
		for i := range x.Args {
			list = append(list, &x.Args[i])
		}
	case *ast.CompositeLit:
		for i, e := range x.Elts {
			if kv, ok := e.(*ast.KeyValueExpr); !ok {
				list = append(list, &x.Elts[i])
			} else if u.isMap(x) {
				list = append(list, &kv.Key, &kv.Value)
			} else {
				list = append(list, &kv.Value)
			}
		}
	}
	return list
}

// placeParts returns the places of the operands that lead to a variable.
func (u *Unit) placeParts(e *ast.Expr) []*ast.Expr {
	e = operandPlace(e)
	switch x := (*e).(type) {
	case *ast.Ident:
		return nil
	case *ast.StarExpr:
		return []*ast.Expr{&x.X}
	case *ast.CompositeLit:
		return u.parts(x)
	case *ast.IndexExpr:
		if _, array := orInvalid(u.typeOf(x.X)).Underlying().(*types.Array); array {
			return append(u.placeParts(&x.X), &x.Index)
		}
		return []*ast.Expr{&x.X, &x.Index}
	case *ast.SelectorExpr:
		if s := u.Info.Selections[x]; s == nil {
			return nil
		} else if s.Kind() == types.FieldVal && !isPointer(orInvalid(u.typeOf(x.X))) {
			return u.placeParts(&x.X)
		}
		return []*ast.Expr{&x.X}
	}
	return []*ast.Expr{e}
}

// calleeParts returns the places of the operands that lead to the function of a call.
func (u *Unit) calleeParts(x *ast.CallExpr) []*ast.Expr {
	f := operandPlace(&x.Fun)
	if u.Info.Types[*f].IsType() || u.simple(*f) {
		return nil
	}
	if sel, ok := (*f).(*ast.SelectorExpr); ok && u.Info.Selections[sel].Kind() == types.MethodVal {
		return u.parts(sel)
	}
	return []*ast.Expr{f}
}

// methodOf returns the declared method that a call is of, whose receiver is its first argument, or nil.
func (u *Unit) methodOf(x *ast.CallExpr) *ast.SelectorExpr {
	sel, ok := ast.Unparen(x.Fun).(*ast.SelectorExpr)
	if !ok {
		return nil
	}
	s := u.Info.Selections[sel]
	if s == nil || s.Kind() != types.MethodVal || types.IsInterface(s.Obj().(*types.Func).Signature().Recv().Type()) {
		return nil
	}
	return sel
}

// argType returns the type of an argument of a call, or nil if the argument keeps its type.
func (u *Unit) argType(x *ast.CallExpr, i int) types.Type {
	switch u.builtinName(x.Fun) {
	case "":
	case "append":
		if s, ok := orInvalid(u.typeOf(x)).Underlying().(*types.Slice); ok && i > 0 && !x.Ellipsis.IsValid() {
			return s.Elem()
		}
		return nil
	case "panic":
		return anyType
	case "delete":
		if m, ok := orInvalid(u.typeOf(x.Args[0])).Underlying().(*types.Map); ok && i == 1 {
			return m.Key()
		}
		return nil
	default:
		return nil
	}
	if t := u.Info.Types[x.Fun]; t.IsType() {
		return t.Type
	}
	sig, ok := orInvalid(u.typeOf(x.Fun)).Underlying().(*types.Signature)
	if !ok || sig.Params().Len() == 0 || x.Ellipsis.IsValid() && i == len(x.Args)-1 {
		return nil
	}
	return paramType(sig, i)
}

// boxes reports whether a value is put into an interface of type to.
func (u *Unit) boxes(e ast.Expr, to types.Type) bool {
	tv := u.Info.Types[e]
	return to != nil && types.IsInterface(to) && tv.Type != nil && !isTupleType(tv.Type) && !tv.IsNil() && tv.Value == nil && !types.Identical(tv.Type, to)
}

// elementType returns the type of the element of a literal at an index.
func (u *Unit) elementType(lit *ast.CompositeLit, i int) types.Type {
	t := orInvalid(u.typeOf(lit)).Underlying()
	if p, ok := t.(*types.Pointer); ok {
		t = p.Elem().Underlying()
	}
	switch t := t.(type) {
	case *types.Slice:
		return t.Elem()
	case *types.Array:
		return t.Elem()
	case *types.Struct:
		kv, ok := lit.Elts[i].(*ast.KeyValueExpr)
		if !ok {
			return t.Field(i).Type()
		}
		for f := range t.Fields() {
			if id, ok := kv.Key.(*ast.Ident); ok && f.Name() == id.Name {
				return f.Type()
			}
		}
	}
	return nil
}

// compared returns the type in which two operands are compared.
func (u *Unit) compared(x *ast.BinaryExpr) types.Type {
	a, b := orInvalid(u.typeOf(x.X)), orInvalid(u.typeOf(x.Y))
	if types.IsInterface(b) {
		return b
	}
	return a
}

func isComparison(op token.Token) bool {
	switch op {
	case token.EQL, token.NEQ, token.LSS, token.LEQ, token.GTR, token.GEQ:
		return true
	}
	return false
}

// order lists what the order pass computes.
func (q *sequence) order(e *ast.Expr) {
	e = operandPlace(e)
	if q.u.simple(*e) {
		return
	}
	switch x := (*e).(type) {
	case *ast.BinaryExpr:
		switch {
		case x.Op == token.LAND || x.Op == token.LOR:
			q.add(e)
		case isComparison(x.Op):
			t := q.u.compared(x)
			for _, o := range []*ast.Expr{&x.X, &x.Y} {
				q.orderAs(o, t)
				if isComposite(t) && !q.u.addressable(*o) {
					q.finish(o)
				}
			}
		default:
			q.order(&x.X)
			q.order(&x.Y)
		}
	case *ast.CallExpr:
		q.orderCall(x)
		if !q.u.Info.Types[x.Fun].IsType() || isBytes(q.u.typeOf(x)) && isText(q.u.typeOf(x.Args[0])) {
			q.finishCall(x)
			q.add(e)
		}
	case *ast.UnaryExpr:
		for _, o := range q.u.parts(x) {
			q.order(o)
		}
		if x.Op == token.ARROW {
			q.finish(&x.X)
			q.add(e)
		}
	case *ast.TypeAssertExpr:
		q.order(&x.X)
		if !inWord(q.u.typeOf(x)) {
			q.finish(e)
		}
	case *ast.SliceExpr:
		list := q.u.parts(x)
		for _, o := range list {
			q.order(o)
			if o == &x.Low || o == &x.High || o == &x.Max {
				q.finish(o)
			}
		}
		q.finish(e)
	case *ast.IndexExpr:
		q.order(&x.X)
		if q.u.isMap(x.X) {
			q.orderKey(&x.Index, q.u.typeOf(x.X))
		} else {
			q.order(&x.Index)
		}
	case *ast.CompositeLit:
		if !q.u.isMap(x) {
			for i, o := range q.u.parts(x) {
				q.orderAs(o, q.u.elementType(x, i))
			}
			return
		}
		for _, entry := range x.Elts { // one assignment after the other
			kv := entry.(*ast.KeyValueExpr)
			t := orInvalid(q.u.typeOf(x)).Underlying().(*types.Map)
			q.orderKey(&kv.Key, t)
			q.orderAs(&kv.Value, t.Elem())
			q.finishAs(&kv.Value, t.Elem())
			q.finishAs(&kv.Key, t.Key())
		}
		q.add(e)
	default:
		for _, o := range q.u.parts(x) {
			q.order(o)
		}
	}
}

// orderAs is order for an operand that is converted to a type. Most values that do not fit a number go into interfaces by their address.
func (q *sequence) orderAs(e *ast.Expr, to types.Type) {
	q.order(e)
	if q.u.boxes(*e, to) && byAddress(q.u.typeOf(*e)) && !q.u.addressable(*e) {
		q.finish(e)
	}
}

// orderKey is order for the key of a map.
func (q *sequence) orderKey(e *ast.Expr, m types.Type) {
	t := m.Underlying().(*types.Map)
	q.orderAs(e, t.Key())
	switch {
	case keyAsMemory(t):
		q.finish(e)
		q.variable(e)
	case !lateKeys(m) && !q.u.addressable(*e):
		q.finishAs(e, t.Key())
	}
}

// orderCall is order for the operands of a call.
func (q *sequence) orderCall(x *ast.CallExpr) {
	for _, o := range q.u.calleeParts(x) {
		q.order(o)
	}
	for i := range x.Args {
		q.orderAs(&x.Args[i], q.u.argType(x, i))
	}
}

// finishCall lists what is left of the operands of a call.
func (q *sequence) finishCall(x *ast.CallExpr) {
	u := q.u
	if u.isBuiltin(x.Fun, "append") {
		q.finishAppend(x)
		return
	}
	callee := u.calleeParts(x)
	for _, o := range callee {
		q.walk(o)
	}
	sig, _ := orInvalid(u.typeOf(x.Fun)).Underlying().(*types.Signature)
	for i := range x.Args {
		t := u.argType(x, i)
		q.walkAs(&x.Args[i], t)
		if sig != nil && sig.Variadic() && i >= sig.Params().Len()-1 && !x.Ellipsis.IsValid() { // an element of a literal
			q.run(&x.Args[i])
		}
	}
	recv := u.methodOf(x)
	if recv != nil {
		for _, o := range callee {
			q.run(o)
		}
		q.receiverPointer(x)
	}
	for i := range x.Args {
		if q.mayCall(&x.Args[i]) {
			q.run(&x.Args[i])
		}
	}
	for _, o := range callee {
		q.run(o)
	}
	q.missing(x)
	for i := range x.Args {
		q.run(&x.Args[i])
	}
}

// mayCall reports whether the compiler computes an argument before it has the function (cmd/compile/internal/walk, mayCall): whether something in it
// may panic, apart from shifts, or calls the runtime.
func (q *sequence) mayCall(e *ast.Expr) bool {
	e = operandPlace(e)
	if q.done[e] || q.u.simple(*e) {
		return false
	}
	switch x := (*e).(type) {
	case *ast.IndexExpr, *ast.StarExpr, *ast.SliceExpr, *ast.TypeAssertExpr:
		return true
	case *ast.SelectorExpr:
		if q.u.Info.Selections[x].Indirect() {
			return true
		}
	case *ast.BinaryExpr:
		if x.Op == token.QUO || x.Op == token.REM || isText(q.u.typeOf(x.X)) || isComparison(x.Op) && holdsInterface(orInvalid(q.u.typeOf(x.X))) {
			return true
		}
	case *ast.CallExpr:
		if isText(q.u.typeOf(x)) || q.lateReader.effects(x)&doesPanic != 0 {
			return true
		}
	}
	return slices.ContainsFunc(q.u.parts(*e), q.mayCall)
}

// missing lists the search for the method of an interface.
func (q *sequence) missing(x *ast.CallExpr) {
	if sel, ok := ast.Unparen(x.Fun).(*ast.SelectorExpr); ok && q.u.methodOf(x) == nil && q.u.Info.Selections[sel] != nil && q.u.Info.Selections[sel].Kind() == types.MethodVal {
		q.steps = append(q.steps, step{&x.Fun, doesPanic, calls})
	}
}

// finishAppend is finishCall for append, which computes elements of slices and what pointers point to after the other values.
func (q *sequence) finishAppend(x *ast.CallExpr) {
	for i := range x.Args {
		if t := q.u.argType(x, i); q.u.boxes(x.Args[i], t) {
			q.finishAs(&x.Args[i], t)
		} else {
			q.safe(&x.Args[i], false)
		}
	}
	for i := range x.Args {
		if i > 0 || x.Ellipsis.IsValid() {
			q.finish(&x.Args[i])
		}
	}
	q.finish(&x.Args[0])
}

// safe lists the operations that lead to a place, and those of an expression that is none. Reads of maps are calls once they are walked.
func (q *sequence) safe(e *ast.Expr, walked bool) {
	e = operandPlace(e)
	if q.done[e] || q.u.simple(*e) {
		return
	}
	switch x := (*e).(type) {
	case *ast.SelectorExpr:
		q.safe(&x.X, walked)
	case *ast.StarExpr:
		q.safe(&x.X, walked)
	case *ast.IndexExpr:
		q.safe(&x.X, walked)
		q.safe(&x.Index, walked)
		if walked && q.u.isMap(x.X) {
			q.finish(e)
		}
	default:
		q.finish(e)
	}
}

// walk lists what the walk computes.
func (q *sequence) walk(e *ast.Expr) {
	e = operandPlace(e)
	if q.done[e] || q.u.simple(*e) {
		return
	}
	u := q.u
	switch x := (*e).(type) {
	case *ast.CompositeLit:
		q.walkLiteral(x)
		q.add(e)
	case *ast.UnaryExpr:
		if lit, ok := ast.Unparen(x.X).(*ast.CompositeLit); ok && x.Op == token.AND {
			q.walkLiteral(lit)
			q.add(e)
			return
		}
		for _, o := range u.parts(x) {
			q.walk(o)
		}
	case *ast.IndexExpr:
		q.walk(&x.X)
		if m, ok := orInvalid(u.typeOf(x.X)).Underlying().(*types.Map); ok {
			q.walkAs(&x.Index, m.Key())
			q.run(&x.X)
			q.run(&x.Index)
		} else {
			q.walk(&x.Index)
		}
	case *ast.BinaryExpr:
		t := orInvalid(u.typeOf(x.X))
		switch {
		case x.Op == token.ADD && isText(t):
			terms := u.terms(e)
			for _, o := range terms {
				q.walk(o)
			}
			for _, o := range terms {
				q.run(o)
			}
		case isComparison(x.Op) && types.IsInterface(u.compared(x)) && !u.isNil(x.X) && !u.isNil(x.Y):
			q.finishAs(&x.Y, u.compared(x))
			q.finishAs(&x.X, u.compared(x))
		case isComparison(x.Op) && isText(t) && (x.Op == token.EQL || x.Op == token.NEQ):
			q.finish(&x.X)
			q.finish(&x.Y)
		case isComparison(x.Op) && isText(t):
			q.walk(&x.X)
			q.walk(&x.Y)
			q.run(&x.X)
			q.run(&x.Y)
		default:
			q.walk(&x.X)
			q.walk(&x.Y)
		}
	case *ast.CallExpr: // a conversion, because other calls are listed
		t := u.typeOf(x)
		q.walkAs(&x.Args[0], t)
		if isText(t) || isText(u.typeOf(x.Args[0])) {
			q.run(&x.Args[0])
		}
	case *ast.SelectorExpr:
		for _, o := range u.parts(x) {
			q.walk(o)
			if u.Info.Selections[x].Kind() == types.MethodVal {
				q.run(o)
			}
		}
		if u.Info.Selections[x].Kind() == types.MethodVal {
			q.add(e)
		}
	default:
		for _, o := range u.parts(x) {
			q.walk(o)
		}
	}
}

// walkAs is walk for an operand that is converted to a type.
func (q *sequence) walkAs(e *ast.Expr, to types.Type) {
	q.walk(e)
	if q.u.boxes(*e, to) {
		q.run(e)
		if q.u.boxed(q.u.typeOf(*e)) { // computed by a function of Yaegi's support
			q.variable(e)
		}
	}
}

// walkLiteral lists the elements of a literal, one after the other.
func (q *sequence) walkLiteral(lit *ast.CompositeLit) {
	for i, o := range q.u.parts(lit) {
		q.finishAs(o, q.u.elementType(lit, i))
	}
}

// run lists the operations of an operand that are left.
func (q *sequence) run(e *ast.Expr) {
	e = operandPlace(e)
	if q.done[e] || q.u.simple(*e) {
		return
	}
	for i, o := range q.u.parts(*e) {
		q.run(o)
		if i == 0 {
			q.arrayPointer(*e)
		}
	}
	q.add(e)
}

// arrayPointer lists the dereference of a pointer to an array for an index, which comes before the index.
func (q *sequence) arrayPointer(e ast.Expr) {
	if x, ok := e.(*ast.IndexExpr); ok && isPointer(orInvalid(q.u.typeOf(x.X))) {
		q.steps = append(q.steps, step{operandPlace(&x.X), doesPanic | doesRead, dereferences})
	}
}

func (q *sequence) finish(e *ast.Expr) {
	q.walk(e)
	q.run(e)
}

func (q *sequence) finishAs(e *ast.Expr, to types.Type) {
	q.walkAs(e, to)
	q.run(e)
}

// add lists an operation.
func (q *sequence) add(e *ast.Expr) {
	if does := q.effects(*e); does != 0 && !q.done[e] {
		q.steps = append(q.steps, step{e, does, computes})
	}
	q.done[e] = true
}

// variable lists the use of a variable that calls may change.
func (q *sequence) variable(e *ast.Expr) {
	if e = operandPlace(e); !q.done[e] && q.varies(*e) {
		q.steps = append(q.steps, step{e, doesRead, computes})
		q.done[e] = true
	}
}

// place lists the assignment to a place, after what leads to it.
func (q *sequence) place(e ast.Expr) {
	if x, ok := ast.Unparen(e).(*ast.StarExpr); ok {
		q.steps = append(q.steps, step{&x.X, doesPanic, dereferences})
	} else if q.u.isEntry(e) || q.placeFails(e) {
		q.steps = append(q.steps, step{nil, doesPanic, computes})
	}
}

// placeFails reports whether a place may not exist.
func (q *sequence) placeFails(e ast.Expr) bool {
	switch x := ast.Unparen(e).(type) {
	case *ast.IndexExpr:
		if _, array := orInvalid(q.u.typeOf(x.X)).Underlying().(*types.Array); array && q.placeFails(x.X) {
			return true
		}
		return !q.u.inBounds(x, nil)
	case *ast.StarExpr:
		return true
	case *ast.SelectorExpr:
		s := q.u.Info.Selections[x]
		return s != nil && (s.Indirect() || q.placeFails(x.X))
	}
	return false
}

// computedEarly reports whether Yaegi finds before the right side of an assignment that a place does not exist: behind an index, a pointer to a
// struct, or a key that may not be comparable.
func (q *sequence) computedEarly(e ast.Expr) bool {
	switch x := ast.Unparen(e).(type) {
	case *ast.IndexExpr:
		m, ok := orInvalid(q.u.typeOf(x.X)).Underlying().(*types.Map)
		return !ok || holdsInterface(m.Key())
	case *ast.SelectorExpr:
		s := q.u.Info.Selections[x]
		return s != nil && (s.Indirect() || q.computedEarly(x.X))
	}
	return false
}

// natural lists the operations of an operand from left to right, as Yaegi computes them.
func (q *sequence) natural(e *ast.Expr) {
	e = operandPlace(e)
	if q.u.simple(*e) {
		return
	}
	if !isLogical(*e) {
		q.naturalParts(*e)
	}
	q.add(e)
}

// naturalParts lists the operations of the operands of an expression.
func (q *sequence) naturalParts(e ast.Expr) {
	e = ast.Unparen(e)
	call, isCall := e.(*ast.CallExpr)
	lit, isLit := e.(*ast.CompositeLit)
	first := 0
	if isCall {
		first = len(q.u.calleeParts(call))
	}
	if isCall {
		q.missing(call)
	}
	for i, o := range q.u.parts(e) {
		q.natural(o)
		switch {
		case isCall && i >= first:
			q.naturalAs(o, q.u.argType(call, i-first))
		case isLit && !q.u.isMap(lit):
			q.naturalAs(o, q.u.elementType(lit, i))
		}
	}
	q.arrayPointer(e)
	if isCall {
		q.receiverPointer(call)
	}
}

// receiverPointer lists the dereference of a pointer for a method of values.
func (q *sequence) receiverPointer(x *ast.CallExpr) {
	if recv := q.u.methodOf(x); recv != nil && !isPointer(q.u.Info.Selections[recv].Obj().(*types.Func).Signature().Recv().Type()) && isPointer(orInvalid(q.u.typeOf(recv.X))) {
		q.steps = append(q.steps, step{&recv.X, doesPanic | doesRead, dereferences})
	}
}

func (q *sequence) naturalAs(e *ast.Expr, to types.Type) {
	if q.u.boxes(*e, to) && q.u.boxed(q.u.typeOf(*e)) {
		q.variable(e)
	}
}

// terms returns the places of the operands of a sum of strings.
func (u *Unit) terms(e *ast.Expr) []*ast.Expr {
	e = operandPlace(e)
	if x, ok := (*e).(*ast.BinaryExpr); ok && x.Op == token.ADD && !u.simple(x) {
		return append(u.terms(&x.X), u.terms(&x.Y)...)
	}
	return []*ast.Expr{e}
}

// varies reports whether an operand is a variable that calls may change.
func (r lateReader) varies(e ast.Expr) bool {
	id, ok := ast.Unparen(e).(*ast.Ident)
	if !ok {
		return false
	}
	v, ok := r.u.Info.Uses[id].(*types.Var)
	return ok && (r.vars[v] || !r.local(v))
}

// effects returns what an operation may do, apart from its operands.
func (r lateReader) effects(e ast.Expr) (does effect) {
	u := r.u
	for _, o := range u.parts(e) {
		if r.varies(*o) {
			does |= doesRead
		}
	}
	fails := func(token.Pos) { does |= doesPanic }
	switch x := e.(type) {
	case *ast.StarExpr:
		does |= doesPanic | doesRead
	case *ast.SelectorExpr:
		if s := u.Info.Selections[x]; s.Kind() == types.MethodVal || s.Indirect() {
			does |= doesPanic | doesRead
		}
	case *ast.IndexExpr:
		does |= doesRead
		if m, ok := orInvalid(u.typeOf(x.X)).Underlying().(*types.Map); ok && holdsInterface(m.Key()) || !ok && !u.inBounds(x, nil) {
			does |= doesPanic
		}
	case *ast.SliceExpr:
		if x.Low != nil || x.High != nil || isPointer(orInvalid(u.typeOf(x.X))) {
			does |= doesPanic
		}
	case *ast.TypeAssertExpr:
		does |= doesPanic
	case *ast.BinaryExpr:
		switch x.Op {
		case token.LAND, token.LOR:
			ast.Inspect(e, func(n ast.Node) bool {
				if b, ok := n.(*ast.BinaryExpr); ok && (b.Op == token.LAND || b.Op == token.LOR) { // what is in it is visited below
					if r.varies(b.X) || r.varies(b.Y) {
						does |= doesRead
					}
					return true
				}
				if o, ok := n.(ast.Expr); ok && n != e && !u.simple(o) && !isA[*ast.ParenExpr](o) && !isA[*ast.KeyValueExpr](o) && u.typeOf(o) != nil {
					does |= r.effects(o)
				}
				return !isA[*ast.FuncLit](n) && !isA[*ast.BlockStmt](n)
			})
		case token.QUO, token.REM:
			u.division(x.X, x.Y, x.OpPos, fails)
		case token.SHL, token.SHR:
			u.shift(x, x.Y, x.OpPos, fails)
		case token.EQL, token.NEQ:
			if !u.isNil(x.X) && !u.isNil(x.Y) && (holdsInterface(orInvalid(u.typeOf(x.X))) || holdsInterface(orInvalid(u.typeOf(x.Y)))) {
				does |= doesPanic
			}
		case token.ADD:
			if isText(u.typeOf(x)) && (u.pointsTo(ast.Unparen(x.X)) || u.pointsTo(ast.Unparen(x.Y))) { // which Yaegi does not notice
				does |= doesPanic
			}
		}
	case *ast.UnaryExpr:
		switch {
		case x.Op == token.ARROW:
			does |= doesShow | doesChange | doesRead
		case x.Op == token.AND && !isA[*ast.CompositeLit](ast.Unparen(x.X)) && !isA[*ast.Ident](ast.Unparen(x.X)):
			does |= doesPanic | doesRead
		}
	case *ast.CompositeLit:
		m, ok := orInvalid(u.typeOf(x)).Underlying().(*types.Map)
		if ok && (holdsInterface(m.Key()) || slices.ContainsFunc(u.parts(x), func(o *ast.Expr) bool { return u.pointsTo(ast.Unparen(*o)) })) {
			does |= doesPanic // Yaegi leaves out an entry that is behind a nil pointer
		}
	case *ast.CallExpr:
		does |= r.callEffects(x)
	}
	return does
}

// callEffects is effects for a call.
func (r lateReader) callEffects(x *ast.CallExpr) effect {
	u := r.u
	if u.Info.Types[x.Fun].IsType() {
		if _, slice := orInvalid(u.typeOf(x.Args[0])).Underlying().(*types.Slice); slice && arrayLen(u.typeOf(x)) >= 0 {
			return doesPanic | doesRead
		}
		return 0
	}
	switch u.builtinName(x.Fun) {
	case "":
	case "copy", "clear", "close", "delete", "panic", "print", "println", "recover":
		return doesPanic | doesShow | doesChange | doesRead
	case "append":
		return doesRead
	case "make":
		if len(x.Args) > 1 && u.Info.Types[x.Args[1]].Value == nil {
			return doesPanic | doesShow
		}
		return 0
	default:
		return 0
	}
	does := doesPanic | doesShow | doesRead
	switch {
	case !u.harmless(x) || slices.ContainsFunc(x.Args, func(e ast.Expr) bool {
		_, ok := orInvalid(u.typeOf(e)).Underlying().(*types.Signature)
		return ok
	}):
		does |= doesChange
	case !u.shows(x):
		return doesRead
	}
	return does
}

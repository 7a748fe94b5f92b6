package lower

import (
	"go/ast"
	"go/token"
	"go/types"
	"slices"
)

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
	reaches               // the variable at the place, whose address is used
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
	later *ast.CallExpr // the deferred or concurrent call whose operands are listed
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
			q.orderAs(&x.X, t)
			q.orderAs(&x.Y, t)
			for _, o := range []*ast.Expr{&x.X, &x.Y} {
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
			if q.u.bytesKey(x.Index) {
				q.finish(e)
			}
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
	callee := q.u.calleeParts(x)
	for _, o := range callee {
		q.order(o)
	}
	if q.u.keptCallee(x) {
		for _, o := range callee {
			q.finish(o)
		}
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
		q.receiver(x)
	}
	inOrder := u.isBuiltin(x.Fun, "min") || u.isBuiltin(x.Fun, "max")
	for i := range x.Args {
		if !inOrder && q.mayCall(&x.Args[i]) {
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
		if q.lateReader.effects(x)&doesPanic != 0 {
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
		if isText(t) && isBytes(u.typeOf(x.Args[0])) {
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

// receiver lists the use of the receiver of a call: the dereference of a pointer for a method of values, or the address of a variable.
func (q *sequence) receiver(x *ast.CallExpr) {
	q.receiverPointer(x)
	q.receiverPlace(x)
}

// receiverPointer lists the dereference of a pointer for a method of values.
func (q *sequence) receiverPointer(x *ast.CallExpr) {
	if recv := q.u.methodOf(x); recv != nil && !isPointer(q.u.Info.Selections[recv].Obj().(*types.Func).Signature().Recv().Type()) && isPointer(orInvalid(q.u.typeOf(recv.X))) {
		q.steps = append(q.steps, step{&recv.X, doesPanic | doesRead, dereferences})
	}
}

// receiverPlace lists the address of a variable that may not exist for a method of pointers.
func (q *sequence) receiverPlace(x *ast.CallExpr) {
	if recv := q.u.methodOf(x); recv != nil && isPointer(q.u.Info.Selections[recv].Obj().(*types.Func).Signature().Recv().Type()) &&
		!isPointer(orInvalid(q.u.typeOf(recv.X))) && q.placeFails(recv.X) {
		q.steps = append(q.steps, step{&recv.X, doesPanic | doesRead, reaches})
	}
}

package native

import (
	"fmt"
	"go/ast"
	"go/token"
	"go/types"
	"runtime"

	"golang.org/x/tools/go/ast/astutil"

	"halfnote/interp/internal/native/loader"
)

// lines are the positions behind the lines in the line table of a unit. The table holds lines
// only, so each operation that may fail gets separate lines: after a comment such as
// /*line unit:64:1*/ in it, the compiler counts from line 64, which stands for the second position. An
// expression with a comment stands in the tree as a name with the text of both.
type lines struct {
	file string
	info *types.Info
	pos  []token.Pos
}

// perPosition is the number of lines for one position. The text after an operation may have
// line breaks.
const perPosition = 32

// maxLine is the largest line that the compiler can store.
const maxLine = 1<<20 - 2

func newLines(file string, info *types.Info) *lines {
	if info == nil {
		info = &types.Info{}
	}
	return &lines{file: file, info: info, pos: []token.Pos{token.NoPos}} // the first lines are of declarations
}

// comment returns a comment behind which lines stand for pos.
func (l *lines) comment(pos token.Pos) string {
	if (len(l.pos)+1)*perPosition > maxLine {
		return ""
	}
	l.pos = append(l.pos, pos)
	return fmt.Sprintf(" /*line %s:%d:1*/", unitFile, (len(l.pos)-1)*perPosition)
}

// at returns the position that a line stands for.
func (l *lines) at(line int) token.Pos {
	if i := line / perPosition; i >= 0 && i < len(l.pos) {
		return l.pos[i]
	}
	return token.NoPos
}

// placed is a function of a unit with the places of its operations.
type placed struct {
	lines     *lines
	positions loader.Positions
}

// position returns the position in a cell of a call; ok is false if the function is not that of a unit.
func (e *Engine) position(f runtime.Frame) (pos token.Pos, ok bool) {
	e.mu.Lock()
	defer e.mu.Unlock()
	c, ok := e.code[f.Entry]
	if !ok {
		return token.NoPos, false
	}
	pos = c.lines.at(c.positions.At(f.PC - f.Entry))
	return pos, pos.IsValid()
}

// shownLine returns a function that returns the cell and the line that the runtime shows for a line of a unit's file, for example to package log.
func (e *Engine) shownLine(l *lines) func(file string, line int) (string, int) {
	return func(file string, line int) (string, int) {
		switch file {
		case textFile:
			return "", 0
		case l.file:
		default:
			return file, line
		}
		at := e.fset.Position(l.at(line))
		return at.Filename, at.Line
	}
}

// mark writes the comments into a declaration.
func (l *lines) mark(d ast.Decl) {
	around := enclosing(d)
	astutil.Apply(d, nil, func(c *astutil.Cursor) bool {
		switch n := c.Node().(type) {
		case *ast.CallExpr:
			if pos := calleePos(n); !l.isType(n.Fun) && !isTypeLiteral(n.Fun) {
				if !pos.IsValid() {
					pos = around[n]
				}
				l.after(&n.Fun, pos)
			}
		case *ast.IndexExpr:
			if !l.isInstance(n.X) {
				l.after(&n.X, n.Lbrack)
			}
		case *ast.SliceExpr:
			l.after(&n.X, n.Lbrack)
		case *ast.SelectorExpr:
			if s := l.info.Selections[n]; s != nil && s.Kind() == types.FieldVal {
				l.after(&n.X, n.Sel.Pos())
			}
		case *ast.TypeAssertExpr:
			if n.Type != nil {
				l.after(&n.X, n.Lparen)
			}
		case *ast.StarExpr:
			if tv, ok := l.info.Types[n]; ok && tv.IsValue() && n.Star.IsValid() {
				c.Replace(ast.NewIdent(l.comment(n.Star) + "(*" + code(n.X) + ")"))
			}
		case *ast.BinaryExpr:
			if tv := l.info.Types[n]; tv.Value == nil && mayFail(n.Op) {
				l.after(&n.X, n.OpPos)
			}
		case *ast.AssignStmt:
			if op, ok := assignOps[n.Tok]; ok && mayFail(op) {
				l.after(&n.Lhs[0], n.TokPos)
			}
		}
		return true
	})
}

// assignOps are the operators of assignments such as x /= y that may fail.
var assignOps = map[token.Token]token.Token{
	token.QUO_ASSIGN: token.QUO, token.REM_ASSIGN: token.REM, token.SHL_ASSIGN: token.SHL, token.SHR_ASSIGN: token.SHR,
}

// mayFail reports whether an operator panics for some operands.
func mayFail(op token.Token) bool {
	return op == token.QUO || op == token.REM || op == token.SHL || op == token.SHR
}

// after puts a comment behind an operand: the compiler takes the position of an operation from
// the token that follows.
func (l *lines) after(x *ast.Expr, pos token.Pos) {
	if !pos.IsValid() {
		return
	}
	text := code(*x)
	if isOperation(*x) || hasLiteral(*x) {
		text = "(" + text + ")"
	}
	*x = ast.NewIdent(text + l.comment(pos))
}

// isOperation reports whether an expression begins or ends with an operand of an operator. The printer puts a space between
// two operators, as in x + +y, unless one of them is in text.
func isOperation(x ast.Expr) bool {
	switch x.(type) {
	case *ast.BinaryExpr, *ast.UnaryExpr, *ast.StarExpr:
		return true
	}
	return false
}

// hasLiteral reports whether an expression has a composite literal, which needs parentheses in the head of
// a statement: the printer does not see it in text.
func hasLiteral(x ast.Expr) (found bool) {
	ast.Inspect(x, func(n ast.Node) bool {
		_, ok := n.(*ast.CompositeLit)
		found = found || ok
		return !found
	})
	return found
}

// calleePos returns where a call shows its function. In calls that rewrites add, only the
// parenthesis may have a position.
func calleePos(n *ast.CallExpr) (pos token.Pos) {
	switch f := ast.Unparen(n.Fun).(type) {
	case *ast.SelectorExpr:
		pos = f.Sel.Pos()
	case *ast.Ident:
		pos = f.Pos()
	case *ast.FuncLit:
		pos = f.Type.Func
	}
	if !pos.IsValid() {
		return n.Lparen
	}
	return pos
}

// isTypeLiteral reports whether an expression is a type by its form.
func isTypeLiteral(x ast.Expr) bool {
	switch x := x.(type) {
	case *ast.ArrayType, *ast.MapType, *ast.ChanType, *ast.InterfaceType, *ast.FuncType, *ast.StructType:
		return true
	case *ast.ParenExpr:
		_, isPointer := x.X.(*ast.StarExpr)
		return isPointer || isTypeLiteral(x.X)
	}
	return false
}

func (l *lines) isType(x ast.Expr) bool {
	tv, ok := l.info.Types[x]
	return ok && tv.IsType()
}

// isInstance reports whether x[T] is an instance of the generic function or type x, or may be one.
func (l *lines) isInstance(x ast.Expr) bool {
	tv, ok := l.info.Types[x]
	if !ok || !tv.IsValue() {
		return true
	}
	_, isFunc := tv.Type.Underlying().(*types.Signature)
	return isFunc
}

// enclosing returns, for each node, the position of the innermost node around it that is in the
// user's text: rewrites add nodes without positions.
func enclosing(d ast.Decl) map[ast.Node]token.Pos {
	around := map[ast.Node]token.Pos{}
	var stack []token.Pos
	ast.Inspect(d, func(n ast.Node) bool {
		if n == nil {
			stack = stack[:len(stack)-1]
			return true
		}
		pos := token.NoPos
		if len(stack) > 0 {
			pos = stack[len(stack)-1]
		}
		if _, isBlock := n.(*ast.BlockStmt); !isBlock && n.Pos().IsValid() {
			pos = n.Pos()
		}
		around[n] = pos
		stack = append(stack, pos)
		return true
	})
	return around
}

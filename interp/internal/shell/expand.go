package shell

import (
	"go/ast"
	"go/parser"
	"strings"
)

// Values evaluates the expressions in a command line.
type Values struct {
	// Is reports whether an expression can begin with a name: that of a variable, constant or
	// function or, before a dot, of a package.
	Is func(name string, beforeDot bool) bool
	// Text returns the text of the value of an expression at an offset of the command line. ok is
	// false if the expression has no value.
	Text func(expr string, offset int) (text string, ok bool, err error)
}

// Expand returns a command line with every "{expression}" of Go replaced by its value's text, as
// in IPython. Braces that belong to the shell stay: after a dollar sign, or around
// anything but an expression that has a value and names a variable, constant or
// function, or computes: {1 + 2}, not {3}. "{{expression}}" becomes "{expression}".
func Expand(line string, v Values) (string, error) {
	var b strings.Builder
	for i := 0; i < len(line); i++ {
		if line[i] != '{' || i > 0 && line[i-1] == '$' {
			b.WriteByte(line[i])
			continue
		}
		if strings.HasPrefix(line[i:], "{{") {
			if end := closing(line, i+1); end > 0 && strings.HasPrefix(line[end:], "}}") && v.named(line[i+2:end]) {
				b.WriteString(line[i+1 : end+1])
				i = end + 1
				continue
			}
		}
		end := closing(line, i)
		if end < 0 || !v.named(line[i+1:end]) {
			b.WriteByte('{')
			continue
		}
		value, ok, err := v.Text(line[i+1:end], i+1)
		if err != nil {
			return "", err
		}
		if !ok {
			b.WriteByte('{')
			continue
		}
		b.WriteString(value)
		i = end
	}
	return b.String(), nil
}

// closing returns the offset of the brace that closes the one at start, or -1.
func closing(text string, start int) int {
	depth := 0
	for i := start; i < len(text); i++ {
		switch text[i] {
		case '{':
			depth++
		case '}':
			if depth--; depth == 0 {
				return i
			}
		}
	}
	return -1
}

// named reports whether text is an expression that names something or computes with constants.
func (v Values) named(text string) bool {
	e, err := parser.ParseExpr(text)
	if err != nil {
		return false
	}
	found := computes(e)
	var visit func(n ast.Node) bool
	visit = func(n ast.Node) bool {
		switch n := n.(type) {
		case *ast.SelectorExpr:
			if id, ok := n.X.(*ast.Ident); ok {
				found = found || v.Is(id.Name, true)
			} else {
				ast.Inspect(n.X, visit)
			}
			return false
		case *ast.Ident:
			found = found || n.Name == "In" || n.Name == "Out" || n.Name != "true" && n.Name != "false" && v.Is(n.Name, false)
		}
		return true
	}
	ast.Inspect(e, visit)
	return found
}

// computes reports whether an expression is an operation on literals: 1 + 2, (1 << 10) - 1.
func computes(e ast.Expr) bool {
	operation, ok := ast.Unparen(e).(*ast.BinaryExpr)
	if !ok {
		return false
	}
	operands := func(x ast.Expr) bool {
		_, literal := ast.Unparen(x).(*ast.BasicLit)
		return literal || computes(x)
	}
	return operands(operation.X) && operands(operation.Y)
}

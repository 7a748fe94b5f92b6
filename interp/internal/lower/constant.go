package lower

import (
	"go/ast"
	"go/constant"
	"go/token"
	"math"
	"strconv"
)

// Constant returns an untyped constant expression of value v.
func Constant(v constant.Value) ast.Expr {
	switch v.Kind() {
	case constant.Bool:
		return ast.NewIdent(strconv.FormatBool(constant.BoolVal(v)))
	case constant.String:
		return &ast.BasicLit{Kind: token.STRING, Value: strconv.Quote(constant.StringVal(v))}
	case constant.Int:
		return sign(v, func(v constant.Value) ast.Expr {
			return &ast.BasicLit{Kind: token.INT, Value: v.ExactString()}
		})
	case constant.Float:
		return sign(v, float)
	case constant.Complex:
		return &ast.ParenExpr{X: &ast.BinaryExpr{
			X: asFloat(constant.Real(v)), Op: token.ADD,
			Y: &ast.BinaryExpr{X: asFloat(constant.Imag(v)), Op: token.MUL, Y: &ast.BasicLit{Kind: token.IMAG, Value: "1i"}},
		}}
	}
	return ast.NewIdent("nil")
}

func asFloat(v constant.Value) ast.Expr { return sign(constant.ToFloat(v), float) }

// float writes a non-negative value. Values that are not a float64 are written as the
// quotient of two integers if that is short.
func float(v constant.Value) ast.Expr {
	if f, exact := constant.Float64Val(v); exact || math.IsInf(f, 0) {
		return floatLit(f)
	}
	num, den := constant.Num(v), constant.Denom(v)
	if num.Kind() == constant.Int && den.Kind() == constant.Int {
		n, d := num.ExactString(), den.ExactString()
		if len(n)+len(d) < 2000 {
			return &ast.ParenExpr{X: &ast.BinaryExpr{
				X: &ast.BasicLit{Kind: token.FLOAT, Value: n + ".0"}, Op: token.QUO,
				Y: &ast.BasicLit{Kind: token.FLOAT, Value: d + ".0"},
			}}
		}
	}
	f, _ := constant.Float64Val(v)
	return floatLit(f)
}

func floatLit(f float64) ast.Expr {
	s := strconv.FormatFloat(f, 'g', -1, 64)
	for i := 0; ; i++ {
		if i == len(s) {
			s += ".0"
			break
		}
		if s[i] == '.' || s[i] == 'e' || s[i] == 'I' {
			break
		}
	}
	return &ast.BasicLit{Kind: token.FLOAT, Value: s}
}

func sign(v constant.Value, write func(constant.Value) ast.Expr) ast.Expr {
	if constant.Sign(v) >= 0 {
		return write(v)
	}
	return &ast.ParenExpr{X: &ast.UnaryExpr{Op: token.SUB, X: write(constant.UnaryOp(token.SUB, v, 0))}}
}

package lower

import (
	"go/ast"
	"go/types"

	"halfnote/interp/internal/dynamic"
)

// treatment is what a function of a compiled package gets for an operand of interface type.
type treatment int

const (
	exported treatment = iota // a value without its box
	kept                      // the value in the form of interpreted code
	lent                      // a value of the twin of its type
	borrowed                  // the same in the memory of the original, for functions that write
	settled                   // the value; a support function calls the function and puts interpreted values in the place of twins
	returned                  // as borrowed; a support function does this with the result
	written                   // a text that package dynamic writes as package fmt would
)

// reflective is the table of what looks at the types and methods of its operands: packages, and functions that
// differ from others of their packages. Each has a script in interp/testdata.
var reflective = map[string]struct {
	treatment
	support string
	script  string
}{
	"container/heap": {kept, "", "containers"},
	"container/list": {kept, "", "containers"},
	"container/ring": {kept, "", "containers"},
	"context":        {kept, "", "containers"},
	"errors":         {kept, "", "interfaces"},
	"fmt":            {kept, "", "verbs"},
	"log":            {kept, "", "logging"},
	"sync":           {kept, "", "containers"},
	"sync/atomic":    {kept, "", "containers"},

	"halfnote/display.Show":             {kept, "", "showmethods"},
	"halfnote/display.Live":             {kept, "", "showmethods"},
	"(*halfnote/display.Handle).Update": {kept, "", "showmethods"},
	"reflect.DeepEqual":                 {kept, "", "reflection"},

	"database/sql":    {lent, "", "packages/standard"},
	"encoding/asn1":   {lent, "", "encodings"},
	"encoding/binary": {lent, "", "encodings"},
	"encoding/gob":    {lent, "", "encodings"},
	"encoding/json":   {lent, "", "json"},
	"encoding/xml":    {lent, "", "encodings"},
	"html/template":   {lent, "", "templates"},
	"log/slog":        {lent, "", "logging"},
	"testing/quick":   {lent, "", "encodings"},
	"text/template":   {lent, "", "templates"},

	"(*database/sql.Row).Scan":              {borrowed, "", "packages/standard"},
	"(*database/sql.Rows).Scan":             {borrowed, "", "packages/standard"},
	"encoding/asn1.Unmarshal":               {borrowed, "", "encodings"},
	"encoding/asn1.UnmarshalWithParams":     {borrowed, "", "encodings"},
	"encoding/binary.Decode":                {borrowed, "", "encodings"},
	"encoding/binary.Read":                  {borrowed, "", "encodings"},
	"encoding/xml.Unmarshal":                {borrowed, "", "encodings"},
	"(*encoding/xml.Decoder).Decode":        {borrowed, "", "encodings"},
	"(*encoding/xml.Decoder).DecodeElement": {borrowed, "", "encodings"},
	"reflect":                               {borrowed, "", "reflection"},

	"(*encoding/gob.Decoder).Decode":  {settled, "GobDecode", "encodings"},
	"(*encoding/json.Decoder).Decode": {settled, "JSONDecode", "json"},
	"encoding/json.Unmarshal":         {settled, "JSONUnmarshal", "json"},
	"(reflect.Value).Set":             {settled, "SetValue", "reflection"},

	"(reflect.Value).Interface": {returned, "Return", "reflection"},
	"(reflect.Value).Elem":      {returned, "Content", "reflection"},
	"reflect.Indirect":          {returned, "Content", "reflection"},
}

// treatmentOf returns the treatment of the operands of a function, which is kept for one that is unknown, and the support
// function that has to do with it.
func treatmentOf(fn *types.Func) (treatment, string) {
	if fn == nil || fn.Pkg() == nil {
		return kept, ""
	}
	if _, ok := dynamic.Writers[fn.FullName()]; ok {
		return written, ""
	}
	if r, ok := reflective[fn.FullName()]; ok {
		return r.treatment, r.support
	}
	return reflective[fn.Pkg().Path()].treatment, ""
}

// inspects reports whether a compiled function gets something else than the value for an operand of interface type.
func (u *Unit) inspects(fn *types.Func) bool {
	t, _ := treatmentOf(fn)
	if u.ours(fn) || fn.Signature().TypeParams() != nil || t == kept && fn.FullName() != "errors.As" {
		return false
	}
	for i := range fn.Signature().Params().Len() {
		if p := paramType(fn.Signature(), i); types.IsInterface(p) && !hasMethods(p) {
			return true
		}
	}
	return false
}

// writing returns the replacement of a call of a method that writes its operands as package fmt does: one that gives the
// method Name+"f" the text of the operands; nil for other calls.
//
//	logger.Println(x, y)    logger.Printf("%s", Sprintln(x, y))
func (u *Unit) writing(x *ast.CallExpr, fn *types.Func) ast.Expr {
	if t, _ := treatmentOf(fn); t != written {
		return nil
	}
	w := dynamic.Writers[fn.FullName()]
	sel, ok := ast.Unparen(x.Fun).(*ast.SelectorExpr)
	if !ok || len(x.Args) == 1 && isTupleType(u.typeOf(x.Args[0])) {
		return nil
	}
	o, _, _ := types.LookupFieldOrMethod(fn.Signature().Recv().Type(), true, fn.Pkg(), w.Method)
	method, ok := o.(*types.Func)
	if !ok {
		return nil
	}
	written := Support(w.Text, x.Args...)
	written.Lparen, written.Ellipsis, written.Rparen = calledAt(x), x.Ellipsis, x.Rparen
	by := &ast.SelectorExpr{X: sel.X, Sel: &ast.Ident{NamePos: sel.Sel.Pos(), Name: w.Method}}
	u.Info.Selections[by], u.expanded[by] = u.Info.Selections[sel], u.expanded[sel]
	u.Info.Uses[by.Sel] = method
	y := &ast.CallExpr{Fun: u.typed(by, types.NewSignatureType(nil, nil, nil, method.Signature().Params(), method.Signature().Results(), true)), Lparen: x.Lparen, Rparen: x.Rparen}
	y.Args = []ast.Expr{u.typed(text("%s"), types.Typ[types.String]), u.typed(written, types.Typ[types.String])}
	return u.as(y, x)
}

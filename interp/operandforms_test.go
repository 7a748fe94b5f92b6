package interp

import (
	"strings"
	"testing"

	"halfnote/internal/testenv"
)

// operandForms lists expressions of type float64 with the value 2. Their parts come from
// compiled packages and from cells, through calls, indexes, slices, assertions, pointers,
// maps and channels.
var operandForms = []string{
	"o.Groups()[0].LR", "(o.Groups()[0]).LR", "(o.Groups()[0].LR)", "o.Groups()[:1][0].LR", "groups()[0].LR",
	"held.in.Groups()[0].LR", "anything.(*optim.Optimizer).Groups()[0].LR", "(*pointer)[0].LR", "byName[\"a\"][0].LR",
	"matrix()[0][0]", "own()[0].V", "*own()[0].P", "ownMap()[\"a\"].V", "ownArray()[0].V", "own()[0].Get()",
	"float64(len(o.Groups()[0].Params()))", "times.Sub(times.Add(-2 * time.Second)).Seconds()",
	"math.Sqrt(o.Groups()[0].LR * o.Groups()[0].LR)", "-(-o.Groups()[0].LR)", "o.Groups()[0].LR + 0",
	"own()[len(own())-1].V", "func() float64 { return o.Groups()[0].LR }()", "strings.Fields(\"a bc\")[1:][0:1][0][0:1] + \"\"",
}

// operandUses lists expressions with an operand X. The text of each value ends with 2.
var operandUses = []string{
	"append([]float64{}, X)[0]", "append([]float64{}, 1, X)[1]", "append([]float64{}, X, 1, X)[2]",
	"append([]float64{1}, []float64{X, 2}...)[1]", "[]float64{X, 1}[0]", "[]float64{1, X}[1]", "[2]float64{1, X}[1]",
	"[...]float64{3: X, X}[4]", "[]any{\"a\", X}[1].(float64)", "map[string]float64{\"a\": X}[\"a\"]", "len(map[float64]int{X: 1}) * 2",
	"pair{1, X}.B", "pair{A: 1, B: X}.B", "(&pair{X, X}).B", "[]pair{{1, X}}[0].B", "[]*pair{{1, X}}[0].B",
	"[][]float64{{1, X}}[0][1]", "map[string]pair{\"a\": {1, X}}[\"a\"].B", "struct{ A, B float64 }{1, X}.B",
	"last(1, X)", "last([]float64{1, X}...)", "math.Max(1, X)", "max(1, X)", "min(X, X+1)", "fmt.Sprint(X)", "fmt.Sprint(\"\", X)[0:]",
	"lastAny(\"a\", X)", "copied(X)", "X", "real(complex(X, X))", "nested(last(1, X), []float64{X})", "tensor.New([]float64{1, X}, 2).At(1)",
}

// operandContexts lists cells that run a statement S, which ends with a call of show.
var operandContexts = []string{
	"S", "func F() { S }\nF()", "func() { S }()", "f := func() { S }\nf()",
	"type M struct{}\nfunc (M) F() { S }\nM{}.F()", "d := make(chan bool)\ngo func() { defer close(d); S }()\n<-d;", "func() { defer func() { S }() }()",
	"for range 1 { if true { switch { default: S } } }",
}

// TestOperandForms checks operands of every form in every use, inside and outside of
// functions. Each cell has all uses of one form in one context. A default run has a share of
// the contexts for each form.
func TestOperandForms(t *testing.T) {
	t.Parallel()
	s := newSession(t)
	evalAll(t, s, `o := optim.NewSGD(nn.Parameters(nn.NewLinear(2, 2)), 2)
type pair struct{ A, B float64 }
type cellType struct { V float64; P *float64 }
func (c cellType) Get() float64 { return c.V }
var two = 2.0
func own() []cellType { return []cellType{{2, &two}} }
func ownMap() map[string]cellType { return map[string]cellType{"a": {2, &two}} }
func ownArray() [1]cellType { return [1]cellType{{2, &two}} }
func matrix() [][]float64 { return [][]float64{{2}} }
func last(x ...float64) float64 { return x[len(x)-1] }
func lastAny(x ...any) any { return x[len(x)-1] }
func copied(x float64) float64 { to := make([]float64, 1); copy(to, []float64{x}); return to[0] }
func nested(x float64, y []float64) float64 { return y[0] + x - 2 }
times := time.Unix(10, 0)
var anything any = o
type holder struct{ in *optim.Optimizer }
held := &holder{o}`, `groups := func() []*optim.Group { return o.Groups() }
list := o.Groups()
pointer := &list
byName := map[string][]*optim.Group{"a": list}
func show(x any) { if s := strings.TrimSpace(fmt.Sprint(x)); s != "2" { fmt.Println("got", s) } }`)
	n, share := 10, testenv.Share(t, 4)
	for i, form := range operandForms {
		for j, context := range operandContexts {
			if (i+j)%share != 0 {
				continue
			}
			var all []string
			for _, use := range operandUses {
				if strings.HasPrefix(form, "strings") {
					use = "map[bool]int{true: 2}[[]string{\"a\", X}[1] == \"b\"]"
				}
				all = append(all, "show("+strings.ReplaceAll(use, "X", form)+")")
			}
			n++
			if evalFor(t, s, n, strings.ReplaceAll(context, "S", strings.Join(all, "; ")), "") == "" {
				continue
			}
			for _, st := range all { // find the statement that fails
				n++
				code := strings.ReplaceAll(context, "S", st)
				if got := evalFor(t, s, n, code, ""); got != "" {
					t.Errorf("%s\ngot %s", code, got)
				}
			}
		}
	}
}

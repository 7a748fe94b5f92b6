package hints

import (
	"regexp"
	"strings"

	"halfnote/interp/internal/syntax"
)

// pythonHints maps Python's syntax to what cells write instead. The first entry whose pattern matches
// a line that Go cannot parse applies.
var pythonHints = []struct {
	pattern *regexp.Regexp
	hint    string
}{
	{regexp.MustCompile(`(?i)^\s*with\b.*\bautocast\b`), "amp.Autocast(amp.Float16, func() { … }) runs a function under autocast"},
	{regexp.MustCompile(`(?i)^\s*with\b.*\bno_?grad\b`), "tensor.NoGrad(func() { … }) runs a function without recording it for the derivative"},
	{regexp.MustCompile(`^\s*with\b`), "Go has no with: defer f.Close() closes f when the cell or function ends"},
	{regexp.MustCompile(`^\s*for\b.*\bin\s+range\(`), "for i := range 10 { … } counts from 0 to 9"},
	{regexp.MustCompile(`^\s*#`), "a comment begins with //"},
	{regexp.MustCompile(`^\s*for\s+[\w, ]+\s+in\s`), "for i, v := range values { … } takes the elements of a slice, for i := range 10 { … } counts"},
	{regexp.MustCompile(`^\s*while\b`), "Go's while is for: for x < 10 { … }"},
	{regexp.MustCompile(`^\s*(async\s+)?def\b`), "func square(x float64) float64 { return x * x } declares a function"},
	{regexp.MustCompile(`^\s*class\b`), "type Net struct { … } declares a type, func (n *Net) Forward(x *tensor.Tensor) *tensor.Tensor { … } a method"},
	{regexp.MustCompile(`^\s*(try|except\b.*|finally)\s*:`), "Go's functions return errors: v, err := f(); recover() in a deferred function ends a panic"},
	{regexp.MustCompile(`^\s*(let|auto|local)\s+(mut\s+)?\w+\s*=`), "x := 3 declares a variable"},
	{regexp.MustCompile(`^\s*raise\b`), `panic("…") ends the cell with an error`},
	{regexp.MustCompile(`^\s*assert\b`), `Go's assert is if: if x < 0 { panic("…") }`},
	{regexp.MustCompile(`^\s*del\s`), "Go has no del: %xdel x forgets x, %reset everything; a new declaration replaces a variable"},
	{regexp.MustCompile(`^\s*(if|elif|else|for)\b.*:\s*(#.*)?$`), "braces enclose a block: if x > 0 { … } else { … }"},
	{regexp.MustCompile(`^\s*if\b[^{]*:\s*\w`), "braces enclose a block: if x > 0 { … } else { … }"},
	{regexp.MustCompile(`\blambda\b`), "a function literal: func(x float64) float64 { return 2 * x }"},
	{regexp.MustCompile(`\[.*\bfor\b.*\bin\b.*\]`), "a loop fills a slice: for i := range 10 { s = append(s, f(i)) }"},
	{regexp.MustCompile(`\bif\b.*\belse\b[^{]*$`), "if is a statement: y := a; if condition { y = b }"},
	{regexp.MustCompile(`\bf("|')`), `fmt.Println("mean", x) prints values, fmt.Printf("%.3f\n", x) formats them`},
	{named(`dtype`), "tensors start in float32: tensor.Zeros(1).Half(), or tensor.Zeros(1).To(tensor.BFloat16)"},
	{named(`lr`), "the learning rate is an argument without a name: optim.NewSGD(nn.Parameters(net), 0.1)"},
	{named(`dim|axis`), "the dimension is an argument without a name: x.SumDim(0)"},
	{named(`\w+`), "Go has no named arguments: options are functions, such as optim.Momentum(0.9); nn.NewLinear? lists those of NewLinear"},
	{regexp.MustCompile(`\w\(\(\s*\d+\s*,`), "sizes are separate arguments: tensor.Randn(3, 4)"},
	{regexp.MustCompile(`^\s*type\(`), `fmt.Printf("%T\n", x) prints the type of x, and x? describes it`},
	{regexp.MustCompile(`\b(not|and|or)\s`), "Go's not, and, or are !, &&, ||"},
	{regexp.MustCompile(`\w\s*@\s*\w`), "x.MatMul(y) is the matrix product"},
	{regexp.MustCompile(`\w\[[^\[\]]*,[^\[\]]*\]`), "x.Index(i, j) is x[i, j], and x.Index(tensor.All, 0) is x[:, 0]"},
	{regexp.MustCompile(`[=(,\s]\[(\s*\]|[^\[\]]*,[^\[\]]*\]|\s*[\d.]+\s*\])`), "a slice names its type: []float64{1, 2, 3}; tensor.New([]float64{1, 2, 3}) is a tensor"},
	{regexp.MustCompile(`^[^"]*'[^']{2,}'`), `strings have double quotes: "text"`},
	{regexp.MustCompile(`\s#\s`), "a comment begins with //"},
}

// named returns a pattern for a call with an argument of a name.
func named(name string) *regexp.Regexp {
	return regexp.MustCompile(`\w\([^()]*(\([^()]*\)[^()]*)*\b(` + name + `)\s*(=[^=]|:[^=])`)
}

// pythonImport matches an import of Python, with the module in the group that matched.
var pythonImport = regexp.MustCompile(`^\s*(?:import\s+([\w.]+)(?:\s+as\s+\w+)?|from\s+([\w.]+)\s+import\b.*)\s*$`)

// pythonHint suggests what to write for a line of Python, or returns "".
func pythonHint(line string) string {
	if len(line) > 1000 {
		return "" // is not written by hand, and patterns take long
	}
	if m := pythonImport.FindStringSubmatch(line); m != nil {
		if h := Import(m[1] + m[2]); h != "" {
			return h
		}
		return `Go quotes the path of a package: import "os"`
	}
	for _, h := range pythonHints {
		if h.pattern.MatchString(line) {
			return h.hint
		}
	}
	return ""
}

// Python adds hints to the errors of the parser in lines of code that look like Python. Such a line keeps
// only its first error, because the others follow from it.
func Python(code string, list []syntax.Problem) []syntax.Problem {
	lines := strings.Split(code, "\n")
	hinted := 0 // line
	kept := list[:0]
	for _, p := range list {
		if p.Line == hinted {
			continue
		}
		if p.Hint == "" && p.Line >= 1 && p.Line <= len(lines) {
			if p.Hint = pythonHint(lines[p.Line-1]); p.Hint != "" {
				hinted = p.Line
			} else if p.Msg == "expected 1 expression" {
				p.Hint = "fmt.Println(a, b) prints several values, display.Show(a, b) shows them"
			}
		}
		kept = append(kept, p)
	}
	return kept
}

// lineHint suggests what to write for the line of an error, if it is Python.
func (a *Attempt) lineHint(m Mistake) string {
	lines := strings.Split(a.Code, "\n")
	if at := m.Fset.Position(m.Pos); syntax.CellOf(at.Filename) == a.Cell && at.Line >= 1 && at.Line <= len(lines) {
		return pythonHint(lines[at.Line-1])
	}
	return ""
}

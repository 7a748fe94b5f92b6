package assist

import (
	"strings"
	"testing"

	"halfnote/interp/internal/exports"
)

// TestInspect checks the help for the name at the cursor.
func TestInspect(t *testing.T) {
	tests := []struct {
		name, cell string
		detail     int
		want       []string // substrings of text/plain; empty if there is no help
	}{
		{"function", "strings.ToUp|per(s)", 0, []string{"func ToUpper(s string) string\n\nToUpper returns s with all"}},
		{"end of the name", "strings.ToUpper|", 0, []string{"func ToUpper(s string) string"}},
		{"inside a call", "strings.Repeat(\"x\", |)", 0, []string{"func Repeat(s string, count int) string\n                      ^^^^^^^^^"}},
		{"number in a call", "tensor.Randn(2|)", 0, []string{"func Randn(shape ...int) *Tensor\n           ^^^^^^^^^^^^"}},
		{"second number in a call", "tensor.Randn(2, 3|, 4)", 0, []string{"func Randn(shape ...int) *Tensor\n           ^^^^^^^^^^^^"}},
		{"number in a list in a call", "tensor.New([]float64{1|, 2})", 0, []string{"func New(", "^"}},
		{"unknown name in a call", "nn.NewLinear(2, wid|th)", 0, []string{"func NewLinear(in, out int, options ...Option) *Linear\n                   ^^^^^^^"}},
		{"call not closed", "fmt.Println(strings.Repeat(\"x\", |", 0, []string{"func Repeat(s string, count int) string"}},
		{"method call not closed", "net.Forward(|", 0, []string{"Forward(x int) int"}},
		{"package", "stri|ngs.ToUpper", 0, []string{"package strings", "Package strings implements simple functions", "func ToUpper(s string) string\n", "type Builder struct\n"}},
		{"type", "strings.Build|er", 0, []string{"type Builder struct", "A Builder is used", "using Builder.Write methods", "WriteString(s string) (int, error)"}},
		{"method", "var b strings.Builder\nb.Gro|w(1)", 0, []string{"func (b *Builder) Grow(n int)", "Grow grows b's capacity"}},
		{"promoted method", "type T struct{ strings.Builder }\nvar t T\nt.Gro|w(1)", 0, []string{"Grow grows b's capacity"}},
		{"method of an interface", "var r http.RoundTripper\nr.RoundTrip|(nil)", 0, []string{"RoundTrip executes a single HTTP transaction"}},
		{"field", "http.DefaultClient.Time|out", 0, []string{"field Timeout time.Duration", "Timeout specifies a time limit"}},
		{"key", "http.Client{Time|out: 3}", 0, []string{"Timeout specifies a time limit"}},
		{"constant", "http.StatusTea|pot", 0, []string{"const StatusTeapot = 418"}},
		{"builtin", "app|end(nil)", 0, []string{"func append(slice []Type, elems ...Type) []Type", "The append built-in function"}},
		{"predeclared type", "var x float|32", 0, []string{"type float32 float32", "float32 is the set of all"}},
		{"error", "var err error\nerr.Err|or()", 0, []string{"func (error) Error() string"}},
		{"variable of the session", "ne|t", 0, []string{"var net *Net"}},
		{"function of the session", "tra|in(net, 3)", 0, []string{"func train(net *Net, epochs int) (loss float64)\n\ntrain trains."}},
		{"source", "tra|in(net, 3)", 1, []string{"(loss float64) { return }"}},
		{"type of the session", "var n N|et", 0, []string{"type Net struct", "Net is a model.", "Forward(x int) int", "Size() int"}},
		{"method of the session", "net.Forw|ard(1)", 1, []string{"{ return x }"}},
		{"function of the cell", "// twice doubles.\nfunc twice(x int) int { return 2 * x }\ntwi|ce(3)", 0, []string{"func twice(x int) int\n\ntwice doubles."}},
		{"local variable", "for i := range 3 {\n\tfmt.Println(i|)\n}", 0, []string{"var i int"}},
		{"local variable with a name of the session", "func f(train string) { fmt.Println(tra|in) }", 0, []string{"var train string"}},
		{"help", "strings.ToUpper|?", 0, []string{"func ToUpper(s string) string"}},
		{"tensor method", "x := tensor.Ones(2)\nx.Mat|Mul(x)", 0, []string{"func (t *Tensor) MatMul(", "MatMul returns"}},
		{"renamed type's method", "tensor.Float16.Str|ing()", 0, []string{"func (d DType) String() string"}},
		{"package of another module", "import \"github.com/x448/float16\"\nfloat16.Fromfloat|32(1)", 0, []string{"func Fromfloat32(f32 float32) Float16\n\nFromfloat32 returns"}},
		{"generic", "import \"slices\"\nslices.Max|([]int{1})", 0, []string{"func Max[S ~[]E, E cmp.Ordered](x S) E"}},
		{"surrounding code invalid", "x := = 3\nstrings.ToUp|per(s)\n}", 0, []string{"func ToUpper(s string) string"}},
		{"nothing", "  |  ", 0, nil},
		{"unknown", "nosu|ch", 0, nil},
		{"keyword", "fo|r {}", 0, []string{"for cond { … }", "The variables it declares are new in each iteration."}},
		{"magic", "%tim|e net.Forward(1)", 0, []string{"%time"}},
		{"after a magic", "%time net.For|ward(1)", 0, []string{"Forward(x int) int"}},
		{"magic with a question mark", "%time|?", 0, []string{"%time", "how long"}},
		{"string", "x := \"žlu|ť\"", 0, []string{"6 bytes, 4 code points"}},
		{"string of a call", "strings.ToUpper(\"a|b\")", 0, []string{"func ToUpper(s string) string\n             ^^^^^^^^\n\nToUpper returns"}},
		{"integer", "x := 0x1|F", 0, []string{"const 0x1F int", "31 = 0x1f = 0b11111"}},
		{"character", "x := 'a|'", 0, []string{"const 'a' rune", "97 = 0x61", "U+0061"}},
		{"float", "x := 0.|1", 0, []string{"const 0.1 float64", "float32 rounds it to 0.10000000149011612"}},
		{"argument", "train(n|et, 3)", 0, []string{"var net *Net", "// an argument of\nfunc train(net *Net, epochs int) (loss float64)\n           ^^^^^^^^"}},
		{"inside a literal in a call", "sort.Slice(nil, func(i, j int) bool { |return false })", 0, []string{"return x, y"}},
		{"package that is not imported", "hex.Du|mp(nil)", 0, []string{"import \"encoding/hex\"", "func Dump(data []byte) string", "Dump returns a string"}},
		{"source with its cell", "net.Forw|ard(1)", 1, []string{"// In[1]\nfunc (n *Net) Forward(x int) int { return x }"}},
		{"instance in a call", "import \"slices\"\nslices.Max[[]int](|)", 0, []string{"func Max["}},
		{"method of a pointer to a type", "nn.Linear.For|ward", 0, []string{"func (l *Linear) Forward(x *tensor.Tensor) *tensor.Tensor\n\nForward maps x"}},
		{"field of a type", "http.Client.Time|out", 0, []string{"Timeout specifies a time limit"}},
		{"functions and types of a package", "n|n.NewLinear(1, 2)", 0, []string{"\nFunctions\n\nfunc AdaptiveAvgPool1d(", "\nTypes\n\n",
			"type Linear struct\n    is x Weightᵀ + Bias\n    methods: Forward, String\n    func NewLinear(in, out int, options ...Option) *Linear\n        returns a float32 layer"}},
		{"a type with many methods", "ten|sor.Ones(2)", 0, []string{"methods: tensor.Tensor? lists them"}},
		{"options that the comment names", "optim.NewSGD|(nil, 1)", 0, []string{"Options\n\nfunc Dampening(", "func WeightDecay(d float64) Option\n    adds d times the parameter"}},
		{"options that another comment names", "nn.AvgPool3d|(nil, 1)", 0, []string{"Options\n\nfunc CeilMode(", "func DivisorOverride(", "func Stride("}},
		{"options of a type", "amp.NewGradScaler|()", 0, []string{"Options\n\nfunc AbortAtMin(", "func InitScale(scale float64) ScalerOption\n    sets the initial scale"}},
		{"constants of a type", "var c amp.Cate|gory", 0, []string{"const Banned, ExplicitDType, FP32, LowerPrecision, Promote, Unlisted Category"}},
		{"comment", "// strings.ToUp|per", 0, nil},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			code, cursor := at(tt.cell)
			e, ok := explain(seen(), code, cursor, tt.detail)
			if ok != (tt.want != nil) {
				t.Fatalf("got %v, %+v, want %q", ok, e, tt.want)
			}
			got := e.bundle()
			for _, want := range tt.want {
				if !strings.Contains(got.String(), want) {
					t.Errorf("got\n%s\nwant\n%s", got, want)
				}
			}
			if md, _ := got.Data["text/markdown"].(string); ok && !strings.HasPrefix(md, "```go\n") {
				t.Errorf("markdown: got %s", md)
			}
		})
	}
}

// TestDisplayMethods checks that the pages of types leave out the methods that only package display calls.
func TestDisplayMethods(t *testing.T) {
	e, ok := explain(seen(), "diagnose.Replay", len("diagnose.Replay"), 0)
	page := plain(e.index)
	if !ok || !strings.Contains(page, "Chart(f Format)") || strings.Contains(page, "HTML") || strings.Contains(page, "InTheme") {
		t.Errorf("got the page\n%s\nwant Chart, not HTML and InTheme", page)
	}
}

// TestPackagePages checks the pages of this library's packages: they have an index, and none of
// the anchors that Go's printer adds to headings.
func TestPackagePages(t *testing.T) {
	for name, path := range exports.Preloaded {
		if !strings.HasPrefix(path, "halfnote/") {
			continue
		}
		snap := seen()
		snap.Imports[name] = path
		e, ok := explain(snap, name, len(name), 0)
		if !ok || plain(e.index) == "" {
			t.Errorf("%s: got no index", name)
		}
		for mime, page := range e.bundle().Data {
			if strings.Contains(page.(string), "{#") {
				t.Errorf("%s: got %s with anchors", name, mime)
			}
		}
	}
}

package assist

import (
	"fmt"
	"iter"
	"maps"
	"slices"
	"strings"
	"sync"
	"testing"

	"halfnote/interp/internal/exports"
)

// seen returns snapshot with declarations of earlier cells, for tests that complete a
// new cell.
func seen() Snapshot {
	return Snapshot{
		Importer: exports.Importer(),
		Checking: new(sync.Mutex),
		Imports:  map[string]string{"fmt": "fmt", "strings": "strings", "http": "net/http", "time": "time", "sort": "sort", "rand": "math/rand", "tensor": "halfnote/tensor", "nn": "halfnote/tensor/nn"},
		Earlier: cells{text: `package main
import p__bytes "bytes"
type Net struct { Hidden int; buf p__bytes.Buffer }
func (_ *Net) Forward(x int) int
func (_ Net) Size() int
type Wide struct { *Net; Width float32 }
type Shape interface { Area() float64 }
var net *Net
var wide Wide
var shape Shape
var buf p__bytes.Buffer
var sort []int
func train(net *Net, epochs int) (loss float64)
const limit = 3
var x__2 int`, written: map[string]Written{
			"Net":         {"type Net struct {\n\tHidden int\n\tbuf    bytes.Buffer\n}", "Net is a model.\n", 1},
			"Net.Forward": {"func (n *Net) Forward(x int) int { return x }", "", 1},
			"net":         {}, "wide": {}, "shape": {}, "buf": {}, "sort": {}, "limit": {},
			"train": {"func train(net *Net, epochs int) (loss float64) { return }", "train trains.\n", 2},
		}},
		Magics: []Magic{
			{Name: "!", Args: "command", Help: "runs a shell command", TakesText: true},
			{Name: "%%bash", Args: "[OPTIONS]", Help: "runs the cell as a bash script", TakesText: true},
			{Name: "%%timeout", Help: "runs the cell and interrupts it", TakesGo: true},
			{Name: "%cd", Args: "[FOLDER]", Help: "changes the working folder"},
			{Name: "%env", Args: "[NAME[=VALUE]]", Help: "lists the environment variables"},
			{Name: "%time", Args: "STATEMENT", Help: "runs a statement and prints how long it took", TakesGo: true},
		},
	}
}

// cells implements Earlier.
type cells struct {
	text    string
	written map[string]Written
}

func (c cells) Declares(name string) bool { _, ok := c.written[name]; return ok }

func (c cells) Names() iter.Seq[string] { return maps.Keys(c.written) }

func (c cells) Written(name string) (w Written, ok bool) { w, ok = c.written[name]; return w, ok }

func (c cells) Methods(typ string) (list []string) {
	for name := range c.written {
		if strings.HasPrefix(name, typ+".") {
			list = append(list, name)
		}
	}
	return list
}

func (c cells) File(_ map[string]bool, known func(string) bool) string {
	if known("Net") {
		return "package main"
	}
	return c.text
}

// at removes the mark of the cursor, a |, from a cell and returns its offset in code points.
func at(cell string) (code string, cursor int) {
	before, after, _ := strings.Cut(cell, "|")
	return before + after, len([]rune(before))
}

type completeTest struct {
	name, cell string
	want       []string // matches as "text type signature", or prefixes of that, in the expected order
	not        []string // texts that must not be matches
	start      int      // start of the replaced range; -1 to skip the check
}

func (tt completeTest) check(t *testing.T, snap Snapshot) {
	t.Helper()
	code, cursor := at(tt.cell)
	c := Complete(snap, code, cursor)
	var got []string
	for _, m := range c.Matches {
		got = append(got, m.Text+" "+m.Type+" "+m.Signature)
	}
	rest := got
	for _, want := range tt.want {
		i := slices.IndexFunc(rest, func(s string) bool { return strings.HasPrefix(s, want) })
		if i < 0 {
			t.Errorf("got %q, want %q in this order", got, tt.want)
			break
		}
		rest = rest[i+1:]
	}
	for _, m := range c.Matches {
		if slices.Contains(tt.not, m.Text) {
			t.Errorf("got %s, want no such match", m.Text)
		}
	}
	if c.End != cursor || c.Start > c.End || tt.start >= 0 && c.Start != tt.start {
		t.Errorf("got replacement of %d to %d, want %d to %d", c.Start, c.End, tt.start, cursor)
	}
}

// TestComplete checks the matches for a cursor at different places of a cell.
func TestComplete(t *testing.T) {
	tests := []completeTest{
		{name: "snake_case", cell: "tensor.manual_seed|", want: []string{"ManualSeed function"}, start: 7},
		{name: "begun snake_case", cell: "nn.cross_ent|", want: []string{"CrossEntropy function"}, not: []string{"CosineEmbeddingLoss"}, start: 3},
		{"package members", "strings.ToU|", []string{"ToUpper function (s string) string", "ToUpperSpecial function"}, []string{"Title", "toUpper"}, 8},
		{"package members without prefix", "strings.|", []string{"Builder type", "Contains function"}, []string{"explode"}, 8},
		{"any case, right case first", "strings.b|", []string{"Builder type struct{"}, nil, 8},
		{"type", "time.Dur|", []string{"Duration type int64"}, nil, 5},
		{"constant", "time.Sat|", []string{"Saturday constant time.Weekday = 6"}, nil, -1},
		{"variable of an earlier cell", "net.|", []string{"Hidden field int", "buf field bytes.Buffer", "Forward method (x int) int", "Size method () int"}, nil, 4},
		{"embedded", "wide.|", []string{"Hidden field int", "Net field *Net", "Width field float32", "Forward method"}, nil, 5},
		{"value has pointer methods", "buf.WriteS|", []string{"WriteString method (s string) (n int, err error)"}, nil, -1},
		{"interface", "shape.|", []string{"Area method () float64"}, nil, -1},
		{"method expression", "Net.|", []string{"Forward method", "Size method"}, []string{"Hidden"}, -1},
		{"variable hides package", "sort.|", nil, []string{"Ints"}, -1},
		{"result of a call", "strings.NewReader(\"x\").Re|", []string{"Read method", "ReadAt method", "Reset method"}, nil, -1},
		{"tensor", "x := tensor.Ones(2, 2)\nx.MatM|", []string{"MatMul method ("}, nil, -1},
		{"chained tensor", "tensor.Ones(2, 2).Sum().Ba|", []string{"Backward method"}, nil, -1},
		{"module", "m := nn.NewSequential(nn.New|", []string{"NewLinear function (in int, out int"}, nil, -1},
		{"chain", "http.DefaultClient.Tim|", []string{"Timeout field time.Duration"}, nil, -1},
		{"local variable", "x := strings.Builder{}\nx.|", []string{"Cap method", "WriteByte method"}, nil, -1},
		{"statement on the next line", "x := strings.Builder{}\nx.|\nfmt.Println(x)", []string{"Cap method"}, nil, -1},
		{"open brackets", "fmt.Println(strings.Repeat(strings.ToUp|", []string{"ToUpper function"}, nil, -1},
		{"open function", "func f(n *Net) int {\n\tfor i := range 3 {\n\t\tif n.|", []string{"Forward method"}, nil, -1},
		{"open function literal", "sort.Slice(nil, func(i, j int) bool {\n\treturn net.Fo|", []string{"Forward method"}, nil, -1},
		{"head of if", "if net.|\nfmt.Println()", []string{"Forward method"}, nil, -1},
		{"head of range", "for _, x := range net.|", []string{"Hidden field"}, nil, -1},
		{"switch", "switch net.|", []string{"Hidden field"}, nil, -1},
		{"surrounding code is unused and invalid", "var y int = \"no\"\nundefinedThing()\nnet.|\nz := also undefined", []string{"Forward method"}, nil, -1},
		{"assignment", "v := net.|", []string{"Forward method"}, nil, -1},
		{"function of the cell", "func f() *Net { return nil }\nf().|", []string{"Forward method"}, nil, -1},
		{"type of the cell below", "var q Q\nq.|\ntype Q struct{ Alpha int }", []string{"Alpha field int"}, nil, -1},
		{"type of the cell is newer than the session's", "type Net struct{ Newer int }\nvar n Net\nn.|", []string{"Newer field"}, []string{"Hidden"}, -1},
		{"import of the cell", "import \"math/bits\"\nbits.Le|", []string{"LeadingZeros function (x uint) int", "Len function"}, nil, -1},
		{"renamed import of the cell", "import b \"math/bits\"\nb.Le|", []string{"LeadingZeros function"}, nil, -1},
		{"generic function", "import \"slices\"\nslices.Sor|", []string{"Sort function [S ~[]E, E cmp.Ordered](x S)"}, nil, -1},
		{"names in scope", "lambda := 1\nl|", []string{"lambda variable int", "limit constant untyped int = 3", "len function (v Type) int"}, []string{"net"}, 12},
		{"not declared yet", "la|\nlambda := 1", nil, []string{"lambda"}, -1},
		{"parameters", "func f(alpha int) int {\n\treturn al|", []string{"alpha variable int"}, nil, -1},
		{"inner scope", "for index := range 3 {\n\tin|\n}", []string{"index variable int", "int type", "interface keyword"}, nil, -1},
		{"packages and keywords", "s|", []string{"shape variable Shape", "sort variable []int", "string type", "strings module strings", "select keyword", "struct keyword"}, nil, 0},
		{"function of the session", "tr|", []string{"train function (net *Net, epochs int) (loss float64)", "true constant untyped bool = true"}, nil, -1},
		{"internal names", "x|", nil, []string{"x__2", "cursor__", "cell__"}, -1},
		{"empty cell", "|", []string{"net variable *Net", "fmt module", "for keyword"}, nil, 0},
		{"keys", "n := Net{Hid|", []string{"Hidden field int"}, nil, -1},
		{"keys with values", "w := http.Client{Timeout: 3, Tr|}", []string{"Transport field http.RoundTripper"}, nil, -1},
		{"value of a key", "w := Net{Hidden: lim|}", []string{"limit constant"}, nil, -1},
		{"import path", "import \"math/|\"", []string{"math/big module", "math/rand module", "math/rand/v2 module"}, []string{"math"}, 8},
		{"import path not closed", "import \"enc|", []string{"encoding module", "encoding/json module"}, nil, 8},
		{"import group", "import (\n\t\"fmt\"\n\t\"uni|\n)", []string{"unicode module", "unicode/utf8 module"}, nil, -1},
		{"our packages", "import \"halfnote/|", []string{"halfnote/display module"}, nil, -1},
		{"package of another module", "import \"github.com/|", []string{"github.com/x448/float16 module"}, nil, -1},
		{"member of another module's package to import", "float16.Fro|", []string{"Fromfloat32 function (f32 float32) float16.Float16  // import \"github.com/x448/float16\""}, nil, -1},
		{"value of another module's type", "import \"github.com/x448/float16\"\nfloat16.NaN().Is|", []string{"IsNaN method () bool"}, nil, -1},
		{"in a string", "fmt.Println(\"strings.|\")", nil, []string{"ToUpper"}, -1},
		{"in a comment", "// net.|", nil, []string{"Forward"}, -1},
		{"in a number", "x := 3.|", nil, []string{"Forward"}, -1},
		{"magic", "%t|", []string{"%time magic"}, nil, 0},
		{"cell magic", "%%|", []string{"%%timeout magic"}, []string{"%time"}, 0},
		{"after a magic", "%time net.|", []string{"Forward method"}, nil, 10},
		{"after a magic with flags", "%time -n 3 -r2 net.|", []string{"Forward method"}, nil, 19},
		{"below a magic", "%%timeout 3s\nnet.|", []string{"Forward method"}, nil, -1},
		{"code points", "s := \"žluťoučký kůň\"; net.|", []string{"Forward method"}, nil, 26},
		{"package to import", "byt|", []string{"byte type", "bytes module import \"bytes\""}, nil, -1},
		{"member of a package to import", "hex.Dump|", []string{"Dump function (data []byte) string  // import \"encoding/hex\""}, nil, -1},
		{"after a package to import", "hex.NewEncoder(nil).W|", []string{"Write method"}, nil, -1},
		{"variable with the name of a package", "hex := 3\nhex.|", nil, []string{"Dump"}, -1},
		{"position of a type", "func f(x s|", []string{"strings module", "shape variable"}, nil, -1},
		{"help", "?net.Fo|", []string{"Forward method"}, nil, 5},
		{"options of a call", "tensor.Ones(1)\namp.NewGradScaler(|", []string{"amp.AbortAtMin function () amp.ScalerOption", "amp.InitScale function (scale float64)", "net variable"}, nil, -1},
		{"options by a part of their name", "amp.NewGradScaler(ini|", []string{"amp.InitScale function"}, []string{"amp.MaxScale"}, -1},
		{"options after the package", "amp.NewGradScaler(amp.|", []string{"InitScale function", "Autocast function"}, nil, -1},
		{"options that the comment names", "optim.NewSGD(nil, 0.1, |)", []string{"optim.Dampening function", "optim.Momentum function (m float64)", "optim.WeightDecay function", "optim.Alpha function", "net variable"}, nil, -1},
		{"options that the comment names, after the package", "nn.NewLinear(2, 3, nn.|)", []string{"Bias function", "InitFrom function", "Affine function", "AdaptiveAvgPool1d function"}, nil, -1},
		{"modules", "nn.NewSequential(nn.NewReLU(), |", []string{"nn.NewLinear function", "limit constant"}, []string{"nn.MSELoss"}, -1},
		{"dtypes", "x := tensor.Ones(2)\nx.To(|)", []string{"tensor.Float16 constant", "x variable"}, []string{"tensor.Ones", "tensor.End constant"}, -1},
		{"struct of options", "optim.NewCyclicLR(nil, 0, 1, |)", []string{"optim.CycleOptions{ type", "net variable"}, nil, -1},
		{"variables of the parameter's type", "alpha, zeta, beta := \"\", 1, 2.5\ntrain(net, |)", []string{"zeta variable", "limit constant", "alpha variable", "beta variable", "net variable"}, nil, -1},
		{"variable of a pointer type", "train(|)", []string{"net variable *Net", "buf variable"}, nil, -1},
		{"assigned value", "s := \"\"\nn := 1\ns = |", []string{"s variable string", "n variable int"}, nil, -1},
		{"declared value", "s := \"\"\na := 1\nvar t string = |", []string{"s variable string", "a variable int"}, nil, -1},
		{"value of a field", "s := \"\"\na := 1\nw := Net{Hidden: |}", []string{"a variable int", "s variable string"}, nil, -1},
		{"any value", "fmt.Println(|)", []string{"buf variable", "net variable", "train function"}, nil, -1},
		{"unknown package", "nosuch.|", nil, []string{"net"}, -1},
		{"unknown member's member", "net.Nothing.|", nil, []string{"net", "Forward"}, -1},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) { tt.check(t, seen()) })
	}
}

// TestCompleteEverywhere checks that completion and help return for every position of the
// cursor.
func TestCompleteEverywhere(t *testing.T) {
	snap := seen()
	const cell = "import \"math\"\n%time x := math.Sqrt(2)\ntype T[P any] struct{ p P; 字 int }\nfunc (t T[P]) M() { switch v := any(t).(type) { case int: v++ } }\n" +
		"for i, c := range []rune(\"a\\\"b\") { defer func() { go f(<-c, i...) }() }\nx.y[z:](`raw\n`) /* … */ }} {{ ) 'q' net.Forward(1"
	for i := range []rune(cell) {
		for _, code := range []string{cell, string([]rune(cell)[:i])} {
			c := Complete(snap, code, i)
			if c.Start < 0 || c.Start > c.End || c.End != i {
				t.Fatalf("Complete(%q, %d): got replacement of %d to %d", code, i, c.Start, c.End)
			}
			explain(snap, code, i, 1)
		}
	}
}

// TestCompleteEnds completes cells that the type checker would need hours for.
func TestCompleteEnds(t *testing.T) {
	var types strings.Builder
	for i := range 100 {
		fmt.Fprintf(&types, "type A%d struct{ a, b A%d }\n", i+1, i)
	}
	for _, code := range []string{
		"type A0 struct{}\n" + types.String() + "var x A100\nx.",
		"func f() {\ntype A0 struct{}\n" + types.String() + "}\nnet.",
		"var x " + strings.Repeat("*", 50_000) + "int\nx.",
		"x := " + strings.Repeat("f(", 10_000),
		"x := net" + strings.Repeat(".a()", 10_000) + ".",
	} {
		Complete(seen(), code, len(code))
		explain(seen(), code, len(code), 1)
	}
}

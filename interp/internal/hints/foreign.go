package hints

import (
	"go/ast"
	"go/types"
	"strings"

	"halfnote/interp/internal/exports"
)

// torchHints maps errors of expressions that are valid in PyTorch to the methods that Go
// calls instead. An entry applies to an error that contains all of its parts.
var torchHints = []struct {
	parts []string
	hint  string
}{
	{[]string{"cannot call ", "*nn."}, "call its method: net.Forward(x)"},
	{[]string{"cannot call tensor."}, "x.To(tensor.Float16) converts a tensor; tensor.NewAs(tensor.Float16, []float64{1, 2}) makes one"},
	{[]string{"in struct literal of type tensor.Tensor"}, "tensor.New([]float64{1, 2}) makes a tensor"},
	{[]string{"cannot index ", "*tensor.Tensor"}, "x.Select(0, i) is x[i], and x.Narrow(0, start, length) is x[start:start+length]"},
	{[]string{"cannot slice ", "*tensor.Tensor"}, "x.Narrow(0, start, length) is x[start:start+length]"},
	{[]string{"cannot range over ", "*tensor.Tensor"}, "for i, row := range x.Unbind(0) takes the rows of x"},
	{[]string{"for built-in len", "*tensor.Tensor"}, "x.Size(0) is the length of the first dimension, x.Numel() the number of elements"},
	{[]string{"invalid operation: ", " * ", "string"}, `strings.Repeat("ab", 3) repeats a string`},
	{[]string{"invalid operation: ", " += ", "(mismatched types []"}, "s = append(s, v) adds an element, s = append(s, more...) those of a slice"},
	{[]string{"cannot indirect ", " constant"}, "x.Pow(2) is the power of a tensor, math.Pow(x, 2) of a number"},
}

// containerMethods maps methods that Python's lists, dicts and strings have to what Go has in their place.
var containerMethods = map[string]map[string]string{
	"slice": {
		"append": "s = append(s, v) adds an element", "extend": "s = append(s, more...) adds the elements of a slice", "insert": "s = slices.Insert(s, i, v) inserts an element",
		"pop": "s = s[:len(s)-1] drops the last element", "remove": "s = slices.DeleteFunc(s, func(v int) bool { return v == x }) removes elements", "clear": "s = s[:0] removes all elements",
		"sort": "slices.Sort(s) sorts a slice", "reverse": "slices.Reverse(s) reverses a slice", "index": "slices.Index(s, v) is the position of a value", "copy": "slices.Clone(s) is a copy",
	},
	"map": {
		"items": "for key, value := range m { … } takes the entries", "keys": "slices.Sorted(maps.Keys(m)) are the keys in order", "values": "slices.Collect(maps.Values(m)) are the values",
		"get": "value, ok := m[key] gets a value, and whether there is one", "pop": "delete(m, key) removes an entry", "update": "maps.Copy(m, more) adds the entries of a map", "copy": "maps.Clone(m) is a copy",
	},
	"string": {
		"format": `fmt.Sprintf("%v of %d", x, n) formats values`, "join": `strings.Join(list, ", ") joins strings`, "split": `strings.Split(s, ",") cuts a string, strings.Fields(s) at blanks`, "strip": "strings.TrimSpace(s) is s without blanks around it",
		"upper": "strings.ToUpper(s) is in capitals", "lower": "strings.ToLower(s) is in small letters", "replace": `strings.ReplaceAll(s, "a", "b") replaces text`, "find": `strings.Index(s, "a") is the position of a text`,
		"startswith": `strings.HasPrefix(s, "a") reports whether s begins with a text`, "endswith": `strings.HasSuffix(s, "a") reports whether s ends with a text`,
	},
}

// containerHint says what Go has in place of a method of Python's list, dict or str, or returns "".
func containerHint(t types.Type, method string) string {
	switch u := t.Underlying().(type) {
	case *types.Slice, *types.Array:
		return containerMethods["slice"][method]
	case *types.Map:
		return containerMethods["map"][method]
	case *types.Basic:
		if u.Info()&types.IsString != 0 {
			return containerMethods["string"][method]
		}
	}
	return ""
}

// expressionHint suggests the method for an operator that Go does not have for tensors and modules, or
// returns "".
func (a *Attempt) expressionHint(m Mistake) string {
	for _, h := range torchHints {
		all := true
		for _, part := range h.parts {
			all = all && strings.Contains(m.Msg, part)
		}
		if all {
			return h.hint
		}
	}
	return ""
}

// wholeReductions maps methods that PyTorch also has without a dimension to what cells call then.
var wholeReductions = map[string]string{
	"(*halfnote/tensor.Tensor).Max":  "x.Amax() is the largest element of all",
	"(*halfnote/tensor.Tensor).Min":  "x.Amin() is the smallest element of all",
	"(*halfnote/tensor.Tensor).Size": "x.Shape() lists the sizes of all dimensions",
}

// conditionHint explains how a tensor becomes a condition, or returns "".
func (a *Attempt) conditionHint(m Mistake) string {
	for _, n := range m.path {
		if e, ok := n.(ast.Expr); ok && exports.TypeString(a.Info.TypeOf(e), a.Pkg) == "*tensor.Tensor" {
			return "x.Any().Item() != 0 reports whether an element is true, x.All().Item() != 0 whether all are"
		}
	}
	return ""
}

// preloadedHint names the packages that cells have without an import.
const preloadedHint = "tensor, nn, optim, amp and data need no import: tensor.Ones(2, 3), nn.NewLinear(3, 2)"

// foreignNames maps names that Python's users give modules to what cells have in their place.
var foreignNames = map[string]string{
	"torch":       preloadedHint,
	"np":          "tensors take the place of NumPy's arrays: tensor.Arange(0, 10)",
	"numpy":       "tensors take the place of NumPy's arrays: tensor.Arange(0, 10)",
	"F":           "package nn has the functions of torch.nn.functional: nn.CrossEntropy(x, target)",
	"plt":         "chart.Plot(y), chart.Plot(x, y), chart.Step, chart.Scatter, chart.Hist and chart.Imshow draw slices and tensors; chart? lists more",
	"breakpoint":  "JupyterLab's debugger sets breakpoints; %debug after a panic and %%debug show the variables of each call",
	"bfloat16":    "tensor.BFloat16 is a dtype: tensor.Scalar(0.1).To(tensor.BFloat16)",
	"constraints": "the constraint of numbers is interface{ ~int | ~float64 }, that of ordered values cmp.Ordered; %go get golang.org/x/exp/constraints adds the package",
	"dir":         "x.*? lists the members of x, %who the variables",
	"Display":     "display.Show(x) shows x",
	"exit":        "exit or quit alone in a cell leaves a console",
	"float16":     "tensor.Float16 is a dtype: tensor.Scalar(2048).Half()",
	"help":        "x? shows the documentation of x, %help an index",
	"pd":          "data.LoadCSV(file, data.CSVOptions{}) reads a table, which is filtered, sorted and grouped: data.Table?",
	"pandas":      "data.LoadCSV(file, data.CSVOptions{}) reads a table, which is filtered, sorted and grouped: data.Table?",
	"sns":         "chart.Plot, chart.BarPlot, chart.BoxPlot and others draw columns of a table: chart? lists them",
	"pass":        "an empty block is { }",
	"quit":        "exit or quit alone in a cell leaves a console",
	"self":        "name the receiver in the method: func (m *Model) Forward(x *tensor.Tensor) *tensor.Tensor",
	"str":         "fmt.Sprint(x) makes a string",
	"plot":        "chart.Plot(y) and chart.Plot(x, y) draw slices and tensors; chart? lists more charts",
	"print":       "fmt.Println(x) prints",
	"None":        "nil is Go's None",
	"True":        "true is Go's True",
	"False":       "false is Go's False",
}

// foreignMembers maps functions of gophernotes' and IPython's package display to what cells have in their place.
var foreignMembers = map[string]string{
	"display.Any":        "display.Show(x) shows any value",
	"display.Auto":       "display.Show(x) shows any value",
	"display.File":       "display.Image(img), display.PNG(data), display.JPEG(data) and display.SVG(text) show pictures",
	"display.JavaScript": "display.HTML(text) shows HTML, which may have a script",
	"display.MIME":       "display.Bundle{Data: display.MIMEMap{…}} shows several representations",
	"display.Math":       "display.LaTeX(text) shows mathematics",
	"display.MakeData":   "display.Bundle{Data: display.MIMEMap{…}} shows several representations",
	"display.PDF":        "front ends show PDF files by a link: display.HTML(`<a href=\"file.pdf\">file.pdf</a>`)",
}

// foreignImports maps the first element of Python's import paths to what cells have in their place.
var foreignImports = map[string]string{
	"torch":       preloadedHint,
	"torchvision": "package data has datasets and loaders: data?",
	"numpy":       foreignNames["np"],
	"matplotlib":  foreignNames["plt"],
	"C":           "C could end the kernel, which cells cannot: put it into a program, and !go run starts that",
	"pandas":      "data.LoadCSV(file, data.CSVOptions{}) reads a table: data.Table? lists its methods; display.Show(rows) shows a slice of structs as one",
	"seaborn":     "chart.Plot, chart.BarPlot, chart.BoxPlot and others draw columns of a table: chart? lists them",
	"tqdm":        "package display shows progress: display?",
}

// gonbPackages maps packages that speak to GoNB's kernel, by the rest of the path, to what cells have in their place.
var gonbPackages = map[string]string{
	"gonb/gonbui":         "display.HTML(text), display.Markdown(text), display.SVG(text), display.PNG(data) and display.Image(img) show values here, and display.Live(v) one that changes",
	"gonb/gonbui/comms":   "widgets call functions of cells: widget? lists them",
	"gonb/gonbui/dom":     "display.HTML(text) shows HTML, display.Live(v) a value that changes",
	"gonb/gonbui/plotly":  "chart.Plot, chart.BarPlot and others draw: chart? lists them; display.HTML(page) shows a page with Plotly",
	"gonb/gonbui/wasm":    "a cell runs in the kernel; display.HTML(text) shows HTML",
	"gonb/gonbui/widgets": `widget.NewIntSlider(50, 0, 100) and widget.NewButton("Ok") are widgets: widget? lists more`,
	"gonb-echarts":        "chart.Plot, chart.BarPlot and others draw: chart? lists them; display.HTML(page) shows the page that a chart of go-echarts renders",
}

// Refused returns what to write in place of a package that needs another kernel, by its import path, or "".
func Refused(path string) string {
	path, ok := strings.CutPrefix(path, "github.com/janpfeifer/")
	if !ok {
		return ""
	}
	return gonbPackages[path]
}

// Import suggests what to use in place of a package of Python, by its import path, or returns "".
func Import(path string) string {
	if path == "github.com/janpfeifer/gonb/cache" {
		return "a variable keeps its value: only the cell that declares it computes it"
	}
	root, _, _ := strings.Cut(strings.ReplaceAll(path, ".", "/"), "/")
	return foreignImports[root]
}

// Magics maps magics of IPython and GoNB to what cells do in their place.
var Magics = map[string]string{
	"%alias":         "a function takes the place of an alias; !command runs a command",
	"%args":          "os.Args = []string{\"main\", …} sets the arguments, and flag.Parse() reads them",
	"%autoget":       "%go get PATH adds a module",
	"%autoreload":    "packages of your module are read again when their files change",
	"%capture":       "%%capture NAME as the first line of a cell keeps what it prints in a variable: os.WriteFile writes it to a file",
	"%conda":         "cells import Go's packages; !conda runs the command",
	"%edit":          "%recall 3 puts a cell into a new one, %load FILE a file",
	"%exec":          "f() calls a function; os.Args = []string{\"main\", …} sets the arguments, and flag.Parse() reads them",
	"%goflags":       "cells have no flags of the go command: %%writefile writes a file of a package, and !go test -race runs it",
	"%goworkfix":     "a go.work in this folder is read as it is",
	"%load_ext":      "cells have no extensions; %lsmagic lists the magics",
	"%lprun":         "%prun STATEMENT shows the slowest lines",
	"%mprun":         "%memit STATEMENT prints the memory of a statement, trace.Recorder.Memory that of each operation",
	"%macro":         "%rerun 2-4 runs cells again; a function takes the place of a macro",
	"%main":          "leave the line out: statements run where they stand",
	"%matplotlib":    "charts need no set-up: a chart as last expression is shown",
	"%noautoget":     "%go get PATH adds a module; nothing is added by itself",
	"%pip":           "cells import Go's packages; !pip runs the command",
	"%rm":            "%xdel NAME… forgets names of cells, !rm removes files",
	"%store":         "variables end with the kernel: %rerun ~1 runs the cells of the kernel before again, data.Save keeps tensors in a file",
	"%test":          "%%writefile add_test.go writes a test, and !go test runs those of the folder; testing.Benchmark(f) runs a benchmark of a cell",
	"%track":         "packages of your module are read again when their files change",
	"%untrack":       "packages of your module are read again when their files change",
	"%wasm":          "a cell runs in the kernel; display.HTML(text) shows HTML",
	"%widgets":       "widgets need no set-up: widget? lists them",
	"%with_inputs":   "fmt.Scanln(&x) asks for input",
	"%with_password": "fmt.Scanln(&x) asks for input",
	"%%javascript":   "display.HTML(text) shows HTML, which may have a script; cells are Go",
	"%%js":           "display.HTML(text) shows HTML, which may have a script; cells are Go",
}

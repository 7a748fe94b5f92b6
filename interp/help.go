package interp

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	"halfnote/interp/internal/exports"
)

// tasks lists what users look for and what to type for it: cells that show help, run a
// magic or are Go.
var tasks = []struct {
	what string
	try  []string
}{
	{"train in mixed precision", []string{"amp?", "amp.NewGradScaler?"}},
	{"see the dtype of each operation", []string{"amp.Ops()"}},
	{"live loss curve", []string{"display.Live?", "chart.Loss?"}},
	{"live dashboard of a run", []string{"trace.Live?"}},
	{"progress of a loop", []string{"display.Track?", "display.NewProgress?"}},
	{"flip the bits of a number", []string{"experiment.Bits(0.1).Widget()"}},
	{"a knob for the loss scale", []string{"diagnose.ScaleKnob?"}},
	{"slider, button", []string{"widget.Interact?", "widget?"}},
	{"table, image, HTML, LaTeX", []string{"display?"}},
	{"output of your own type", []string{"display.Of?"}},
	{"charts", []string{"chart?"}},
	{"charts to point at and zoom", []string{"%charts interactive"}},
	{"dark charts", []string{"%theme dark", "%theme auto"}},
	{"gradients that float16 loses", []string{"diagnose.Gradients?"}},
	{"where a value overflows", []string{"diagnose.Overflow?"}},
	{"a good loss scale", []string{"diagnose.Gradients?", "diagnose.Replay?"}},
	{"where float16 sums stop", []string{"experiment.Accumulation?"}},
	{"what float16 can store", []string{"experiment.Ranges()", "experiment.Spacing?"}},
	{"record a run", []string{"trace.Start?"}},
	{"TensorBoard, Perfetto", []string{"trace.TensorBoard?", "trace.Recorder.ChromeTrace?"}},
	{"time on another GPU", []string{"roofline?"}},
	{"files of data and weights", []string{"data.Load?", "data?"}},
	{"time of a line", []string{"%timeit x := tensor.Ones(100, 100)"}},
	{"the slowest lines", []string{"%prun step()", "%%prun"}},
	{"variables after a panic", []string{"%debug"}},
	{"output of a cell in a variable", []string{"%%capture out"}},
	{"output that the browser missed", []string{"%output"}},
	{"cells of another notebook", []string{"%run other.ipynb"}},
	{"gofmt for a cell", []string{"%%gofmt"}},
	{"answers to the course's exercises", []string{"exercise.Check?", "exercise.Progress()"}},
	{"a Go program of this notebook", []string{"%export main.go"}},
}

// overview is the page of %help: an index of documentation, packages, tasks and magics.
func overview() string {
	var b strings.Builder
	b.WriteString("A cell contains Go: imports, declarations and statements in any order. The value of its last\n")
	b.WriteString("expression is displayed, unless the cell ends with a semicolon. Names keep their meaning in\n")
	b.WriteString("later cells and may be declared again. _ is the last displayed value. In[3] is the source of\n")
	b.WriteString("cell 3, and Out[3] the value that it displayed.\n\n")
	row := func(name, text string) { fmt.Fprintf(&b, "    %-33s %s\n", name, text) }

	b.WriteString("Documentation\n")
	row("tensor?", "a package, type, function, method or variable; also Shift-Tab")
	row("nn.NewLinear??", "the same with its source")
	row("nn.*norm*?", "the names that match; *norm*? searches all packages")
	row("?", "this page; also %help")
	row("%help loss scale", "what there is about some words")
	b.WriteString("\n")

	b.WriteString("Packages\n")
	var std []string
	for _, name := range slices.Sorted(maps.Keys(preloaded)) {
		if path := preloaded[name]; strings.HasPrefix(path, "halfnote/") {
			fmt.Fprintf(&b, "    %-12s %s\n", name, topic(path))
		} else {
			std = append(std, name)
		}
	}
	fmt.Fprintf(&b, "    These and %s need no import. Other standard packages need an import.\n\n", strings.Join(std, ", "))

	b.WriteString("Tasks\n")
	for _, t := range tasks {
		row(t.what, strings.Join(t.try, "   "))
	}
	b.WriteString("\nCommands\n")
	b.WriteString(listMagics())
	b.WriteString("    A command with %% must be the first line of a cell and applies to the whole cell; one with % stands on a separate line.\n\n")
	b.WriteString("The environment variable GOMEMLIMIT limits the memory of cells, for example GOMEMLIMIT=8GiB.\n")
	return b.String()
}

// topic returns what the package at path does, in less than a sentence: "updates parameters
// from their gradients".
func topic(path string) string {
	text, _, _ := strings.Cut(strings.TrimSuffix(exports.Synopsis(path), "."), ": ")
	text, _, _ = strings.Cut(text, ", and ")
	return strings.TrimPrefix(text, "Package "+exports.Name(path)+" ")
}

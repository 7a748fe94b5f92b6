package assist

import (
	"fmt"
	"maps"
	"slices"
	"strings"
	"unicode/utf8"

	"halfnote/display"
	"halfnote/interp/internal/exports"
)

// Task is what users look for and what to type for it: cells that show help, run a magic or are Go.
type Task struct {
	What string
	Try  []string
	Also string // further words by which %help WORDS finds it
}

// Tasks lists what the page of %help suggests.
var Tasks = []Task{
	{"train in mixed precision", []string{"amp?", "amp.NewGradScaler?"}, "amp autocast scaler"},
	{"see the dtype of each operation", []string{"amp.Ops()"}, ""},
	{"live loss curve", []string{"display.Live?", "chart.Loss?"}, ""},
	{"live dashboard of a run", []string{"trace.Live?"}, ""},
	{"progress of a loop", []string{"display.Track?", "display.NewProgress?"}, ""},
	{"flip the bits of a number", []string{"experiment.Bits(0.1).Widget()"}, ""},
	{"a knob for the loss scale", []string{"diagnose.ScaleKnob?"}, ""},
	{"slider, button", []string{"widget.Interact?", "widget?"}, ""},
	{"table, image, HTML, LaTeX", []string{"display?"}, "picture png markdown dataframe"},
	{"output of your own type", []string{"display.Of?"}, ""},
	{"charts", []string{"chart?"}, "plot graph figure image picture heat map matplotlib"},
	{"names, ticks, limits, legends", []string{"chart.Figure.XTicks?", "chart.Figure.Legend?"}, "axis axes label xlabel xticks ylim legend title matplotlib"},
	{"arrows, lines, second y axis", []string{"chart.Figure.Annotate?", "chart.Figure.TwinX?"}, "annotate annotation arrow axhline axvspan text twinx matplotlib"},
	{"error bars, bars, box plots", []string{"chart.Figure.ErrorBars?", "chart.BarPlot?", "chart.BoxPlot?"}, "errorbar fill_between band boxplot bar mean std seeds matplotlib"},
	{"subplots", []string{"chart.Grid?", "chart.Figure.ShareX?"}, "grid panels sharex shared matplotlib"},
	{"charts to point at and zoom", []string{"%charts interactive"}, ""},
	{"dark charts", []string{"%theme dark", "%theme auto"}, ""},
	{"gradients that float16 loses", []string{"diagnose.Gradients?"}, "underflow underflows flushed flush zero vanishing subnormal dead layer"},
	{"where a value overflows", []string{"diagnose.Overflow?"}, "NaN nan inf infinity infinite overflow"},
	{"a good loss scale", []string{"diagnose.Gradients?", "diagnose.Replay?"}, "underflow skipped step scaler"},
	{"where float16 sums stop", []string{"experiment.Accumulation?"}, ""},
	{"what float16 can store", []string{"experiment.Ranges()", "experiment.Spacing?"}, ""},
	{"record a run", []string{"trace.Start?"}, ""},
	{"TensorBoard, Perfetto", []string{"trace.TensorBoard?", "trace.Recorder.ChromeTrace?"}, ""},
	{"time on another GPU", []string{"roofline?"}, ""},
	{"files of data and weights", []string{"data.Load?", "data?"}, "save load write read store model checkpoint weights safetensors npz"},
	{"time of a line", []string{"%timeit x := tensor.Ones(100, 100)"}, "slow fast speed benchmark"},
	{"the slowest lines", []string{"%prun step()", "%%prun"}, "slow profile profiler speed bottleneck"},
	{"variables after a panic", []string{"%debug"}, "error traceback pdb debugger crash"},
	{"output of a cell in a variable", []string{"%%capture out"}, ""},
	{"output that the browser missed", []string{"%output"}, "restart closed lost history"},
	{"cells of another notebook", []string{"%run other.ipynb"}, ""},
	{"gofmt for a cell", []string{"%%gofmt"}, ""},
	{"answers to the course's exercises", []string{"exercise.Check?", "exercise.Progress()"}, ""},
	{"a Go program of this notebook", []string{"%export main.go"}, "save script"},
	{"parameters in a file", []string{"nn.StateDict?", "data.Save?"}, "save model weights checkpoint store"},
	{"a table from a CSV file", []string{"data.LoadCSV?"}, "csv columns read rows dataframe pandas"},
	{"sort, filter, group, join tables", []string{"data.Table.Filter?", "data.Table.GroupBy?", "data.Table.Join?"}, "csv dataframe pandas sort_values groupby columns rows select missing dropna merge"},
	{"a picture of a matrix", []string{"chart.Imshow?"}, "image heat map confusion matrix pixels"},
	{"pictures in rows", []string{"chart.Images?"}, "image images grid make_grid RGB colour color picture pictures"},
	{"one run for each setting", []string{"experiment.Sweep?", "experiment.Time?"}, "sweep grid search hyperparameters compare seeds resume interrupted"},
	{"the same random numbers again", []string{"tensor.ManualSeed?", "tensor.NewGenerator?"}, "seed reproducible random deterministic"},
	{"memory of a line", []string{"%memit step()", "%%memit"}, "memory peak bytes leak allocated heap"},
	{"memory of tensors", []string{"trace.Recorder.Memory?", "tensor.Device.Memory?"}, "memory peak bytes leak out"},
	{"cells of the kernel before", []string{"%rerun ~1", "%output ~1"}, "restart restarted undefined lost again"},
}

// Overview is the page of %help: an index of documentation, packages, tasks and magics.
func Overview(magics []Magic) display.Bundle {
	var text, md strings.Builder
	paragraph := func(words string) {
		text.WriteString(fold80(words, 0) + "\n")
		md.WriteString(special.ReplaceAllString(words, `\$0`) + "\n")
	}
	section := func(title string, width, typed int, rows [][2]string, note string) {
		fmt.Fprintf(&text, "\n%s\n", title)
		fmt.Fprintf(&md, "\n#### %s\n\n%s", title, table(rows, typed))
		for _, r := range rows {
			text.WriteString(fold80(fmt.Sprintf("    %-*s %s", width, r[0], r[1]), width+5) + "\n")
		}
		if note != "" {
			text.WriteString(fold80("    "+note, 4) + "\n")
			fmt.Fprintf(&md, "\n%s\n", special.ReplaceAllString(note, `\$0`))
		}
	}
	paragraph("A cell contains Go: imports, declarations and statements in any order. The value of its last expression is displayed, unless the cell ends with a semicolon. Names keep their meaning in later cells and may be declared again. _ is the last displayed value. In[3] is the source of cell 3, and Out[3] the value that it displayed.")
	section("Documentation", 33, 0, [][2]string{
		{"tensor?", "a package, type, function, method or variable; also Shift-Tab"},
		{"nn.NewLinear??", "the same with its source"},
		{"nn.*norm*?", "the names that match; *norm*? searches all packages"},
		{"?", "this page; also %help"},
		{"%help loss scale", "what there is about some words"},
	}, "")
	var packages, tasks [][2]string
	var std []string
	for _, name := range slices.Sorted(maps.Keys(exports.Preloaded)) {
		if path := exports.Preloaded[name]; strings.HasPrefix(path, "halfnote/") {
			packages = append(packages, [2]string{name, topic(path)})
		} else {
			std = append(std, name)
		}
	}
	section("Packages", 12, 0, packages, fmt.Sprintf("These and %s need no import. Other standard packages need an import.", strings.Join(std, ", ")))
	for _, t := range Tasks {
		tasks = append(tasks, [2]string{t.What, strings.Join(t.Try, " or ")})
	}
	section("Tasks", 33, 1, tasks, "")
	section("Commands", 33, 0, usages(magics), "A command with %% must be the first line of a cell and applies to the whole cell; one with % stands on a separate line.")
	text.WriteString("\n")
	md.WriteString("\n")
	paragraph("The environment variable GOMEMLIMIT limits the memory of cells, for example GOMEMLIMIT=8GiB.")
	return display.Bundle{Data: map[string]any{"text/plain": text.String(), "text/markdown": md.String()}}
}

// table renders rows in Markdown, which front ends fold to the width of a page. One column holds what is typed.
func table(rows [][2]string, typed int) string {
	var b strings.Builder
	b.WriteString("| | |\n|:--|:--|\n")
	for _, r := range rows {
		r[1-typed] = special.ReplaceAllString(r[1-typed], `\$0`)
		r[typed] = "`" + strings.ReplaceAll(strings.ReplaceAll(r[typed], "|", `\|`), " or ", "` or `") + "`"
		fmt.Fprintf(&b, "| %s | %s |\n", r[0], r[1])
	}
	return b.String()
}

// fold80 breaks a line at spaces so that it has at most 80 columns. The lines that follow begin with indent spaces.
func fold80(line string, indent int) string {
	var b strings.Builder
	for utf8.RuneCountInString(line) > 80 {
		end := strings.LastIndexByte(line[:len(string([]rune(line)[:81]))], ' ')
		if len(strings.TrimSpace(line[:max(end, 0)])) == 0 {
			break // a word that is longer than a line
		}
		b.WriteString(strings.TrimRight(line[:end], " ") + "\n")
		line = strings.Repeat(" ", indent) + strings.TrimLeft(line[end:], " ")
	}
	return b.String() + line
}

// topic returns what the package at path does, in less than a sentence: "updates parameters
// from their gradients".
func topic(path string) string {
	text, _, _ := strings.Cut(strings.TrimSuffix(exports.Synopsis(path), "."), ": ")
	text, _, _ = strings.Cut(text, ", and ")
	return strings.TrimPrefix(text, "Package "+exports.Name(path)+" ")
}

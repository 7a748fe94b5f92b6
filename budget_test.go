package main

import (
	"bytes"
	"fmt"
	"os"
	"path"
	"regexp"
	"slices"
	"strings"
	"testing"

	"halfnote/internal/testenv"
)

// budget holds the most lines that each folder may have, sorted by folder. A file counts for the longest path that it lies below.
// Comments and empty lines count; files below testdata and other languages do not.
//
// A new maintainer has to read all of them. A folder that outgrows its row first gives something up: what the change
// replaced, what is said twice, what belongs elsewhere. If it still must grow, raise the number by what it needs, and say why in the last column.
const budget = `
folder                     written   tests  generated  assembly  raised because
.                             1120     800          0         0  the command verify; recordings as text, as a page and as single outputs
amp                           5450    9000          0         0  policies with block formats, sums in other dtypes and orders
amp/diagnose                  9570    4850          0         0  products by role and block formats, formats by layer, variants of a step next to float64; infinities that become finite numbers, what gradients carry beyond Update, outcomes by share; diagnoses of recordings in files, where two recordings part
amp/experiment                3540    1000          0         0  ten claims about narrow formats, with a chart and a table in the docs; sweeps over a grid that continue after an interrupt
amp/trace                     5400    2700          0         0  recordings in files, of programs in PyTorch and in Go; hashes
cuda                          2500    4600          0         0  the table of what kernels take, check.sh with stubs of its programs
cuda/internal/gpu             5200    2300          0         0
cuda/internal/ptx             5400    1850          0         0  CUTLASS's layouts of fragments
display                       2000     850          0         0
display/chart                11420    3000          0         0  matplotlib's axes: ticks, limits, annotations, errors, two y axes; bars, boxes, pictures, tables; the data of errors and of two axes
display/widget                2000     650          0         0
dist                          3800    2300          0         0
install                       3000    1750          0         0  the program of a page, compressed for servers that do not, its texts apart and without unused fonts; a site for browsers; tests of Python in folders of strangers, what a first start is at
internal                      2900    2900          0       130  bills of materials and statements of wheels, recipes, pages for the public; observers of several sessions
internal/bench                2500     420          0         0  the networks that it trains, from amp/experiment
internal/e2e                    50    4780          0         0  cells in a browser; idle kernels, other users of the machine, processes that cells start, half an hour of one kernel, limits of addresses, keys that are typed
internal/receipt               930     320          0         0  digests of tensors, and their comparison; receipts of notebooks, which notebooks/notebook had; comparisons with a session
interp                        2030    9350          0         0  a page without compiled cells; loops on one thread; rewrites that make Go in a cell right, with their proof; programs that use modules of others, hostile cells in separate processes, the work for cells of each shape, what examples use; random statements whose order shows, cells of the kernel before, pictures of a page; many goroutines, scripts in a folder; programs of a folder next to compiled Go; notebooks of questions; names that get other meanings
interp/internal              12060    2600        320        50  a page without some packages, which reads the texts of declarations from its site; loops on one thread; bounds on goroutines and on memory in few addresses; rewrites that make Go in a cell right, with their proof; the frames of a goroutine, before in interp/engine; what cells call without naming it, before in interp; the default loggers of cells, names that a program of cells forgets; limits of syntax, before in interp/internal/front; allocations that no poll interrupts
interp/internal/assist        3300     550          0         0  the parameter at the cursor; cells whose check would not end
interp/internal/dynamic       3600     750          0         0  rewrites that make Go in a cell right, with their proof; values of each kind, whose treatment by Go is the oracle; types of interfaces for package reflect
interp/internal/front         5490     650          0         0  tables of what each stage makes of a cell, long constants; names of types, before in interp, and forgotten names, packages without an import; names that generic functions lose; headers as text, of nested types in linear time
interp/internal/hashes         450       0          0         0  hashes for receipts
interp/internal/hints         2300     400          0         0  hints, before in interp/internal/front
interp/internal/library       2600     450          0         0  rewrites that make Go in a cell right, with their proof; checksums of modules
interp/internal/lower        13100     750          0         0  rewrites that make Go in a cell right, with their proof; the order in which the Go compiler computes operations; what calls a deferred method; types of what loops assign; standard streams that are files to code that looks
interp/internal/lower/core    2200     300          0         0  a table of what the interpreter runs, which the tests of each rewrite relied on before
interp/internal/magic         3400     150          0         0  commands that users of IPython type, the line %% of GoNB, memory; comparisons with receipts
interp/internal/native        7760    3000        650        80  rewrites that make Go in a cell right, with their proof; lines of cells for packages that ask who calls them
interp/internal/proof         1300     600          0         0  generator of cells, in place of cells written by hand
interp/internal/symbols        700    1900      13500         0  tables of all of the standard library
interp/internal/typemaker      950    1300          0       200  rewrites that make Go in a cell right, with their proof
interp/internal/yaegi         2210     400          0         0  loops on one thread; tests of indexes, which 400 lines of interp/internal/lower did not reach everywhere; nodes that do not hold their unit; types in a ring in one walk; types that nodes share
kernel                        7100    3600          0         0  a kernel without sockets, files and processes, and its transports; damaged histories, signatures that outlive a restart, a taken port, interrupts of what cells have started, why a kernel ended, cells of the kernel before
kernel/client                 1300     750          0         0
kernel/guard                  2760    2550          0         0  peers without the key share a budget and a rate, and make room
kernel/kerneltest             1700     250          0         0
kernel/ranks                  1700     600          0         0
notebooks                       50     830          0         0  numbers in the prose of lessons, tokens of translations; receipts of lessons
notebooks/exercise            3490     730          0         0  answers about block formats and divergences; guesses of a form, texts in the language of the reader; answers about orders of sums
notebooks/notebook            3680    2100          0         0  statements of pages, receipts
tensor                       23500    9500          0         0  the names in errors and wrong devices, in sweeps over all operations
tensor/data                   7650    4650          0         0  statements of tables; tables in the forms and with the display of pandas; checkpoints in shards, with foreign values, and with the states of torch.optim and its averages; rows and groups of tables, with pandas' results
tensor/drivertest             3700       0          0         0
tensor/internal               1300     800        350         0
tensor/internal/asm           5800     750       4300     66500  codes of narrow formats
tensor/internal/asm/gen/ssa   1000     720          0         0  the compiler of functions, before in tensor/internal/asm, has a page and tests
tensor/internal/cpu           9300    2700          0         0
tensor/internal/linalg         850     280          0         0
tensor/nn                     7400    2850          0         0  the errors of poolings, in a sweep
tensor/optim                  3450    1800          0         0  the state dicts of torch.optim; Muon, parameters of 16 bits, states of few bits; steps at edges
tensor/quant                  2600    1150          0         0  what a scheme does to a tensor, rotations
tensor/torchtest                50    4450          0         0  operands at the edges, in each dtype; rows of batches; other processors, orders of gradients
`

// kinds are the columns of the budget.
var kinds = [4]string{"written Go", "tests", "generated Go", "assembly"}

// generatedGo matches the comment by which the go command recognises generated files.
var generatedGo = regexp.MustCompile(`(?m)^// Code generated .* DO NOT EDIT\.$`)

// kindOf returns the column of a file.
func kindOf(file string, text []byte) int {
	head, _, _ := bytes.Cut(text, []byte("\npackage "))
	switch {
	case path.Ext(file) == ".s":
		return 3
	case generatedGo.Match(head):
		return 2
	case strings.HasSuffix(file, "_test.go"):
		return 1
	}
	return 0
}

// room is a row of the budget, or what a folder has.
type room struct {
	folder string
	lines  [4]int
}

func parseBudget(t *testing.T) (rows []room) {
	t.Helper()
	lines := strings.Split(strings.TrimSpace(budget), "\n")
	for _, line := range lines[1:] { // below the heads of the columns
		r := room{}
		n := &r.lines
		if _, err := fmt.Sscan(line, &r.folder, &n[0], &n[1], &n[2], &n[3]); err != nil {
			t.Fatalf("%q: %v; want a folder, four numbers, and why they were raised", line, err)
		}
		rows = append(rows, r)
	}
	if !slices.IsSortedFunc(rows, func(a, b room) int { return strings.Compare(a.folder, b.folder) }) || rows[0].folder != "." {
		t.Fatal("the rows are not sorted by folder, or the first is not that of the root, which is a dot")
	}
	return rows
}

func TestBudget(t *testing.T) {
	rows := parseBudget(t)
	has := map[string]*room{}
	for _, r := range rows {
		has[r.folder] = &room{folder: r.folder}
	}
	for _, file := range testenv.Tracked(t, ".") {
		if ext := path.Ext(file); strings.Contains(file, "testdata/") || ext != ".go" && ext != ".s" {
			continue
		}
		text, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		folder := path.Dir(file)
		for has[folder] == nil {
			folder = path.Dir(folder)
		}
		has[folder].lines[kindOf(file, text)] += bytes.Count(text, []byte("\n"))
	}
	all := room{folder: "all"}
	for _, r := range rows {
		got := has[r.folder].lines
		if got == [4]int{} {
			t.Errorf("%s: it has no lines; delete the row", r.folder)
		}
		for i, kind := range kinds {
			all.lines[i] += got[i]
			if got[i] > r.lines[i] {
				t.Errorf("%s: %d lines of %s, the budget has %d: delete what the change replaces, or raise the number and say why in the row",
					r.folder, got[i], kind, r.lines[i])
			}
		}
		t.Logf("%-26s%9d", r.folder, got)
	}
	t.Logf("%-26s%9d of %v", all.folder, all.lines, kinds)
}

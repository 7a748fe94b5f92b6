package interp

import (
	"fmt"
	"go/parser"
	"go/token"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	"halfnote/kernel"
)

// magicHistory prints the sources of cells.
func (s *Session) magicHistory(c call) kernel.Result {
	which, numbers := strings.CutPrefix(c.args+" ", "-n ")
	cells, err := s.cells(which, c.in.Count)
	if err != nil {
		return s.wrong(c, "%%history %s: %v", c.args, err)
	}
	var b strings.Builder
	for _, n := range cells {
		if numbers {
			fmt.Fprintf(&b, "%d: ", n)
		}
		b.WriteString(s.cellText(n) + "\n")
	}
	c.out.Stdout().Write([]byte(b.String()))
	return kernel.Result{}
}

// cells returns the numbers of the cells in a list such as "2-4 7": 5- is a range up to the
// last one before the current cell, and an empty list stands for all, up to last.
func (s *Session) cells(list string, last int) ([]int, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	words := strings.Fields(list)
	if len(words) == 0 || len(s.history) == 0 {
		return slices.DeleteFunc(slices.Clone(s.history), func(n int) bool { return n > last }), nil
	}
	var cells []int
	for _, w := range words {
		from, to, isRange := strings.Cut(w, "-")
		first, err := strconv.Atoi(from)
		end := first
		if isRange && err == nil {
			if end, err = strconv.Atoi(to); to == "" {
				end, err = s.history[len(s.history)-1]-1, nil
			}
		}
		if err != nil {
			return nil, fmt.Errorf("want the numbers of cells, such as 2-4 7, got %s", w)
		}
		for n := first; n <= end; n++ {
			if _, ok := s.code[n]; !ok && n == first {
				return nil, fmt.Errorf("the source of In[%d] is not kept; there are In[%d] to In[%d]", n, s.history[0], s.history[len(s.history)-1])
			} else if ok {
				cells = append(cells, n)
			}
		}
	}
	return cells, nil
}

// cellText returns the source of a cell without line feeds at its end.
func (s *Session) cellText(n int) string {
	s.mu.Lock()
	defer s.mu.Unlock()
	return strings.TrimRight(s.code[n], "\n")
}

// magicRecall puts the sources of cells into a new cell.
func (s *Session) magicRecall(c call) kernel.Result {
	before := c.in.Count - 1
	cells, err := s.cells(c.args, before)
	switch {
	case err != nil: // not numbers: a text
		all, _ := s.cells("", before)
		cells = nil
		for _, n := range slices.Backward(all) {
			if text := s.cellText(n); strings.Contains(text, c.args) && !strings.HasPrefix(text, "%recall") {
				cells = []int{n}
				break
			}
		}
		if cells == nil {
			return s.wrong(c, "%%recall %s: no earlier cell contains this text, and it is not a list of cell numbers such as 2-4 7", c.args)
		}
	case c.args == "" && len(cells) == 0:
		return s.wrong(c, "%%recall: there is no earlier cell")
	case c.args == "":
		cells = cells[len(cells)-1:]
	}
	var texts []string
	for _, n := range cells {
		texts = append(texts, s.cellText(n))
	}
	return kernel.Result{Payload: []kernel.Payload{{Source: "set_next_input", Text: strings.Join(texts, "\n\n")}}}
}

// magicSave writes the sources of cells to a file that %run and %load read.
func (s *Session) magicSave(c call) kernel.Result {
	args, added := strings.CutPrefix(c.args, "-a ")
	words := strings.Fields(args)
	if len(words) == 0 || words[0] == "-a" {
		return s.wrong(c, "%%save: want a file name, and the numbers of cells if not all, such as %%save steps.go 2-4 7")
	}
	file := expandHome(words[0])
	if filepath.Ext(file) == "" {
		file += ".go"
	}
	cells, err := s.cells(strings.Join(words[1:], " "), c.in.Count-1)
	if err != nil {
		return s.wrong(c, "%%save %s: %v", c.args, err)
	}
	var texts []string
	for _, n := range cells {
		texts = append(texts, s.cellText(n))
	}
	text := strings.Join(texts, "\n\n")
	if strings.HasSuffix(file, ".go") && !added {
		text = savedHead + text
	}
	return s.writeFile(c, "%save", file, text, added)
}

// savedHead keeps the go command from reading a file of cells, which is not a Go file, in a
// folder with a package.
const savedHead = "//go:build ignore\n\n"

// magicRun runs the cells of a file as if they were in place of the magic. As in IPython,
// the values of their last expressions are not shown.
func (s *Session) magicRun(c call) kernel.Result {
	if c.args == "" {
		return s.wrong(c, "%%run: want the name of a notebook or of a Go file")
	}
	file := expandHome(strings.Trim(c.args, `"'`))
	cells, err := sourceCells(file)
	if err != nil {
		return s.wrong(c, "%%run %s: %v", c.args, err)
	}
	path, err := filepath.Abs(file)
	if err != nil {
		return s.wrong(c, "%%run %s: %v", c.args, err)
	}
	if slices.Contains(s.runs, path) {
		return s.wrong(c, "%%run %s: the file runs itself", c.args)
	}
	s.runs = append(s.runs, path)
	defer func() { s.runs = s.runs[:len(s.runs)-1] }()
	for i, code := range cells {
		in := kernel.Cell{Code: code, Silent: true}
		in.Count = s.number(in)
		s.remember(in.Count, code)
		if r := s.eval(c.ctx, in, c.out); r.Err != nil {
			where := file
			if strings.HasSuffix(file, ".ipynb") {
				where = fmt.Sprintf("%s, code cell %d", file, i+1)
			}
			r.Err.Traceback = append([]string{bold(where) + ":"}, r.Err.Traceback...)
			return kernel.Result{Err: r.Err}
		}
	}
	return kernel.Result{}
}

// sourceCells returns the cells of a notebook, or of a Go file: its text and, if it is a
// program, a call of main.
func sourceCells(file string) ([]string, error) {
	ext := filepath.Ext(file)
	if ext != ".ipynb" && ext != ".go" {
		return nil, fmt.Errorf("want a file that ends in .ipynb or .go")
	}
	data, err := os.ReadFile(file)
	if err != nil {
		return nil, err
	}
	if ext == ".ipynb" {
		return codeCells(data)
	}
	cells := []string{string(data)}
	if f, err := parser.ParseFile(token.NewFileSet(), file, data, parser.SkipObjectResolution); err == nil && f.Name.Name == "main" && declares(string(data), "main") {
		cells = append(cells, "main()")
	}
	return cells, nil
}

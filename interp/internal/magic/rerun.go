package magic

import (
	"fmt"
	"slices"
	"strconv"
	"strings"

	"halfnote/kernel/eval"
)

func init() {
	add(Magic{
		Name: "%rerun", Args: "[CELLS]", Run: runRerun,
		Help: "runs earlier cells again\n" +
			"CELLS is a list such as 2-4 7. Without it, it is the previous cell. ~1/2 is cell 2 of the kernel before this one, and ~1 all its cells that did not fail. " +
			"A cell that fails ends the run.",
	})
}

// source is a cell to run again.
type source struct{ label, code string }

// runRerun runs the sources of cells in place of the magic, and shows their values.
func runRerun(c *Call) eval.Result {
	cells, err := c.sources()
	switch {
	case err != nil:
		return c.wrong("%%rerun %s: %v", c.Args, err)
	case len(cells) == 0:
		return c.wrong("%%rerun: there is no earlier cell")
	}
	var last eval.Result
	for i, s := range cells {
		last = c.again(s)
		if last.Err != nil {
			return last
		}
		if i < len(cells)-1 && last.Value != nil {
			c.Out.Display(*last.Value)
		}
	}
	return last
}

// sources returns the cells that the arguments name.
func (c *Call) sources() (list []source, err error) {
	words := strings.Fields(c.Args)
	if len(words) == 0 {
		words = []string{""}
	}
	for _, word := range words {
		if strings.HasPrefix(word, "~") {
			cells, err := c.before(word)
			if err != nil {
				return nil, err
			}
			list = append(list, cells...)
			continue
		}
		numbers, err := c.History.Select(word, c.Cell.Count-1)
		if err != nil {
			return nil, err
		}
		if word == "" {
			numbers = numbers[max(len(numbers)-1, 0):]
		}
		for _, n := range numbers {
			list = append(list, source{fmt.Sprintf("In[%d]", n), c.History.Text(n)})
		}
	}
	return list, nil
}

// before returns the cells of an earlier kernel that a word names: "~1", "~1/2" or "~2/3-5".
func (c *Call) before(word string) (list []source, err error) {
	kept := c.Outputs()
	if kept == nil {
		return nil, fmt.Errorf("cells of earlier kernels are kept with the history, and this kernel has none; set HALFNOTE_HISTORY to the path of a file")
	}
	number, cells, some := strings.Cut(word[1:], "/")
	back, err := strconv.Atoi(number)
	if err != nil || back < 1 {
		return nil, fmt.Errorf("want ~1 for the kernel before this one, got %s", word)
	}
	first, last := 0, 0
	if some {
		from, to, isRange := strings.Cut(cells, "-")
		first, err = strconv.Atoi(from)
		if last = first; isRange && err == nil {
			last, err = strconv.Atoi(to)
		}
		if err != nil {
			return nil, fmt.Errorf("want the numbers of cells, such as ~1/3 or ~1/2-4, got %s", word)
		}
	}
	all, err := kept.Sources(back)
	if err != nil {
		return nil, err
	}
	for _, k := range all {
		repeats := slices.ContainsFunc(strings.Split(k.Source, "\n"), func(line string) bool { return strings.HasPrefix(strings.TrimSpace(line), "%rerun ~") })
		if some && k.Count >= first && k.Count <= last || !some && k.Failed == "" && !repeats {
			list = append(list, source{fmt.Sprintf("In[%d] of kernel ~%d", k.Count, back), strings.TrimRight(k.Source, "\n")})
		}
	}
	if len(list) == 0 {
		return nil, fmt.Errorf("no cell of this notebook's kernel ~%d is kept; %%output ~%d lists those with output", back, back)
	}
	return list, nil
}

// again runs the source of a cell.
func (c *Call) again(s source) eval.Result {
	if slices.Contains(c.running, s.label) {
		return c.wrong("%%rerun %s: %s runs itself", c.Args, s.label)
	}
	c.running = append(c.running, s.label)
	defer func() { c.running = c.running[:len(c.running)-1] }()
	in := eval.Cell{Code: s.code, Silent: true}
	in.Count = c.History.Begin(in.Code, 0, true)
	return c.Eval(c.Ctx, in, c.Out)
}

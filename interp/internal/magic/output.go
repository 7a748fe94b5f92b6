package magic

import (
	"fmt"
	"io"
	"strconv"
	"strings"
	"text/tabwriter"

	"halfnote/display"
	"halfnote/kernel/eval"
)

func init() {
	add(Magic{
		Name: "%output", Args: "[CELLS]", Run: runOutput,
		Help: "shows the output of earlier cells again, such as 3, 2-4 or ~1/3, or lists the cells that have output\n" +
			"~1/3 is cell 3 of the kernel before this one. The output is complete, with charts, also of a cell that ran while the browser was closed.",
	})
}

// runOutput shows the outputs of earlier cells again, or lists the cells that have some. "~1/3" is
// cell 3 of the kernel before this one, as in IPython's %history.
func runOutput(c *Call) eval.Result {
	kept := c.Outputs()
	if kept == nil {
		return c.wrong("%%output: outputs are kept with the history, and this kernel has none; set HALFNOTE_HISTORY to the path of a file")
	}
	words := strings.Fields(c.Args)
	if len(words) == 0 {
		words = []string{"~0"}
	}
	for _, w := range words {
		if err := c.showKept(kept, w); err != nil {
			return c.wrong("%%output %s: %v", c.Args, err)
		}
	}
	return eval.Result{}
}

// showKept shows what a word of %output asks for: "3", "2-4", "~1" or "~1/3".
func (c *Call) showKept(kept Outputs, word string) error {
	back, list, isOld := 0, word, strings.HasPrefix(word, "~")
	if isOld {
		number, cells, _ := strings.Cut(word[1:], "/")
		var err error
		if back, err = strconv.Atoi(number); err != nil || back < 0 {
			return fmt.Errorf("want ~1 for the kernel before this one, got %s", word)
		}
		list = cells
	}
	all, err := kept.Cells(back)
	if err != nil {
		return err
	}
	if list == "" {
		return listKept(c.Out.Stdout(), back, all)
	}
	from, to, isRange := strings.Cut(list, "-")
	first, err := strconv.Atoi(from)
	last := first
	if isRange && err == nil {
		last, err = strconv.Atoi(to)
	}
	if err != nil {
		return fmt.Errorf("want the numbers of cells, such as 3, 2-4 or ~1/3, got %s", word)
	}
	found := false
	for _, cell := range all {
		if cell.Count < first || cell.Count > last || back == 0 && cell.Count == c.Cell.Count {
			continue
		}
		found = true
		outputs, err := kept.Outputs(back, cell.Count)
		if err != nil {
			return err
		}
		showOutputs(c.Out, outputs)
	}
	if !found {
		return fmt.Errorf("no output of In[%s] is kept; %%output lists the cells that have output", list)
	}
	return nil
}

// listKept prints the cells with outputs of a kernel.
func listKept(w io.Writer, back int, cells []eval.KeptCell) error {
	prefix := ""
	if back > 0 {
		prefix = fmt.Sprintf("~%d/", back)
	}
	if len(cells) == 0 {
		if back == 0 {
			fmt.Fprintf(w, "Nothing to show since the kernel started; %%output ~1 lists the outputs of the kernel before it.\n")
		} else {
			fmt.Fprintf(w, "Nothing to show of a kernel ~%d; %%output ~%d lists the outputs of the one before it.\n", back, back+1)
		}
		return nil
	}
	t := tabwriter.NewWriter(w, 0, 0, 2, ' ', 0)
	for _, c := range cells {
		var parts []string
		for _, p := range []struct {
			n         int
			one, many string
		}{{c.Lines, "line", "lines"}, {c.Displays, "display", "displays"}} {
			if p.n == 1 {
				parts = append(parts, "1 "+p.one)
			} else if p.n > 1 {
				parts = append(parts, fmt.Sprint(p.n, " ", p.many))
			}
		}
		if c.Failed != "" {
			parts = append(parts, c.Failed)
		}
		took := "unfinished"
		if c.Took > 0 {
			took = display.Duration(c.Took)
		}
		source, _, _ := strings.Cut(strings.TrimSpace(c.Source), "\n")
		if r := []rune(source); len(r) > 60 {
			source = string(r[:59]) + "…"
		}
		fmt.Fprintf(t, "%%output %s%d\t%s\t%s\t%s\n", prefix, c.Count, took, strings.Join(parts, ", "), source)
	}
	return t.Flush()
}

// showOutputs writes kept outputs as if the cell had produced them.
func showOutputs(out eval.Output, list []eval.KeptOutput) {
	for _, o := range list {
		switch {
		case o.Stream == "stderr":
			io.WriteString(out.Stderr(), o.Text)
		case o.Stream != "":
			io.WriteString(out.Stdout(), o.Text)
		case o.Err != nil:
			io.WriteString(out.Stderr(), strings.Join(o.Err.Traceback, "\n")+"\n")
		default:
			out.Display(o.Bundle)
		}
	}
}

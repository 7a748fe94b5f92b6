package magic

import (
	"context"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"

	"halfnote/display"
	"halfnote/internal/text"
	"halfnote/interp/internal/live"
	"halfnote/interp/internal/syntax"
	"halfnote/kernel/eval"
)

func init() {
	add(Magic{
		Name: "%goroutines", Run: runGoroutines,
		Help: "lists the goroutines that cells have left running\n" +
			"It shows their cell, what they do, and the line where they wait or compute. If that is not known, it is the line that started them.",
	})
	add(Magic{
		Name: "%stop", Args: "[CELL…]", Run: runStop,
		Help: "ends the goroutines that cells have left running\n" +
			"CELL is In[3] or 3. Without one, the goroutines of all cells end, as after a second interrupt within two seconds. Deferred functions run. " +
			"Callbacks that the cells have left, such as those of time.AfterFunc, no longer run.",
	})
}

// runGoroutines lists goroutines, those of one cell that do the same in one row.
func runGoroutines(c *Call) eval.Result {
	if c.Args != "" {
		return c.wrong("%%goroutines %s: want nothing after the magic; %%stop %s ends the goroutines of a cell", c.Args, c.Args)
	}
	type row struct{ cell, does, place string }
	var rows []row
	count := map[row]int{}
	for _, g := range c.Live.Goroutines() {
		r := row{of(g.Cell), g.Does, c.LineOf(g.At)}
		if g.Inside != "" {
			r.does = fmt.Sprintf("in %s (%s)", shortFunction(g.Inside), g.Does)
		}
		if started := c.LineOf(g.Started); r.place == "" && started != "" {
			r.place = "started at " + started
		}
		if count[r]++; count[r] == 1 {
			rows = append(rows, r)
		}
	}
	if len(rows) == 0 {
		return shown(noGoroutines)
	}
	var cells [][]any
	for _, r := range rows {
		cells = append(cells, []any{r.cell, count[r], r.does, r.place})
	}
	return result(display.Table([]string{"cell", "goroutines", "they", "where"}, cells))
}

const noGoroutines = "no cell has left a goroutine running"

// of names the cell with a number; callbacks of front ends have none.
func of(cell int) string {
	if cell == 0 {
		return "a callback"
	}
	return syntax.Label(cell)
}

// stopWithin is how long %stop waits for goroutines to end.
const stopWithin = 2 * time.Second

// runStop stops the goroutines of cells, and says which have not ended.
func runStop(c *Call) eval.Result {
	var cells []int
	for _, w := range strings.Fields(strings.ReplaceAll(c.Args, ",", " ")) {
		n, err := strconv.Atoi(strings.TrimSuffix(strings.TrimPrefix(w, "In["), "]"))
		if err != nil || n <= 0 {
			return c.wrong("%%stop %s: want cells such as In[3] or 3, got %s", c.Args, w)
		}
		cells = append(cells, n)
	}
	ctx, cancel := context.WithTimeout(c.Ctx, stopWithin)
	defer cancel()
	before, after := c.Live.StopCells(ctx, func(n int) bool { return len(cells) == 0 && n != 0 || slices.Contains(cells, n) })
	if len(cells) == 0 {
		for n := range before {
			cells = append(cells, n)
		}
		slices.Sort(cells)
	}
	if len(cells) == 0 {
		return shown(noGoroutines)
	}
	var lines []string
	for _, n := range cells {
		switch {
		case before[n] == 0:
			lines = append(lines, fmt.Sprintf("%s has no goroutine that runs", of(n)))
		case before[n] > after[n]:
			lines = append(lines, fmt.Sprintf("stopped %s of %s", text.Count(before[n]-after[n], "goroutine"), of(n)))
		}
	}
	return shown(strings.Join(append(lines, c.held(after)...), "\n"))
}

// held says where the goroutines are that have not stopped.
func (c *Call) held(cells map[int]int) (lines []string) {
	if len(cells) == 0 {
		return nil
	}
	for _, g := range c.Live.Goroutines() {
		if cells[g.Cell] > 0 {
			lines = append(lines, still(g))
		}
	}
	return slices.Compact(lines)
}

// still says why a goroutine has not stopped.
func still(g live.Goroutine) string {
	if g.Inside != "" {
		return fmt.Sprintf("a goroutine of %s is in %s (%s), which cannot be stopped: it ends when that returns", of(g.Cell), shortFunction(g.Inside), g.Does)
	}
	return fmt.Sprintf("a goroutine of %s %s: it runs its deferred functions", of(g.Cell), g.Does)
}

package magic

import (
	"fmt"
	"math"
	"strings"
	"time"

	"halfnote/internal/text"
	"halfnote/interp/internal/syntax"
)

// laid writes items at their places in the cell.
func laid(items []syntax.Item) string {
	var b strings.Builder
	line, col := 1, 1
	for _, it := range items {
		if it.Line > line {
			b.WriteString(strings.Repeat("\n", it.Line-line))
			line, col = it.Line, 1
		}
		if col > 1 {
			b.WriteString(";")
			col++
		}
		b.WriteString(strings.Repeat(" ", max(0, it.Col-col)))
		b.WriteString(it.Text)
		line += strings.Count(it.Text, "\n")
		if i := strings.LastIndexByte(it.Text, '\n'); i >= 0 {
			col = len(it.Text) - i
		} else {
			col = it.Col + len(it.Text)
		}
	}
	return b.String()
}

// spread formats the time per iteration as IPython's %timeit does.
func spread(took []time.Duration, loops int) string {
	mean, deviation := 0.0, 0.0
	best, worst := math.Inf(1), 0.0
	var each []float64 // seconds
	for _, d := range took {
		t := d.Seconds() / float64(loops)
		each = append(each, t)
		mean += t / float64(len(took))
		best, worst = min(best, t), max(worst, t)
	}
	for _, t := range each {
		deviation += (t - mean) * (t - mean) / float64(len(each))
	}
	text := fmt.Sprintf("%s ± %s per loop (mean ± std. dev. of %s, %s each), best %s\n", seconds(mean), seconds(math.Sqrt(deviation)),
		text.Count(len(took), "run"), text.Count(loops, "loop"), seconds(best))
	if worst > 4*best && worst > 1e-6 {
		text = fmt.Sprintf("the slowest run took %.2f times as long as the fastest\n", worst/best) + text
	}
	return text
}

func seconds(t float64) string {
	for _, u := range []struct {
		name string
		size float64
	}{{"s", 1}, {"ms", 1e-3}, {"µs", 1e-6}} {
		if t >= u.size {
			return fmt.Sprintf("%.3g %s", t/u.size, u.name)
		}
	}
	return fmt.Sprintf("%.3g ns", t*1e9)
}

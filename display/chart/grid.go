package chart

import (
	"fmt"
	"slices"
	"strings"

	"gonum.org/v1/plot/vg"
	"gonum.org/v1/plot/vg/draw"
)

// Grid returns several figures as one, with that many next to each other, at most 3:
//
//	chart.Grid(2, chart.Plot(losses), chart.Hist(net.Weight), chart.Imshow(net.Weight))
//
// The figures of [Plot], [Step], [Scatter], [Hist], [Imshow], [Lines] and [Loss] share a row; others need the
// whole width. All are drawn in the grid's theme. The interactive form has one column, so that it fits every page. It is
// matplotlib.pyplot.subplots.
func Grid(columns int, figures ...*Figure) *Figure {
	g := grid2{}
	var sentences []string
	columns = min(max(columns, 1), 3)
	width := (Width - 2*margin - gridGap*vg.Length(columns-1)) / vg.Length(columns)
	open := false // whether the last row has room
	for _, f := range figures {
		if f == nil {
			continue
		}
		sentences = append(sentences, f.String())
		g.figures = append(g.figures, f)
		if !f.narrow {
			g.rows, open = append(g.rows, []panel{{f, Width - 2*margin}}), false
			continue
		}
		if !open {
			g.rows = append(g.rows, nil)
		}
		last := &g.rows[len(g.rows)-1]
		*last = append(*last, panel{f, width})
		open = len(*last) < columns
	}
	if len(g.figures) == 0 {
		return blank(fmt.Sprintf(words.plotNone, "Grid"))
	}
	height := vg.Length(-gridGap)
	for _, row := range g.rows {
		height += rowHeight(row) + gridGap
	}
	f := &Figure{
		theme: Light, grid: &g, sentence: counted(len(g.figures), words.gridOne, words.gridAll) + ": " + strings.Join(sentences, "; "), untitled: true,
		height: int(height), body: g,
		data: func() ([]string, [][]any) {
			return g.join((*Figure).all)
		},
	}
	f.head, f.rows = g.join(func(f *Figure) ([]string, [][]any) { return f.head, f.rows })
	return f
}

// gridGap is the gap between figures.
const gridGap = 22

type grid2 struct {
	figures []*Figure
	rows    [][]panel
}

// panel is a figure in a grid and its width.
type panel struct {
	*Figure
	width vg.Length
}

func (p panel) titleLines(t Theme) []string {
	if p.title() == nil {
		return nil
	}
	return wrap(t.style(labelSize+1, t.Text), p.titleText(), p.width)
}

// drawing returns the height of the figure below its title: a narrow figure is not much higher than wide.
func (p panel) drawing() vg.Length {
	if p.width < Width/2 {
		return min(vg.Length(p.height), max(p.width*.8, 150))
	}
	return vg.Length(p.height)
}

const panelLine = (labelSize + 1) * 1.35 // height of a line of a panel's title

// titleHeight returns the height of the highest title in a row.
func titleHeight(row []panel) (h vg.Length) {
	for _, p := range row {
		if n := len(p.titleLines(Light)); n > 0 {
			h = max(h, vg.Length(n)*panelLine+6)
		}
	}
	return h
}

func rowHeight(row []panel) (h vg.Length) {
	for _, p := range row {
		h = max(h, p.drawing())
	}
	return h + titleHeight(row)
}

func (g grid2) drawOn(t Theme, c draw.Canvas) {
	y := c.Max.Y
	for _, row := range g.rows {
		x, below := c.Min.X, y-titleHeight(row)
		for _, p := range row {
			line := y
			for _, s := range p.titleLines(t) {
				c.FillText(t.style(labelSize+1, t.Text), vg.Point{X: x, Y: line - labelSize - 1}, s)
				line -= panelLine
			}
			p.draw(t, draw.Crop(c, x-c.Min.X, x+p.width-c.Max.X, below-p.drawing()-c.Min.Y, below-c.Max.Y))
			x += p.width + gridGap
		}
		y -= rowHeight(row) + gridGap
	}
}

// join returns the tables of the figures as one, with the number of the figure in the first column, and
// columns of the same name in one.
func (g grid2) join(table func(*Figure) ([]string, [][]any)) (head []string, rows [][]any) {
	head = []string{words.headChart}
	for i, f := range g.figures {
		names, list := table(f)
		at := make([]int, len(names))
		for k, name := range names {
			if at[k] = slices.Index(head[1:], name) + 1; at[k] == 0 {
				at[k], head = len(head), append(head, name)
			}
		}
		for _, r := range list {
			row := []any{i + 1}
			for k, v := range r {
				if k >= len(at) {
					break
				}
				for len(row) <= at[k] {
					row = append(row, "")
				}
				row[at[k]] = v
			}
			rows = append(rows, row)
		}
	}
	for i, r := range rows {
		for len(r) < len(head) {
			r = append(r, "")
		}
		rows[i] = r
	}
	return head, rows
}

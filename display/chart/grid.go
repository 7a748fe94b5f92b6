package chart

import (
	"fmt"
	"math"
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
	g.columns = columns
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
	columns int
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
	height := vg.Length(p.Figure.drawing())
	if p.width < Width/2 {
		return min(height, max(p.width*.8, 150))
	}
	return height
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

// ShareX returns a grid whose figures have the same limits on their x axes: the lowest and the highest of all. Figures of rows of
// names, and those whose axis has other limits given by XLim, keep theirs. It leaves other figures as they are. It is
// matplotlib.pyplot.subplots with sharex.
func (f *Figure) ShareX() *Figure {
	return f.share(func(v view) (scale, span) { x, _ := v.limits(); return v.x, x }, func(g *Figure, s span) *Figure { return g.XLim(s.lo, s.hi) })
}

// ShareY returns a grid whose figures have the same limits on their y axes, as [Figure.ShareX] does for the x axes.
func (f *Figure) ShareY() *Figure {
	return f.share(func(v view) (scale, span) { _, y := v.limits(); return v.y, y }, func(g *Figure, s span) *Figure { return g.YLim(s.lo, s.hi) })
}

// share returns the grid with the same limits of one axis, where the axes have the same kind of numbers.
func (f *Figure) share(axis func(view) (scale, span), set func(*Figure, span) *Figure) *Figure {
	if f.grid == nil {
		return f
	}
	all := map[int]span{}
	shares := func(g *Figure) (base int, at span, ok bool) {
		switch g.body.(type) {
		case view, fitted:
		default:
			return 0, span{}, false
		}
		v := g.viewFor(room{points: mostPoints})
		s, at := axis(v)
		return s.base, at, !s.down() && !s.bare && !v.rigid
	}
	for _, g := range f.grid.figures {
		if base, at, ok := shares(g); ok {
			s, found := all[base]
			if !found {
				s = at
			}
			s.hold(at.lo)
			s.hold(at.hi)
			all[base] = s
		}
	}
	figures := slices.Clone(f.grid.figures)
	for i, g := range figures {
		if base, _, ok := shares(g); ok {
			s, to := all[base], scale{base: base}
			figures[i] = set(g, span{to.value(s.lo), min(to.value(s.hi), math.MaxFloat64)})
		}
	}
	made := Grid(f.grid.columns, figures...)
	made.theme, made.chosen, made.pinned, made.auto, made.heading, made.interactive, made.formChosen = f.theme, f.chosen, f.pinned, f.auto, f.heading, f.interactive, f.formChosen
	return made
}

package chart

import (
	"fmt"
	"slices"
	"strings"

	"gonum.org/v1/plot/vg"
	"gonum.org/v1/plot/vg/draw"
)

// opSheet lays operations out in two columns: backward on the right, everything else on the left.
// Longer runs flow through both columns, as text does in a newspaper.
type opSheet struct {
	columns [2][]opLine
	lanes   []dtype
	single  bool     // one column of double width
	why     []string // lines of the legend of the reasons
}

// opLine is a row of a column: an operation, or the name of a phase.
type opLine struct {
	op    folded
	title string // name of a phase, or the number of omitted operations
}

// Dimensions of a sheet.
const (
	opRow    = 17 // height of a row
	opGap    = 24 // gap between the columns
	opColumn = (Width - 2*margin - opGap) / 2
	opLonger = 30 // maximum rows of a column, one phase per column
	opMost   = 45 // maximum rows of a column
	boxWidth = 22 // width of an operation in its lane
)

func newOpSheet(ops []OpDType) opSheet {
	var s opSheet
	rows := fold(ops)
	var phases []string
	for _, op := range rows {
		if !slices.Contains(phases, op.Phase) {
			phases = append(phases, op.Phase)
		}
		if d, _ := dtypeOf(op.DType); !slices.ContainsFunc(s.lanes, func(l dtype) bool { return l.name == d.name }) {
			s.lanes = append(s.lanes, d)
		}
	}
	slices.SortStableFunc(s.lanes, func(a, b dtype) int {
		_, i := dtypeOf(a.name)
		_, j := dtypeOf(b.name)
		return i - j
	})
	var left, right []opLine
	for _, phase := range phases {
		lines := []opLine{{title: phase}}
		for _, op := range rows {
			if op.Phase == phase {
				lines = append(lines, opLine{op: op})
			}
		}
		if phase == "backward" {
			right = append(right, lines...)
		} else {
			left = append(left, lines...)
		}
	}
	s.why = whyLines(rows)
	if len(s.lanes) > 3 { // too narrow for two columns
		s.single = true
		s.columns[0] = cutLines(append(left, right...), opMost)
	} else if len(left) > 0 && len(right) > 0 && max(len(left), len(right)) <= opLonger || len(right) == 0 && len(left) <= 12 {
		s.columns = [2][]opLine{left, right}
	} else {
		s.flow(append(left, right...))
	}
	return s
}

const whyRow = 13 // height of a line of the legend of the reasons

// whyHeight returns the height of the legend of the reasons.
func (s opSheet) whyHeight() int {
	if len(s.why) == 0 {
		return 0
	}
	return whyRow*len(s.why) + 6
}

// whyLines explains the reasons that the operations have.
func whyLines(ops []folded) (lines []string) {
	small := Light.style(smallSize, Light.Neutral)
	has := func(f func(why string) bool) bool {
		return slices.ContainsFunc(ops, func(op folded) bool { return f(op.Why) })
	}
	for _, r := range []struct{ why, meaning string }{
		{"lower", words.whyLower}, {"fp32", words.whyFP32}, {"unlisted", words.whyUnlisted}, {"promote", words.whyPromote},
	} {
		if has(func(why string) bool { return why == r.why }) {
			lines = append(lines, wrap(small, fmt.Sprintf(words.whyIs, r.why, r.meaning), Width-2*margin)...)
		}
	}
	if has(func(why string) bool { return strings.HasPrefix(why, "of ") }) {
		lines = append(lines, words.whyOf)
	}
	return lines
}

// flow breaks lines into two columns of the same length and drops lines that do not fit.
func (s *opSheet) flow(lines []opLine) {
	lines = cutLines(lines, 2*opMost-1)
	half := (len(lines) + 2) / 2
	if half < len(lines) && lines[half-1].title != "" {
		half-- // a title must not stand at the foot of a column
	}
	s.columns[0], s.columns[1] = lines[:half], lines[half:]
	if len(lines) > half && lines[half].title == "" {
		for i := half; i >= 0; i-- {
			if t := lines[i].title; t != "" {
				s.columns[1] = append([]opLine{{title: fmt.Sprintf(words.continued, t)}}, s.columns[1]...)
				break
			}
		}
	}
}

// cutLines returns at most most lines. The last line gives the number of omitted lines.
func cutLines(lines []opLine, most int) []opLine {
	n := len(lines) - most
	if n <= 0 {
		return lines
	}
	return append(slices.Clip(lines[:most-1]), opLine{title: fmt.Sprintf(words.more, n+1)})
}

func (s opSheet) width() vg.Length {
	if s.single {
		return Width - 2*margin
	}
	return opColumn
}

func (s opSheet) height() int {
	return keyHeight + opRow*(1+max(len(s.columns[0]), len(s.columns[1]))) + 4 + s.whyHeight()
}

func (s opSheet) draw(t Theme, c draw.Canvas) {
	var k []key
	for _, e := range []struct {
		key
		shown func(opLine) bool
	}{
		{key{diamond, t.Text, words.legendCast}, func(l opLine) bool { return l.op.Casts > 0 }},
		{key{hollowDiamond, t.Text, words.legendCached}, func(l opLine) bool { return l.op.Cached > 0 }},
	} {
		if slices.ContainsFunc(s.columns[0], e.shown) || slices.ContainsFunc(s.columns[1], e.shown) {
			k = append(k, e.key)
		}
	}
	small := t.style(smallSize, t.Neutral)
	for i, line := range s.why {
		write(&c, small, vg.Point{X: c.Min.X, Y: c.Min.Y + whyRow*(vg.Length(len(s.why)-i)-.5)}, line)
	}
	c = draw.Crop(keys(t, c, "", k), 0, 0, vg.Length(s.whyHeight()), 0)
	for i, lines := range s.columns {
		if len(lines) > 0 {
			x := c.Min.X + vg.Length(i)*(opColumn+opGap)
			s.column(t, draw.Crop(c, x-c.Min.X, x+s.width()-c.Max.X, 0, 0), lines)
		}
	}
}

// column draws rows from the top: name and module, the lanes with a box in one of them, and the
// reason.
func (s opSheet) column(t Theme, c draw.Canvas, lines []opLine) {
	name, small := t.style(labelSize, t.Text), t.style(smallSize, t.Neutral)
	var names, whys vg.Length
	for _, l := range lines {
		if l.title == "" {
			names = max(names, name.Width(l.name())+5+small.Width(l.op.Module))
			whys = max(whys, small.Width(l.op.Why))
		}
	}
	const laneMin, laneMax = 46, 72
	marksWidth := s.marksWidth(t, lines)
	n := vg.Length(len(s.lanes))
	whys = min(whys+8, s.width()/4)
	names = max(min(names+8, s.width()-whys-n*laneMin-marksWidth/2), min(names+8, 80))
	lane := min((s.width()-whys-names)/n, laneMax)
	first := lane / 2
	if first < marksWidth { // marks of the first lane would touch the names
		first = marksWidth
		lane = min((s.width()-whys-names-first)/(n-.5), laneMax)
	}
	at := func(i int) vg.Length { return c.Min.X + names + first + lane*vg.Length(i) }

	y := c.Max.Y - opRow/2
	head := small
	head.XAlign = draw.XCenter
	for i, d := range s.lanes {
		head.Color = d.color(t)
		write(&c, head, vg.Point{X: at(i), Y: y}, fit(head, d.name, lane-2))
		c.StrokeLine2(draw.LineStyle{Color: t.Grid, Width: 1}, at(i), y-opRow/2, at(i), y-opRow*(vg.Length(len(lines))+.5))
	}
	letter := t.style(smallSize, t.Background)
	letter.XAlign = draw.XCenter
	var before *vg.Point
	for _, l := range lines {
		y -= opRow
		if l.title != "" {
			title := small
			title.Color = t.Neutral
			w := small.Width(l.title)
			c.FillPolygon(t.Background, rectangle(c.Min.X, y-opRow/2, c.Max.X, y+opRow/2))
			write(&c, title, vg.Point{X: c.Min.X, Y: y}, l.title)
			c.StrokeLine2(draw.LineStyle{Color: t.Grid, Width: 1}, c.Min.X+w+6, y-1, c.Max.X, y-1)
			before = nil
			continue
		}
		d, _ := dtypeOf(l.op.DType)
		here := vg.Point{X: at(slices.IndexFunc(s.lanes, func(x dtype) bool { return x.name == d.name })), Y: y}
		if before != nil {
			c.StrokeLines(draw.LineStyle{Color: t.Neutral, Width: 1}, []vg.Point{
				{X: before.X, Y: before.Y - 6}, {X: before.X, Y: y + opRow/2.}, {X: here.X, Y: y + opRow/2.}, {X: here.X, Y: here.Y + 6}})
		}
		before = &here
		write(&c, name, vg.Point{X: c.Min.X, Y: y}, fit(name, l.name(), names-8))
		if rest := names - 8 - name.Width(l.name()) - 5; rest > 12 && l.op.Module != "" {
			write(&c, small, vg.Point{X: c.Min.X + name.Width(l.name()) + 5, Y: y}, fit(small, l.op.Module, rest))
		}
		c.FillPolygon(d.color(t), rectangle(here.X-boxWidth/2, y-6, here.X+boxWidth/2, y+6))
		write(&c, letter, here, d.letter)
		s.casts(t, &c, l.op, d, here)
		write(&c, small, vg.Point{X: at(len(s.lanes)) - lane/2 + 8, Y: y}, fit(small, l.op.Why, whys-8))
	}
}

// marksWidth returns how far the marks of the first lane extend to the left.
func (s opSheet) marksWidth(t Theme, lines []opLine) (w vg.Length) {
	count := t.style(smallSize, t.Text)
	for _, l := range lines {
		if l.op.DType != s.lanes[0].name {
			continue
		}
		n := vg.Length(min(l.op.Casts+l.op.Cached, 3))
		if l.op.Casts+l.op.Cached > 3 {
			n = 2 + count.Width(fmt.Sprint(l.op.Casts, l.op.Cached))/8
		}
		w = max(w, 8*n)
	}
	return w + boxWidth/2 + 8
}

// casts draws one diamond per cast to the left of an operation's box, or one diamond and a count
// if there are many.
func (s opSheet) casts(t Theme, c *draw.Canvas, op folded, d dtype, at vg.Point) {
	count := t.style(smallSize, d.color(t))
	count.XAlign = draw.XRight
	at.X -= boxWidth/2 + 6
	for _, k := range []struct {
		n    int
		mark shape
	}{{op.Casts, diamond}, {op.Cached, hollowDiamond}} {
		marks := k.n
		if op.Casts+op.Cached > 3 {
			marks = min(k.n, 1)
		}
		for range marks {
			k.mark(c, at, 4, d.color(t))
			at.X -= 8
		}
		if marks < k.n {
			txt := fmt.Sprint(k.n)
			write(c, count, vg.Point{X: at.X + 3, Y: at.Y}, txt)
			at.X -= count.Width(txt) + 2
		}
	}
}

func (l opLine) name() string {
	if l.op.times > 1 {
		return fmt.Sprintf("%s ×%d", l.op.Name, l.op.times)
	}
	return l.op.Name
}

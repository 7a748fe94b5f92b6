package chart

import (
	"fmt"
	"slices"
	"strings"

	"gonum.org/v1/plot/vg"
	"gonum.org/v1/plot/vg/draw"
)

// opSheet is the operations of a step, phase by phase. Its picture has two columns: backward on the right, everything else
// on the left. Longer runs flow through both columns, as text does in a newspaper. Its interactive form has one column.
type opSheet struct {
	lines   []opLine // of the interactive form
	all     int      // number of operations
	lanes   []dtype
	columns [2][]opLine // of the picture
	single  bool        // one column of double width
	why     []string    // lines of the legend of the reasons
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
	opLonger = 30  // maximum rows of a column, one phase per column
	opMost   = 45  // maximum rows of a column
	opTwin   = 300 // maximum rows of the interactive form
	boxWidth = 22  // width of an operation in its lane
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
	s.all = len(rows)
	for _, phase := range phases {
		lines := []opLine{{title: strings.ToUpper(phase)}}
		for _, op := range rows {
			if op.Phase == phase {
				lines = append(lines, opLine{op: op})
			}
		}
		s.lines = append(s.lines, lines...)
		if phase == "backward" {
			right = append(right, lines...)
		} else {
			left = append(left, lines...)
		}
	}
	s.why = whyLines(rows)
	s.lines = cutLines(s.lines, opTwin)
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

// signsOf returns the entries of the legend for the casts of some lines.
func signsOf(lines []opLine) (signs []kind) {
	if slices.ContainsFunc(lines, func(l opLine) bool { return l.op.Casts > 0 }) {
		signs = append(signs, kind{name: words.legendCast, symbol: diamond, color: textInk})
	}
	if slices.ContainsFunc(lines, func(l opLine) bool { return l.op.Cached > 0 }) {
		signs = append(signs, kind{name: words.legendCached, symbol: hollowDiamond, color: textInk})
	}
	return signs
}

// drawOn draws the picture: the columns below the legend, and the meaning of the reasons.
func (s opSheet) drawOn(t Theme, c draw.Canvas) {
	legend := view{signs: signsOf(append(slices.Clone(s.columns[0]), s.columns[1]...))}
	small := t.style(smallSize, t.Neutral)
	for i, line := range s.why {
		write(&c, small, vg.Point{X: c.Min.X, Y: c.Min.Y + whyRow*(vg.Length(len(s.why)-i)-.5)}, line)
	}
	c = draw.Crop(keys(t, c, "", legend.entries()), 0, 0, vg.Length(s.whyHeight()), 0)
	for i, lines := range s.columns {
		if len(lines) > 0 {
			x := c.Min.X + vg.Length(i)*(opColumn+opGap)
			below := c.Max.Y - opRow*vg.Length(len(lines)+1)
			v, spare := s.view(lines, s.width())
			v.right += spare
			v.drawOn(t, draw.Crop(c, x-c.Min.X, x+s.width()-c.Max.X, below-c.Min.Y, 0))
		}
	}
}

// spec returns the interactive form.
func (s opSheet) spec(int) spec {
	v, _ := s.view(s.lines, Width-2*margin)
	for _, line := range s.why {
		v.x.notes = append(v.x.notes, wrap(Light.style(smallSize, Light.Text), line, phoneWidth)...)
	}
	v.signs, v.least, v.points = signsOf(s.lines), 230+50*len(s.lanes), s.all
	return v.spec(mostPoints)
}

// view returns lines in one column of some width: names, a lane for each dtype with a box in one of them for each
// operation, and the reasons. A path joins the boxes. spare is the width that the lanes leave.
func (s opSheet) view(lines []opLine, width vg.Length) (v view, spare vg.Length) {
	name, small := Light.style(labelSize, Light.Text), Light.style(smallSize, Light.Text)
	lanes := float64(len(s.lanes))
	v = view{x: scale{bare: true}, y: scale{lo: -1.5, names: []string{}}, height: opRow * (len(lines) + 1), named: true,
		facts: []fact{{"op", words.headOp}, {"module", words.headModule}, {"phase", words.headPhase}, {"times", words.headTimes}, {"kind", words.headDType}, {"casts", words.headCasts}, {"cached", words.headCached}, {"why", words.headWhy}}}
	marks := layer{mark: texts{align: -1, gap: boxWidth/2 + 4}, small: true}
	boxes := layer{mark: points{width: boxWidth / 2, symbol: box, inside: true}, small: true}
	whys := layer{mark: texts{align: 1, side: rightOf}, small: true}
	grid, path, heads := layer{mark: rules{width: 1}}, layer{mark: rules{width: 1}}, layer{mark: texts{}, small: true}
	var before vg.Length         // room for the marks of the first lane
	reasons := map[string]bool{} // few, and measured once
	casts := map[string]bool{}
	for _, l := range lines {
		v.y.widest = max(v.y.widest, name.Width(l.name()))
		reasons[l.op.Why] = true
		if l.title == "" && l.op.DType == s.lanes[0].name {
			casts[castMarks(l.op.OpDType)] = true
		}
	}
	for why := range reasons {
		v.right = max(v.right, small.Width(why))
	}
	for marks := range casts {
		before = max(before, small.Width(marks))
	}
	names := v.y.widest
	v.right = min(v.right+asideGap, width/4)
	fitting := map[string]string{}
	for why := range reasons {
		fitting[why] = fit(small, printable(why), v.right-asideGap)
	}
	const most = 76 // width of a lane; the least is that of its name
	least := vg.Length(2 * boxWidth)
	for _, d := range s.lanes {
		least = max(least, small.Width(d.name)+4)
	}
	before += boxWidth/2 + 8
	v.y.most = max(min(names, width-v.right-before-vg.Length(lanes-.5)*least), min(names, 80))
	lane := min((width-v.right-v.y.most-10-before)/vg.Length(lanes-.5), most)
	v.x.lo, v.x.hi = -float64(before/lane), lanes-.5
	spare = max(0, width-v.right-v.y.most-10-before-lane*vg.Length(lanes-.5))
	at := func(d string) int { return slices.IndexFunc(s.lanes, func(l dtype) bool { return l.name == d }) }
	bottom := float64(len(lines)) - .5
	for i, d := range s.lanes {
		v.kinds = append(v.kinds, kind{name: d.name, color: d.color, symbol: box})
		grid.rows = append(grid.rows, row{x: float64(i), x2: float64(i), y: -.5, y2: bottom, color: gridInk})
		heads.rows = append(heads.rows, row{x: float64(i), y: -1, kind: i, text: fit(small, printable(d.name), lane-2)})
	}
	last := -1.
	for i, l := range lines {
		y := float64(i)
		if l.title != "" {
			v.y.names = append(v.y.names, l.title)
			grid.rows = append(grid.rows, row{x: v.x.lo, x2: v.x.hi, y: y, y2: y, color: gridInk})
			last = -1
			continue
		}
		v.y.names = append(v.y.names, l.name())
		k := at(l.op.DType)
		x := float64(k)
		if last >= 0 {
			link := func(x, y, x2, y2 float64) {
				path.rows = append(path.rows, row{x: x, y: y, x2: x2, y2: y2, color: neutral})
			}
			link(last, y-1+.35, last, y-.5)
			if last != x {
				link(last, y-.5, x, y-.5)
			}
			link(x, y-.5, x, y-.35)
		}
		last = x
		boxes.rows = append(boxes.rows, row{x: x, y: y, kind: k, text: s.lanes[k].letter, facts: []any{l.op.Name, l.op.Module, l.op.Phase, l.op.times, l.op.DType, l.op.Casts, l.op.Cached, l.op.Why}})
		if m := castMarks(l.op.OpDType); m != "" {
			marks.rows = append(marks.rows, row{x: x, y: y, kind: k, text: m})
		}
		if l.op.Why != "" {
			whys.rows = append(whys.rows, row{x: v.x.hi, y: y, color: neutral, text: fitting[l.op.Why]})
		}
	}
	v.layers = []layer{grid, path, boxes, heads, marks, whys}
	return v, spare
}

// name returns the operation, how often it ran in a row, and its module.
func (l opLine) name() string {
	text := l.op.Name
	if l.title != "" {
		return l.title
	}
	if l.op.times > 1 {
		text = fmt.Sprintf("%s ×%d", text, l.op.times)
	}
	return strings.TrimSpace(text + "  " + l.op.Module)
}

// castMarks returns a diamond for each cast of an operation, hollow if it came from the cache, or
// numbers of them if there are many.
func castMarks(op OpDType) string {
	casts, cached := max(op.Casts, 0), max(op.Cached, 0)
	if casts > 3 || cached > 3 || casts+cached > 3 {
		text := ""
		if casts > 0 {
			text = fmt.Sprint(casts, "◆ ")
		}
		if cached > 0 {
			text += fmt.Sprint(cached, "◇")
		}
		return strings.TrimSpace(text)
	}
	return strings.Repeat("◆", casts) + strings.Repeat("◇", cached)
}

package trace

import (
	"cmp"
	"fmt"
	"html"
	"slices"
	"strings"

	"halfnote/display"
)

// Summary holds totals of a recording's operations by a property, longest first, or steps in
// order. As a cell's value it is shown as a table.
type Summary struct {
	By    string
	Rows  []Row
	Width int // number of steps in a row, 1 unless there are more than some hundreds
}

// Row is a row of a summary.
type Row struct {
	Name string // name of the operation, the module, …
	Total
}

// properties lists the properties that By accepts.
var properties = map[string]func(key) string{
	"op":     func(k key) string { return k.name },
	"module": func(k key) string { return k.module },
	"dtype":  func(k key) string { return k.dtype.String() },
	"phase":  func(k key) string { return k.phase },
	"source": func(k key) string { return k.source },
	"step":   nil,
}

// By returns totals of all operations, including those that [Recorder.Ops] does not hold, by
// "op", "module", "dtype", "phase", "source" (the line of the cell) or "step". It panics for
// any other property.
func (r *Recorder) By(property string) Summary {
	of, ok := properties[property]
	if !ok {
		panic(fmt.Errorf(`trace: by: %q; want "op", "module", "dtype", "phase", "source" or "step"`, property))
	}
	defer r.read()()
	s := Summary{By: property, Width: max(r.sums.stride, 1)}
	if of == nil {
		for i, t := range r.sums.steps {
			if t.Times > 0 {
				s.Rows = append(s.Rows, Row{fmt.Sprint(i*s.Width + r.first), t})
			}
		}
		return s
	}
	at := map[string]int{}
	for _, row := range r.sums.rows {
		name := of(row.key)
		i, ok := at[name]
		if !ok {
			i = len(s.Rows)
			at[name] = i
			s.Rows = append(s.Rows, Row{name, newTotal()})
		}
		s.Rows[i].merge(row.Total)
	}
	slices.SortStableFunc(s.Rows, func(a, b Row) int { return cmp.Compare(b.Duration+b.CastTime, a.Duration+a.CastTime) })
	return s
}

// Find returns the total of a row and reports whether the row exists.
func (s Summary) Find(name string) (Total, bool) {
	for _, r := range s.Rows {
		if r.Name == name {
			return r.Total, true
		}
	}
	return newTotal(), false
}

// table returns the summary's columns, without empty ones.
func (s Summary) table() (head []string, rows [][]any) {
	all := newTotal()
	for _, r := range s.Rows {
		all.merge(r.Total)
	}
	type column struct {
		name string
		on   bool
		of   func(r Row) any
	}
	part := func(n, all int) any {
		if all == 0 {
			return "" // nothing was counted
		}
		return percent(share(n, all))
	}
	columns := []column{
		{s.By, true, func(r Row) any { return cmp.Or(r.Name, "–") }},
		{"times", true, func(r Row) any { return r.Times }},
		{"time", true, func(r Row) any { return r.Duration + r.CastTime }},
		{"share", true, func(r Row) any {
			return percent(float64(r.Duration+r.CastTime) / float64(max(all.Duration+all.CastTime, 1)))
		}},
		{"FLOP", true, func(r Row) any { return quantity(r.FLOPs, "") }},
		{"bytes", true, func(r Row) any { return quantity(float64(r.Bytes), "B") }},
		{"casts", all.Casts > 0, func(r Row) any { return r.Casts }},
		{"cached", all.Cached > 0, func(r Row) any { return r.Cached }},
		{"bytes cast", all.CastBytes > 0, func(r Row) any { return quantity(float64(r.CastBytes), "B") }},
		{"zero", all.Zeros > 0, func(r Row) any { return part(r.Zeros, r.Elements) }},
		{"subnormal", all.Subnormal > 0, func(r Row) any { return part(r.Subnormal, r.Elements) }},
		{"inf, NaN", all.Bad > 0, func(r Row) any { return part(r.Bad, r.Elements) }},
		{"flushed to 0", all.Rounded > 0, func(r Row) any { return part(r.Flushed, r.Rounded) }},
		{"smallest", all.Counted > 0, func(r Row) any { return magnitude(r.AbsMin) }},
		{"largest", all.Counted > 0, func(r Row) any { return magnitude(r.AbsMax) }},
		{"own error, ulp", all.Compared > 0, func(r Row) any { return fmt.Sprintf("%.3g", r.ULP) }},
		{"0, not in float64", all.Followed > 0, func(r Row) any { return part(r.Dead, r.Followed) }},
	}
	columns = slices.DeleteFunc(columns, func(c column) bool { return !c.on })
	for _, c := range columns {
		head = append(head, c.name)
	}
	for _, r := range s.Rows {
		var row []any
		for _, c := range columns {
			row = append(row, c.of(r))
		}
		rows = append(rows, row)
	}
	return head, rows
}

// String returns the summary as text.
func (s Summary) String() string { return display.Table(s.table()).String() }

// HTML returns the summary as a table.
func (s Summary) HTML() string {
	note := ""
	if s.Width > 1 {
		note = fmt.Sprintf("<p style=\"padding:0 8px\">Each row covers %d steps.</p>", s.Width)
	}
	return note + fmt.Sprint(display.Table(s.table()).Data["text/html"])
}

// magnitude formats a magnitude of elements, "" for NaN.
func magnitude(x float64) string {
	if x != x {
		return ""
	}
	return fmt.Sprintf("%.2e", x)
}

// percent formats a fraction; a positive one never shows as 0.
func percent(p float64) string {
	switch {
	case p == 0:
		return "0 %"
	case p < 0.001:
		return "<0.1 %"
	}
	return fmt.Sprintf("%.1f %%", 100*p)
}

// Table lists the operations with their operands and results. Column "why" has the policy's reason:
// "lower" and "fp32" for operations on the list for low precision and on that for float32,
// "unlisted" for those on no list, which keep the dtype of their operands, and "of" for parts of
// the derivative of an operation.
func (r *Recorder) Table() display.Bundle {
	head := []string{"#", "step", "phase", "op", "module", "line", "why", "in", "computed", "out", "casts", "cached", "zero", "subnormal", "inf, NaN", "flushed to 0", "smallest", "largest", "time"}
	ops := r.Ops()
	shadow := slices.ContainsFunc(ops, func(op OpRecord) bool { return op.Shadow != nil })
	if shadow {
		head = append(head, "own error, ulp", "0, not in float64")
	}
	var rows [][]any
	for i, op := range ops {
		var in []string
		for _, d := range op.In {
			in = append(in, d.Short())
		}
		row := []any{i, op.Step, op.phase(), op.Name, op.Module, op.Source, op.brief(), strings.Join(in, " "), op.Computed.Short(), op.Out.Short(), op.Casts, op.Cached}
		t := newTotal()
		t.add(&op)
		flushed := ""
		if t.Rounded > 0 {
			flushed = percent(t.FlushedShare())
		}
		if op.Counted {
			row = append(row, percent(share(t.Zeros, t.Elements)), percent(share(t.Subnormal, t.Elements)), percent(t.BadShare()), flushed, magnitude(t.AbsMin), magnitude(t.AbsMax))
		} else {
			row = append(row, "", "", "", flushed, "", "")
		}
		row = append(row, op.Duration)
		if op.Shadow != nil {
			row = append(row, fmt.Sprintf("%.3g", op.Shadow.ULP), percent(op.Shadow.DeadShare()))
		}
		rows = append(rows, row)
	}
	return display.Table(head, rows)
}

// HTML returns the recording as a sentence and a summary by operation.
func (r *Recorder) HTML() string {
	return fmt.Sprintf("<p style=\"padding:0 8px\">%s</p>%s", html.EscapeString(r.String()), r.By("op").HTML())
}

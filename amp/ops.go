package amp

import (
	"cmp"
	"fmt"
	"html"
	"slices"
	"strings"

	"halfnote/display"
	"halfnote/tensor"
)

// OpList is a policy's list of operations: the dtype of each, and why. As a cell's value it is
// shown as a table.
type OpList struct {
	Policy Policy
	Rows   []OpRow // rows of listed operations first, by category and name
	note   string
}

// OpRow is an operation under a policy.
type OpRow struct {
	Op       string // name for With
	Torch    string // name of torch's function
	Category Category
	RunsIn   string // "float16", "float32", …
	By       string // source of the decision: torch's list, or With
}

// Ops returns the list of the policy in force, or that of [Float16] outside regions.
func Ops() OpList {
	if p := Active(); p.on {
		l := p.Ops()
		l.note = "This policy is in force. "
		return l
	}
	l := Float16.Ops()
	l.note = "No region is open; this is the list for amp.Autocast(amp.Float16, …). "
	return l
}

// Ops returns p's list: torch's, at the commit that the package follows, with the changes made
// by the With methods.
func (p Policy) Ops() OpList {
	l := OpList{Policy: p}
	for _, info := range everyOp() {
		c := p.Category(info)
		l.Rows = append(l.Rows, OpRow{info.Name, info.Torch, c, p.runsIn(info.Name, c), p.By(info)})
	}
	order := []Category{LowerPrecision, FP32, Promote, Banned, Unlisted}
	slices.SortStableFunc(l.Rows, func(a, b OpRow) int {
		return cmp.Or(cmp.Compare(slices.Index(order, a.Category), slices.Index(order, b.Category)), cmp.Compare(a.Op, b.Op))
	})
	return l
}

// Why returns a sentence on the dtype that op runs in under p and on what decides it. It panics
// if the operation does not exist.
func (p Policy) Why(op string) string {
	if !known(op) {
		panic(unknownOp("Why", op))
	}
	for _, r := range p.Ops().Rows {
		if r.Op == op {
			what := "runs in " + r.RunsIn
			if r.Category == Banned && p.on {
				what = "is refused"
			}
			return fmt.Sprintf("Under %v, %s %s: %s. %s", p, r.Op, what, r.By, reasons[r.Category])
		}
	}
	return ""
}

// reasons are the reasons for torch's lists, in short.
var reasons = map[Category]string{
	LowerPrecision: "Tensor cores compute matrix products fast, and sum them in float32.",
	FP32:           "Its results or sums exceed float16's range, or lose too much precision.",
	Promote:        "Its operands must have the same dtype: the widest, so that nothing is lost.",
	Banned:         "Its gradient exceeds the range of the low precision.",
	Unlisted:       "It is safe in any dtype, so a cast would only cost time.",
}

// runsIn describes the dtype to which float16, bfloat16 and float32 operands are cast; others
// are never cast.
func (p Policy) runsIn(op string, c Category) string {
	if !p.on {
		return "its operands' dtype"
	}
	switch c {
	case LowerPrecision:
		return p.lower.String()
	case FP32:
		if named[op] {
			return "float32, unless the call names a dtype"
		}
		return "float32"
	case Promote:
		return fmt.Sprintf("%v, or float32 if an operand is", p.lower)
	case Banned:
		return "refused"
	}
	return "its operands' dtype"
}

// By returns the source of op's category: "torch's CUDA list fp32", or With.
func (p Policy) By(op tensor.Info) string {
	lists, c := "CUDA", p.listed(op)
	if p.cpu {
		lists = "CPU"
	}
	list := c.String()
	switch {
	case c == FP32 && op.Name == "norm" && !p.cpu:
		list = "fp32_append_dtype"
	case c == FP32 && named[op.Name] && !p.cpu:
		list = "fp32_set_opt_dtype"
	}
	torch := fmt.Sprintf("torch's %s list %s", lists, list)
	if c == Unlisted {
		torch = fmt.Sprintf("on none of torch's %s lists", lists)
		if n := p.newcomer(op.Name); n != nil {
			torch += fmt.Sprintf(" of PyTorch 2.%d; on one since 2.%d", p.release-1, n.since)
		}
		if d := p.decomposition(op.Name); d.of != "" {
			torch += ", but composed of " + d.of + " in torch"
		}
	}
	if p.apex {
		if torch = "on none of Apex's lists"; c != Unlisted {
			torch = fmt.Sprintf("Apex's O1 list %s", apexLists[c])
		}
	}
	if o := p.override(op.Name); o != nil {
		return fmt.Sprintf("moved to %v by With, against torch (%s)", o.category, strings.TrimPrefix(torch, "torch's "))
	}
	return torch
}

// everyOp returns the operations that autocast can see; those used only in derivatives run with
// autocast off.
func everyOp() []tensor.Info {
	ops := slices.DeleteFunc(tensor.Ops(), func(i tensor.Info) bool { return strings.Contains(i.Name, "_backward") })
	return append(ops, wholes...)
}

// Find returns the rows that contain one of the words in their name, torch's name, category,
// dtype or source: "softmax", "fp32", "With". It ignores case.
func (l OpList) Find(words ...string) OpList {
	found := OpList{Policy: l.Policy, note: l.note}
	for _, r := range l.Rows {
		text := strings.ToLower(strings.Join([]string{r.Op, r.Torch, r.Category.String(), r.RunsIn, r.By}, "\n"))
		if slices.ContainsFunc(words, func(w string) bool { return strings.Contains(text, strings.ToLower(w)) }) {
			found.Rows = append(found.Rows, r)
		}
	}
	return found
}

// split returns the rows to show individually, and the names of the rest, which run in their
// operands' dtype: without Find, the majority.
func (l OpList) split() (shown []OpRow, rest string) {
	if len(l.Rows) <= 100 {
		return l.Rows, ""
	}
	var names []string
	for _, r := range l.Rows {
		if r.Category == Unlisted && l.Policy.override(r.Op) == nil {
			names = append(names, r.Op)
		} else {
			shown = append(shown, r)
		}
	}
	return shown, strings.Join(names, ", ")
}

// head describes the list and counts the operations of each kind.
func (l OpList) head() string {
	var counts []string
	for i := 0; i < len(l.Rows); {
		n := i
		for n < len(l.Rows) && l.Rows[n].Category == l.Rows[i].Category {
			n++
		}
		counts = append(counts, fmt.Sprintf("%d %v", n-i, l.Rows[i].Category))
		i = n
	}
	return fmt.Sprintf("%v, operations: %d (%s). %sThe lists are those of PyTorch's main branch, aten/src/ATen/autocast_mode.cpp at commit 008ec6b. "+
		"float64 and integers are never cast, nor are changes in place.", l.Policy, len(l.Rows), strings.Join(counts, ", "), l.note)
}

// table returns the rows to show individually as a table, and a sentence on the others.
func (l OpList) table() (table display.Bundle, rest string) {
	shown, names := l.split()
	if names != "" {
		rest = "On no list, so in their operands' dtype: " + names + "."
	}
	var rows [][]any
	for _, r := range shown {
		rows = append(rows, []any{r.Op, r.Torch, r.Category, r.RunsIn, r.By})
	}
	return display.Table([]string{"operation", "torch", "category", "runs in", "by"}, rows), rest
}

// String returns the list as text.
func (l OpList) String() string {
	table, rest := l.table()
	return strings.TrimRight(l.head()+"\n"+table.String()+"\n"+rest, "\n")
}

// HTML returns the list for a cell's output.
func (l OpList) HTML() string {
	table, rest := l.table()
	return fmt.Sprintf("<p style=\"padding:0 8px\">%s</p>%s<p style=\"padding:0 8px\">%s</p>", html.EscapeString(l.head()), table.Data["text/html"], html.EscapeString(rest))
}

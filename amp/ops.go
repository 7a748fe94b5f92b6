package amp

import (
	"cmp"
	"fmt"
	"html"
	"slices"
	"strings"
	"text/tabwriter"

	"halfnote/tensor"
)

// OpList is a policy's list of operations: which dtype each of them runs in, and why.
// Shown as a cell's value it is a table.
type OpList struct {
	Policy Policy
	Rows   []OpRow // listed ones first, by category and name
	note   string
}

// OpRow is an operation under a policy.
type OpRow struct {
	Op       string // as With wants it
	Torch    string // torch's function
	Category tensor.Category
	RunsIn   string // "float16", "float32", …
	By       string // who put it there: torch's list, or With
}

// Ops returns the list of the policy that is in force here, [Float16]'s outside regions.
func Ops() OpList {
	if p := Active(); p.on {
		l := p.Ops()
		l.note = "It is in force here. "
		return l
	}
	l := Float16.Ops()
	l.note = "No region is open here; this is what amp.Autocast(amp.Float16, …) does. "
	return l
}

// Ops returns p's list: torch's, of the commit that the package follows, and what the
// With methods have changed.
func (p Policy) Ops() OpList {
	l := OpList{Policy: p}
	for _, info := range everyOp() {
		c := p.Category(info)
		l.Rows = append(l.Rows, OpRow{info.Name, info.Torch, c, p.runsIn(info.Name, c), p.By(info)})
	}
	order := []tensor.Category{tensor.Lower, tensor.Raise, tensor.Widest, tensor.Banned, tensor.Keep}
	slices.SortStableFunc(l.Rows, func(a, b OpRow) int {
		return cmp.Or(cmp.Compare(slices.Index(order, a.Category), slices.Index(order, b.Category)), cmp.Compare(a.Op, b.Op))
	})
	return l
}

// Why returns in a sentence which dtype op runs in under p and who decided it. It
// panics if there is no such operation.
func (p Policy) Why(op string) string {
	if !known(op) {
		panic(unknownOp("Why", op))
	}
	for _, r := range p.Ops().Rows {
		if r.Op == op {
			what := "runs in " + r.RunsIn
			if r.Category == tensor.Banned && p.on {
				what = "is refused"
			}
			return fmt.Sprintf("%s %s under %v: %s. %s", r.Op, what, p, r.By, reasons[r.Category])
		}
	}
	return ""
}

// reasons say why torch has a list, in short.
var reasons = map[tensor.Category]string{
	tensor.Lower:  "Products are what tensor cores are fast at, and they are added in float32.",
	tensor.Raise:  "Its results or sums leave float16's range, or lose too much in its precision.",
	tensor.Widest: "It takes several operands, which must have one dtype: the widest, so that nothing is lost.",
	tensor.Banned: "Its gradient cannot be held in the low precision.",
	tensor.Keep:   "It is safe in either dtype, so a cast would only cost time.",
}

// runsIn says which dtype operands of float16, bfloat16 and float32 go to; others are
// never cast.
func (p Policy) runsIn(op string, c tensor.Category) string {
	if !p.on {
		return "its operands' dtype"
	}
	switch c {
	case tensor.Lower:
		return p.lower.String()
	case tensor.Raise:
		if named[op] {
			return "float32, unless the call names a dtype"
		}
		return "float32"
	case tensor.Widest:
		return fmt.Sprintf("%v, or float32 if an operand is", p.lower)
	case tensor.Banned:
		return "refused"
	}
	return "its operands' dtype"
}

// By returns who put op into its category: "torch's CUDA list fp32", or With.
func (p Policy) By(op tensor.Info) string {
	lists, c := "CUDA", p.listed(op)
	if p.cpu {
		lists = "CPU"
	}
	list := c.String()
	switch {
	case c == tensor.Raise && op.Name == "norm" && !p.cpu:
		list = "fp32_append_dtype"
	case c == tensor.Raise && named[op.Name] && !p.cpu:
		list = "fp32_set_opt_dtype"
	}
	torch := fmt.Sprintf("torch's %s list %s", lists, list)
	if c == tensor.Keep {
		torch = fmt.Sprintf("on none of torch's %s lists", lists)
		if d := p.decomposition(op.Name); d.of != "" {
			torch += ", but made of " + d.of + " there"
		}
	}
	if p.apex {
		if torch = "on none of Apex's lists"; apexOps[op.Name] != tensor.Keep {
			torch = fmt.Sprintf("Apex's O1 list %s", apexLists[apexOps[op.Name]])
		}
	}
	if o := p.override(op.Name); o != nil {
		return fmt.Sprintf("moved to %v by With, against torch (%s)", o.category, strings.TrimPrefix(torch, "torch's "))
	}
	return torch
}

// everyOp returns the operations that autocast can meet: not those that derivatives are
// made of, where it is off.
func everyOp() []tensor.Info {
	ops := slices.DeleteFunc(tensor.Ops(), func(i tensor.Info) bool { return strings.Contains(i.Name, "_backward") })
	return append(ops, wholes...)
}

// Find returns the rows that have one of the words in their name, torch's name,
// category, dtype or who decided: "softmax", "fp32", "With". It ignores case.
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

// split returns the rows to show one by one, and those that are only named, which run
// in their operands' dtype: without Find they are the most.
func (l OpList) split() (shown []OpRow, rest string) {
	if len(l.Rows) <= 100 {
		return l.Rows, ""
	}
	var names []string
	for _, r := range l.Rows {
		if r.Category == tensor.Keep && l.Policy.override(r.Op) == nil {
			names = append(names, r.Op)
		} else {
			shown = append(shown, r)
		}
	}
	return shown, strings.Join(names, ", ")
}

// head says what is listed, and how many operations there are of each kind.
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

// String returns the list as text.
func (l OpList) String() string {
	shown, rest := l.split()
	var b strings.Builder
	fmt.Fprintln(&b, l.head())
	w := tabwriter.NewWriter(&b, 0, 0, 2, ' ', 0)
	fmt.Fprintln(w, "operation\ttorch\tcategory\truns in\tby")
	for _, r := range shown {
		fmt.Fprintf(w, "%s\t%s\t%v\t%s\t%s\n", r.Op, r.Torch, r.Category, r.RunsIn, r.By)
	}
	w.Flush()
	if rest != "" {
		fmt.Fprintf(&b, "In their operands' dtype, being on no list: %s.\n", rest)
	}
	return b.String()
}

// HTML returns the list for a cell's output.
func (l OpList) HTML() string {
	shown, rest := l.split()
	var b strings.Builder
	fmt.Fprintf(&b, "<p>%s</p><table><thead><tr><th>operation</th><th>torch</th><th>category</th><th>runs in</th><th>by</th></tr></thead><tbody>", html.EscapeString(l.head()))
	for _, r := range shown {
		fmt.Fprintf(&b, "<tr><td>%s</td><td>%s</td><td>%v</td><td>%s</td><td>%s</td></tr>",
			html.EscapeString(r.Op), html.EscapeString(r.Torch), r.Category, html.EscapeString(r.RunsIn), html.EscapeString(r.By))
	}
	b.WriteString("</tbody></table>")
	if rest != "" {
		fmt.Fprintf(&b, "<p>In their operands' dtype, being on no list: %s.</p>", html.EscapeString(rest))
	}
	return b.String()
}

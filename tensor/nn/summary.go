package nn

import (
	"cmp"
	"fmt"
	"html"
	"reflect"
	"strings"
	"text/tabwriter"

	"halfnote/internal/text"
)

// Summary is a table of a model's modules and the sizes of their tensors. Cells display it.
type Summary struct {
	Rows       []SummaryRow
	Parameters int // elements that are trained
	Buffers    int // elements that are not
	Bytes      int // bytes of both
}

// SummaryRow is a module of a Summary, with the tensors that are in no module inside it.
type SummaryRow struct {
	Name       string // path, empty for the model
	Type       string // type, for example "Linear"
	Shapes     string // shapes of its tensors, for example "weight (10, 784), bias (10,)"
	Parameters int
	Buffers    int
}

// Summarize returns the modules of model that have tensors, with their sizes. A tensor that
// two modules share counts once, for the first.
func Summarize(model any) *Summary {
	modules := NamedModules(model)
	if len(modules) == 0 || modules[0].Name != "" {
		modules = append([]NamedModule{{Name: "", Module: model}}, modules...)
	}
	rows := make([]SummaryRow, len(modules))
	for i, m := range modules {
		rows[i] = SummaryRow{Name: m.Name, Type: typeName(m.Module)}
	}
	s := &Summary{}
	for _, n := range namedTensors(model) {
		owner := 0
		for i, m := range modules {
			if strings.HasPrefix(n.Name, m.Name+".") && len(m.Name) > len(modules[owner].Name) {
				owner = i
			}
		}
		row := &rows[owner]
		if n.Tensor.RequiresGrad() {
			row.Parameters += n.Tensor.Numel()
		} else {
			row.Buffers += n.Tensor.Numel()
		}
		s.Bytes += n.Tensor.Bytes()
		if row.Shapes != "" {
			row.Shapes += ", "
		}
		row.Shapes += strings.TrimPrefix(strings.TrimPrefix(n.Name, row.Name), ".") + " " + text.Shape(n.Tensor.Shape())
	}
	for _, r := range rows {
		if r.Shapes != "" {
			s.Rows = append(s.Rows, r)
			s.Parameters += r.Parameters
			s.Buffers += r.Buffers
		}
	}
	return s
}

// typeName returns the name of the type that m points to.
func typeName(m any) string {
	t := reflect.TypeOf(m)
	for t != nil && t.Kind() == reflect.Pointer {
		t = t.Elem()
	}
	if t == nil || t.Name() == "" {
		return "Module"
	}
	if s, ok := m.(fmt.Stringer); ok { // torch's name, where one type stands for several
		if name, _, found := strings.Cut(s.String(), "("); found {
			return name
		}
	}
	return t.Name()
}

// String returns the table as text.
func (s *Summary) String() string {
	var b strings.Builder
	w := tabwriter.NewWriter(&b, 0, 0, 2, ' ', 0)
	fmt.Fprintln(w, "module\ttype\tparameters\tbuffers\tshapes")
	for _, r := range s.Rows {
		fmt.Fprintf(w, "%s\t%s\t%s\t%s\t%s\n", cmp.Or(r.Name, "(model)"), r.Type, text.Thousands(r.Parameters), text.Thousands(r.Buffers), r.Shapes)
	}
	w.Flush()
	return b.String() + s.total()
}

// HTML returns the table for a cell's output.
func (s *Summary) HTML() string {
	var b strings.Builder
	b.WriteString("<table><thead><tr><th>module</th><th>type</th><th>parameters</th><th>buffers</th><th>shapes</th></tr></thead><tbody>")
	for _, r := range s.Rows {
		fmt.Fprintf(&b, "<tr><td>%s</td><td>%s</td><td>%s</td><td>%s</td><td>%s</td></tr>",
			html.EscapeString(cmp.Or(r.Name, "(model)")), html.EscapeString(r.Type), text.Thousands(r.Parameters), text.Thousands(r.Buffers), html.EscapeString(r.Shapes))
	}
	return b.String() + "</tbody></table><p style=\"padding:0 8px\">" + s.total() + "</p>"
}

func (s *Summary) total() string {
	return fmt.Sprintf("%s parameters, %s numbers in buffers, %s bytes", text.Thousands(s.Parameters), text.Thousands(s.Buffers), text.Thousands(s.Bytes))
}

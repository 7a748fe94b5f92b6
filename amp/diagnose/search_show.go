package diagnose

import (
	"fmt"
	"math"
	"strings"

	"halfnote/display"
)

// String names the operation with its module.
func (op PrecisionSetOp) String() string {
	if op.Module == "" {
		return op.Op
	}
	return op.Op + " in " + op.Module
}

// String describes the operations found and the resulting error.
func (r *PrecisionSet) String() string {
	var names []string
	for _, op := range r.Ops {
		names = append(names, op.String())
	}
	set := strings.Join(names, ", ")
	head := fmt.Sprintf("%v: error of the %s %s, budget %s", r.base, r.of, errorText(r.Before), errorText(r.Budget))
	switch {
	case !r.Found && r.lower:
		return head + ": nothing can be lowered, because the unchanged policy exceeds the budget. MinimalFP32Set finds what to raise"
	case !r.Found:
		return fmt.Sprintf("%s: exceeded even with all %d operations in float32: the error comes from elsewhere, such as a cast in the program itself", head, len(r.Candidates))
	case len(names) == 0 && r.lower:
		return fmt.Sprintf("%s: none of %d more operations may run in low precision", head, len(r.Candidates))
	case len(names) == 0:
		return head + ": no operation has to be raised"
	}
	what, size := "must run in float32", "smallest"
	if r.lower {
		what, size = "may run in the low precision too", "largest"
	}
	certain := fmt.Sprintf("no single one of them can be left out, tried in %d runs", r.Runs)
	if r.lower {
		certain = fmt.Sprintf("no single other one can be added, tried in %d runs", r.Runs)
	}
	if r.Smallest {
		certain = fmt.Sprintf("this is the %s such set, found in %d runs", size, r.Runs)
	}
	return fmt.Sprintf("%s.\n%s %s: the error is then %s; %s.\n%s", head, set, what, errorText(r.After), certain, r.Code)
}

func errorText(v float64) string {
	if math.IsInf(v, 0) {
		return "infinite"
	}
	return fmt.Sprintf("%.3g", v)
}

// HTML returns the sentences and the table.
func (r *PrecisionSet) HTML() string {
	return paragraph(r.String()) + r.Table().Data["text/html"].(string)
}

// Table lists all candidates, with the error when each is moved alone.
func (r *PrecisionSet) Table() display.Bundle {
	chosen := map[PrecisionSetOp]bool{}
	for _, op := range r.Ops {
		chosen[op] = true
	}
	var rows [][]any
	for _, op := range r.Candidates {
		mark := ""
		if chosen[op] {
			mark = "●"
		}
		rows = append(rows, []any{mark, op.Op, op.Module, op.Source, errorText(op.Alone), int64(op.Work)})
	}
	return display.Table([]string{"in the set", "operation", "module", "called in", "error when moved alone", "FLOPs in float32"}, rows)
}

package chart

import (
	"fmt"
	"slices"
	"strings"
)

// OpDType is the dtype of one operation of a run and the casts of its operands.
type OpDType struct {
	Name   string // torch's name, for example "linear"
	Module string // path of the calling module, for example "0" or "encoder.1"; may be empty
	Phase  string // "forward", "backward", "optimizer" or any other word; "" means forward
	DType  string // compute dtype, for example "float16"
	Casts  int    // number of operands that were cast
	Cached int    // number of operands whose cast was in autocast's cache
	// Why is the policy's reason in a word or two. The chart explains "lower", "fp32", "unlisted", "promote"
	// and "of linear".
	Why string
}

// DTypes shows the dtype of every operation of a run in execution order: one row per operation,
// one lane per dtype, ◆ where operands were cast. For a run of several training steps it shows
// the commonest step; a step begins with the first forward operation after another phase.
func DTypes(ops []OpDType) *Figure {
	if len(ops) == 0 {
		return blank(words.opsNone)
	}
	s := commonStep(ops)
	sheet := newOpSheet(s.ops)
	return &Figure{
		theme: Light, sentence: s.sentence(), height: sheet.height(), body: sheet,
		head: slices.Delete(opHead(), 2, 3), rows: opTable(s.ops),
		data: func() ([]string, [][]any) { return opHead(), opRows(fold(ops)) },
	}
}

// step is the commonest kind of step of a run.
type step struct {
	ops        []OpDType
	times, all int
}

// commonStep returns the step that ran most often; ties go to the longest, then to the first.
func commonStep(ops []OpDType) step {
	ops = slices.Clone(ops)
	for i := range ops {
		if ops[i].Phase == "" {
			ops[i].Phase = forward
		}
	}
	kinds := map[string]int{}
	var steps []step
	all := 0
	for start := 0; start < len(ops); {
		end := start + 1
		for end < len(ops) && (ops[end].Phase != forward || ops[end-1].Phase == forward) {
			end++
		}
		key := fmt.Sprint(ops[start:end])
		k, seen := kinds[key]
		if !seen {
			k = len(steps)
			kinds[key] = k
			steps = append(steps, step{ops: ops[start:end]})
		}
		steps[k].times++
		all++
		start = end
	}
	best := steps[0]
	for _, s := range steps[1:] {
		if s.times > best.times || s.times == best.times && len(s.ops) > len(best.ops) {
			best = s
		}
	}
	best.all = all
	return best
}

const forward = "forward"

func (s step) sentence() string {
	count := map[string]int{}
	casts, cached := 0, 0
	for _, op := range s.ops {
		count[op.DType]++
		casts += op.Casts
		cached += op.Cached
	}
	var parts []string
	for i, d := range byUse(count) {
		format := words.opsIn
		switch {
		case i == 0 && count[d] == 1:
			format = words.opsFirstOne
		case i == 0:
			format = words.opsFirst
		}
		parts = append(parts, fmt.Sprintf(format, count[d], d))
	}
	parts = append(parts, counted(casts, words.opsOneCast, words.opsCasts))
	if cached > 0 {
		parts = append(parts, fmt.Sprintf(words.opsCached, cached))
	}
	list := strings.Join(parts, words.listAnd)
	switch {
	case s.all == 1:
		return list
	case s.times == s.all:
		return fmt.Sprintf(words.opsEach, s.all, list)
	}
	return fmt.Sprintf(words.opsMost, s.times, s.all, list)
}

// byUse returns the dtypes in count, most used first.
func byUse(count map[string]int) []string {
	var names []string
	for name := range count {
		names = append(names, name)
	}
	slices.SortFunc(names, func(a, b string) int {
		if count[a] != count[b] {
			return count[b] - count[a]
		}
		return strings.Compare(a, b)
	})
	return names
}

// folded is an operation that ran several times in a row.
type folded struct {
	OpDType
	times int
}

func fold(ops []OpDType) (rows []folded) {
	for _, op := range ops {
		if n := len(rows); n > 0 && rows[n-1].OpDType == op {
			rows[n-1].times++
		} else {
			rows = append(rows, folded{op, 1})
		}
	}
	return rows
}

func opHead() []string {
	return []string{words.headPhase, words.headOp, words.headModule, words.headTimes, words.headDType, words.headCasts, words.headCached, words.headWhy}
}

func opRows(list []folded) (rows [][]any) {
	for _, op := range list {
		rows = append(rows, []any{op.Phase, op.Name, op.Module, op.times, op.DType, op.Casts, op.Cached, op.Why})
	}
	return rows
}

// opTable adds up equal operations, wherever they ran.
func opTable(ops []OpDType) [][]any {
	at := map[OpDType]int{}
	var list []folded
	for _, op := range ops {
		op.Module = ""
		i, seen := at[op]
		if !seen {
			i = len(list)
			at[op] = i
			list = append(list, folded{OpDType: op})
		}
		list[i].times++
	}
	rows := opRows(list)
	for i, r := range rows { // the summary has no column for modules
		rows[i] = slices.Delete(r, 2, 3)
	}
	return cutRows(rows, 40)
}

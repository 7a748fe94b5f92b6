package trace

import (
	"fmt"
	"html"
	"strings"
	"time"

	"halfnote/amp"
	"halfnote/display"
	"halfnote/internal/text"
	"halfnote/tensor"
)

// OpRecord is an operation that ran.
type OpRecord struct {
	Name     string // torch's name, such as "linear"
	Place           // place of the module that called it, or whose derivative it is
	Source   string // line of the cell that called it, or whose derivative it is: "In[3], line 5"
	Step     int    // training step, from 0: the number of the optimizer step that follows, or of backward passes without an optimizer
	Backward bool
	InPlace  bool   // changed its first operand in place, as optimizers do
	Of       string // operation whose derivative it is part of
	OfID     int    // ID of that operation's result
	Category amp.Category
	Policy   string // policy in force: "amp.Float16", "amp.Off"
	Why      string // reason for the dtype

	In       []tensor.DType // dtypes of the original operands
	InShapes [][]int
	InIDs    []int        // IDs of the operands after casts; a view has the ID of its base
	Computed tensor.DType // dtype of the operands after casts
	Out      tensor.DType
	Device   tensor.Device
	Shape    []int        // shape of the result
	ID       int          // ID of the result
	Casts    int          // operands converted for it
	Cached   int          // operands whose cast came from autocast's cache
	Cast     []CastRecord // casts, including cached ones

	Start    time.Duration // start since the start of the recording, after casts
	Duration time.Duration
	Bytes    int     // bytes read and written
	FLOPs    float64 // two for each multiply-add of a matrix product or convolution, otherwise one for each element

	Counts  tensor.Counts // counts of the result
	Counted bool          // Counts are known; never for in-place changes
	// Effect of rounding: for casts, and with Shadow for every operation.
	Rounding Rounding
	Rounded  bool      // Rounding is known
	Shadow   *Shadowed // set with Shadow only

	// Hash is a line with the dtype, the shape and a hash of the result: equal lines mean equal bits. InHashes has those of operands after
	// casts that no earlier operation has computed, otherwise "". Both are set with Hashes only.
	Hash     string
	InHashes []string

	hashed *hashed
}

// Rounding counts the elements that changed kind when a result was rounded to its dtype.
type Rounding struct {
	Flushed    int // not 0 before, 0 after
	Overflowed int // finite before, infinite after
}

// CastRecord is the conversion of an operand for an operation.
type CastRecord struct {
	Operand   int // index of the operand
	ID        int // ID of the operand before the cast; a view has the ID of its base
	From, To  tensor.DType
	Cached    bool // taken from autocast's cache
	Promotion bool // made by the operation's promotion, not by autocast
	Elements  int
	Start     time.Duration // start since the start of the recording, 0 if cached
	Duration  time.Duration // time of the cast, 0 if cached
	Rounding  Rounding
	Rounded   bool // Rounding is known
}

// bytes returns the bytes that the cast read and wrote: 0 if it was cached or is an operation in
// its own right.
func (c CastRecord) bytes() int {
	if c.Cached || c.Promotion {
		return 0
	}
	return c.Elements * (c.From.Size() + c.To.Size())
}

// describe fills op from e, reusing op's lists. e lacks the step, the policy and the counts of the
// result.
func (op *OpRecord) describe(e *tensor.EventInfo, place Place) {
	op.Name, op.Category, op.Place, op.Source = e.Op.Name, amp.Listed(e.Op), place, e.Source
	op.Backward, op.InPlace, op.Of, op.OfID = e.Backward, e.InPlace, e.Of, e.OfID
	op.Computed, op.Out, op.Shape, op.ID = e.Computed, e.Out.DType, e.Out.Shape, e.Out.ID
	op.Device = e.Out.Device
	op.Duration, op.Bytes, op.FLOPs = e.Duration, e.Bytes, e.FLOPs
	op.In, op.InShapes, op.InIDs, op.Cast = op.In[:0], op.InShapes[:0], op.InIDs[:0], op.Cast[:0]
	op.Casts, op.Cached, op.Counted, op.Rounded, op.Rounding, op.Shadow = 0, 0, false, false, Rounding{}, nil
	op.hashed, op.Hash, op.InHashes = nil, "", nil
	for i := range e.In {
		op.In, op.InShapes = append(op.In, e.In[i].DType), append(op.InShapes, e.In[i].Shape)
	}
	for i := range e.Casts {
		if e.Casts[i].Cached {
			op.Cached++
		} else {
			op.Casts++
		}
	}
}

// reasons caches the decisions of policies, the most recent policy first.
type reasons []*reason

// in returns the cached decisions of a policy.
func (r *reasons) in(p amp.Policy) *reason {
	for i, known := range *r {
		if known.policy == p {
			(*r)[0], (*r)[i] = known, (*r)[0]
			return known
		}
	}
	*r = append(reasons{{policy: p, name: p.String()}}, (*r)[:min(len(*r), 7)]...)
	return (*r)[0]
}

// reason caches the results of Policy.By.
type reason struct {
	policy amp.Policy
	name   string
	why    memo[tensor.Info, string]
	of     memo[string, string] // reasons for derivatives
}

// decided returns the source of the decision on e's dtype.
func (r *reason) decided(e *tensor.EventInfo) string {
	switch {
	case e.Backward:
		return r.of.get(e.Of, func() string { return "derivative of " + e.Of })
	case e.InPlace:
		return "in place: never cast"
	case e.Op.Name == "cast":
		return "a cast requested by the program or a promotion"
	}
	why := r.why.get(e.Op, func() string { return r.by(e.Op) })
	for _, c := range e.Casts {
		if c.Promotion {
			return why + "; operands promoted to the widest"
		}
	}
	return why
}

func (r *reason) by(op tensor.Info) string {
	switch {
	case !r.policy.IsEnabled():
		return "autocast is off"
	case op.GivenDType:
		return "dtype given in the call"
	}
	return r.policy.By(op)
}

func (op OpRecord) phase() string {
	switch {
	case op.Backward:
		return "backward"
	case op.InPlace:
		return "optimizer"
	}
	return "forward"
}

// ranIn returns the dtype that a chart shows for an operation; for a cast, that of its result.
func (op OpRecord) ranIn() tensor.DType {
	if op.Name == "cast" {
		return op.Out
	}
	return op.Computed
}

// brief returns Why, shortened for a chart.
func (op OpRecord) brief() string {
	switch {
	case op.Backward:
		return "of " + op.Of
	case op.InPlace:
		return "in place"
	case strings.Contains(op.Why, "by With"):
		return "With"
	case op.Category == amp.LowerPrecision:
		return "lower" // torch's lower_precision_fp
	}
	return op.Category.String()
}

// where returns the module and the line of the operation.
func (op OpRecord) where() string {
	var parts []string
	if op.Module != "" {
		parts = append(parts, "in "+op.Module)
	}
	if op.Source != "" {
		parts = append(parts, "at "+op.Source)
	}
	return strings.Join(parts, ", ")
}

// facts returns the lines of the operation's own page.
func (op OpRecord) facts() [][2]string {
	var in []string
	for i, d := range op.In {
		text := d.Short()
		for _, c := range op.Cast {
			if c.Operand == i {
				text += " → " + c.To.Short()
				if c.Cached {
					text += " (from the cache)"
				}
				if c.Rounded && c.Rounding != (Rounding{}) {
					text += fmt.Sprintf(" (%d flushed to 0, %d overflowed, of %d)", c.Rounding.Flushed, c.Rounding.Overflowed, c.Elements)
				}
			}
		}
		in = append(in, text)
	}
	list := [][2]string{
		{"operation", strings.TrimSpace(op.Name + " " + op.where())},
		{"step", fmt.Sprintf("%d, %s", op.Step, op.phase())},
		{"policy", op.Policy + ": " + op.Why},
		{"operands", strings.Join(in, ", ")},
		{"computed in", op.Computed.String()},
		{"result", text.Sprintf("%v %v", op.Out, op.Shape)},
		{"work", fmt.Sprintf("%s, %s, %s", quantity(op.FLOPs, "FLOP"), quantity(float64(op.Bytes), "B"), display.Duration(op.Duration))},
	}
	if c := op.Counts; op.Counted {
		list = append(list, [2]string{"in the result", fmt.Sprintf("%d elements: %d zero, %d subnormal, %d inf, %d NaN; magnitudes %.3g to %.3g", c.Count, c.Zeros, c.Subnormals, c.Infs, c.NaNs, c.AbsMin, c.AbsMax)})
	}
	if op.Rounded {
		list = append(list, [2]string{"rounding", fmt.Sprintf("%d flushed to 0, %d overflowed", op.Rounding.Flushed, op.Rounding.Overflowed)})
	}
	if s := op.Shadow; s != nil {
		list = append(list, s.facts()...)
	}
	return list
}

// String returns all facts about the operation, one on each line.
func (op OpRecord) String() string {
	var b strings.Builder
	for _, f := range op.facts() {
		fmt.Fprintf(&b, "%-14s %s\n", f[0], f[1])
	}
	return b.String()
}

// HTML returns the same as a table.
func (op OpRecord) HTML() string {
	var b strings.Builder
	b.WriteString("<table>")
	for _, f := range op.facts() {
		fmt.Fprintf(&b, `<tr><th style="text-align:left">%s</th><td style="text-align:left">%s</td></tr>`, f[0], html.EscapeString(f[1]))
	}
	return b.String() + "</table>"
}

// quantity formats x with an SI prefix: "1.5 GFLOP".
func quantity(x float64, unit string) string {
	prefix := ""
	for _, p := range []string{"k", "M", "G", "T"} {
		if x < 1000 {
			break
		}
		x, prefix = x/1000, p
	}
	return fmt.Sprintf("%.3g %s%s", x, prefix, unit)
}

package trace

import (
	"encoding/csv"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"math"
)

// record is an operation in a file. Numbers that JSON cannot represent are left out.
type record struct {
	Op         string    `json:"op"`
	Module     string    `json:"module,omitempty"`
	Param      string    `json:"param,omitempty"`
	Source     string    `json:"source,omitempty"`
	Step       int       `json:"step"`
	Phase      string    `json:"phase"`
	Of         string    `json:"of,omitempty"`
	Policy     string    `json:"policy"`
	Why        string    `json:"why"`
	In         []string  `json:"in"`
	Computed   string    `json:"computed"`
	Out        string    `json:"out"`
	Shape      []int     `json:"shape"`
	Casts      int       `json:"casts"`
	Cached     int       `json:"cached"`
	Bytes      int       `json:"bytes"`
	CastBytes  int       `json:"cast_bytes"`
	FLOPs      float64   `json:"flops"`
	Seconds    float64   `json:"seconds"`
	Counted    bool      `json:"counted"`
	Elements   int       `json:"elements"`
	Zeros      int       `json:"zeros"`
	Subnormals int       `json:"subnormals"`
	Infs       int       `json:"infs"`
	NaNs       int       `json:"nans"`
	AbsMin     *float64  `json:"abs_min,omitempty"`
	AbsMax     *float64  `json:"abs_max,omitempty"`
	Rounded    int       `json:"rounded"` // elements with a known effect of rounding, including those of casts
	Flushed    int       `json:"flushed"`
	Overflowed int       `json:"overflowed"`
	Shadow     *Shadowed `json:"shadow,omitempty"`
}

func (op *OpRecord) record() record {
	t := newTotal()
	t.add(op)
	r := record{
		Op: op.Name, Module: op.Module, Param: op.Param, Source: op.Source, Step: op.Step, Phase: op.phase(), Of: op.Of,
		Policy: op.Policy, Why: op.Why, Computed: op.Computed.String(), Out: op.Out.String(), Shape: op.Shape,
		Casts: op.Casts, Cached: op.Cached, Bytes: op.Bytes, CastBytes: t.CastBytes, FLOPs: op.FLOPs, Seconds: op.Duration.Seconds(),
		Counted: op.Counted, Elements: op.Counts.Count, Zeros: op.Counts.Zeros, Subnormals: op.Counts.Subnormals, Infs: op.Counts.Infs, NaNs: op.Counts.NaNs,
		AbsMin: number(t.AbsMin), AbsMax: number(t.AbsMax), Rounded: t.Rounded, Flushed: t.Flushed, Overflowed: t.Overflowed,
	}
	for _, d := range op.In {
		r.In = append(r.In, d.String())
	}
	if op.Shadow != nil && number(op.Shadow.ULP) != nil && number(op.Shadow.Drift) != nil {
		r.Shadow = op.Shadow
	}
	return r
}

func number(x float64) *float64 {
	if math.IsNaN(x) || math.IsInf(x, 0) {
		return nil
	}
	return &x
}

var errNoWriter = errors.New("trace: write: the writer is nil; want an io.Writer")

// WriteJSON writes the operations to w as an array of objects.
func (r *Recorder) WriteJSON(w io.Writer) error {
	if w == nil {
		return errNoWriter
	}
	ops := r.Ops()
	list := make([]record, len(ops))
	for i := range ops {
		list[i] = ops[i].record()
	}
	e := json.NewEncoder(w)
	e.SetIndent("", " ")
	return e.Encode(list)
}

// WriteCSV writes the operations to w (RFC 4180): a line with the names of the columns, then one
// line for each operation. The columns are the fields of WriteJSON except for lists.
func (r *Recorder) WriteCSV(w io.Writer) error {
	if w == nil {
		return errNoWriter
	}
	c := csv.NewWriter(w)
	c.Write([]string{"step", "phase", "op", "module", "param", "source", "policy", "why", "computed", "out", "casts", "cached", "bytes", "cast_bytes", "flops", "seconds",
		"counted", "elements", "zeros", "subnormals", "infs", "nans", "abs_min", "abs_max", "rounded", "flushed", "overflowed"})
	text := func(x *float64) string {
		if x == nil {
			return ""
		}
		return fmt.Sprint(*x)
	}
	ops := r.Ops()
	for i := range ops {
		o := ops[i].record()
		var line []string
		for _, v := range []any{o.Step, o.Phase, o.Op, o.Module, o.Param, o.Source, o.Policy, o.Why, o.Computed, o.Out, o.Casts, o.Cached, o.Bytes, o.CastBytes, o.FLOPs, o.Seconds,
			o.Counted, o.Elements, o.Zeros, o.Subnormals, o.Infs, o.NaNs, text(o.AbsMin), text(o.AbsMax), o.Rounded, o.Flushed, o.Overflowed} {
			line = append(line, fmt.Sprint(v))
		}
		c.Write(line)
	}
	c.Flush()
	return c.Error()
}

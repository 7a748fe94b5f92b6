package quant

import (
	"errors"
	"fmt"
	"html"
	"slices"
	"strings"

	"halfnote/tensor"
)

// Tensor is a tensor in few bits: packed codes, and the scales of blocks. It lies in the memory of the CPU and is not changed.
type Tensor struct {
	scheme Scheme
	grid   grid
	shape  []int
	codes  *tensor.Tensor // uint8 (…, bytes of the last dimension)
	scales *tensor.Tensor // uint8 or float32, nil without scales
	zeros  *tensor.Tensor // int8, nil without zero points
	global float32        // the scale of the tensor, if there is one
}

// newTensor returns a tensor whose codes and scales are undefined.
func newTensor(s Scheme, g grid, shape []int) *Tensor {
	q := &Tensor{scheme: s, grid: g, shape: slices.Clone(shape)}
	row := slices.Clone(shape)
	row[len(row)-1] = packed(g.width, g.element.Bits())
	q.codes = memory.Unset(tensor.Uint8, row...)
	switch g.scales {
	case noScale:
	case floatScale:
		q.scales = memory.Unset(tensor.Float32, g.scaleShape...)
	default:
		q.scales = memory.Unset(tensor.Uint8, g.scaleShape...)
	}
	if g.zeros && hasZeros(g) {
		q.zeros = memory.Unset(tensor.Int8, g.scaleShape...)
	}
	return q
}

// hasZeros reports whether zero points can differ from 0.
func hasZeros(g grid) bool { r, ok := g.rule.(affineRule); return ok && r.asymmetric }

// Shape returns the shape.
func (q *Tensor) Shape() []int { q.given("Shape"); return slices.Clone(q.shape) }

// Scheme returns the scheme.
func (q *Tensor) Scheme() Scheme { q.given("Scheme"); return q.scheme }

// Numel returns the number of elements.
func (q *Tensor) Numel() int { q.given("Numel"); return q.grid.height * q.grid.width }

// Bytes returns the size of codes, scales and zero points.
func (q *Tensor) Bytes() int {
	q.given("Bytes")
	n := q.codes.Bytes()
	if q.scales != nil {
		n += q.scales.Bytes()
	}
	if q.zeros != nil {
		n += q.zeros.Bytes()
	}
	if q.grid.scales == e4m3Scale {
		n += 4
	}
	return n
}

// Codes returns the packed codes, a uint8 tensor (…, bytes of the last dimension). Codes of 4 bits are two in a byte, the first in the low
// bits; codes of 6 bits are four in three bytes, from the lowest bit on.
func (q *Tensor) Codes() *tensor.Tensor { q.given("Codes"); return q.codes.Clone() }

// Slice returns rows start to below end of the first dimension: torch's q[start:end]. It panics if the first dimension is the only one, or if a
// bound divides a block.
func (q *Tensor) Slice(start, end int) *Tensor {
	q.given("Slice")
	switch n := q.shape[0]; {
	case start < 0 || end < start || end > n:
		fail("Slice", nil, fmt.Errorf("rows %d to %d of %d", start, end, n))
	case len(q.shape) == 1:
		fail("Slice", nil, errors.New("a tensor of one dimension; its blocks run along that; slice what Dequantize returns"))
	}
	p := q.grid.plan
	shape := slices.Clone(q.shape)
	shape[0] = end - start
	rows := q.grid.height / max(q.shape[0], 1) // rows of the matrix for each of the first dimension
	_, _, tall := q.grid.at()
	part := func(t *tensor.Tensor) *tensor.Tensor {
		if t == nil || len(t.Shape()) == 0 {
			return t
		}
		if tall > 1 {
			return t.Slice(0, start*rows/tall, ceil(end*rows, tall)).Contiguous()
		}
		return t.Slice(0, start, end).Contiguous()
	}
	if q.grid.scaleShape != nil && tall > 1 && (start*rows%tall != 0 || end*rows%tall != 0 && end < q.shape[0]) {
		fail("Slice", nil, fmt.Errorf("rows %d to %d; want bounds at multiples of %d, the height of a block", start, end, tall))
	}
	p.repeat = false // scales are stored for each row
	if q.grid.repeat {
		p.rows = 1
	}
	g, err := p.over(shape)
	if err != nil {
		fail("Slice", nil, err)
	}
	return &Tensor{scheme: q.scheme, grid: g, shape: shape, codes: q.codes.Slice(0, start, end).Contiguous(), scales: part(q.scales), zeros: part(q.zeros), global: q.global}
}

// Cat joins tensors of one scheme along the first dimension. It panics if their other dimensions differ, if they have different scales of the
// whole tensor, or if a tensor before the last ends within a block. It is torch.cat with dimension 0.
func Cat(list ...*Tensor) *Tensor {
	if len(list) == 0 {
		fail("Cat", nil, errors.New("no tensors; want at least one"))
	}
	first := list[0]
	shape := first.Shape()
	if len(shape) == 1 && first.scales != nil {
		fail("Cat", nil, errors.New("tensors of one dimension, whose blocks run along that; join the numbers before Quantize"))
	}
	shape[0] = 0
	_, _, tall := first.grid.at()
	for i, q := range list {
		q.given("Cat")
		rows := q.grid.height
		switch {
		case q.scheme != first.scheme:
			fail("Cat", nil, fmt.Errorf("%v and %v; want one scheme", first.scheme, q.scheme))
		case !slices.Equal(q.shape[1:], first.shape[1:]):
			fail("Cat", nil, fmt.Errorf("shapes %v and %v; want the same but for the first dimension", first.shape, q.shape))
		case q.global != first.global || first.scales != nil && first.grid.scaleShape == nil && q.factors()[0] != first.factors()[0]:
			fail("Cat", nil, errors.New("tensors with different scales of the whole tensor; join the numbers before Quantize"))
		case first.grid.scaleShape != nil && tall > 1 && rows%tall != 0 && i < len(list)-1:
			fail("Cat", nil, fmt.Errorf("a tensor of %d rows before the last; want a multiple of %d, the height of a block", rows, tall))
		}
		shape[0] += q.shape[0]
	}
	p := first.grid.plan
	if p.repeat {
		p.repeat, p.rows = false, 1
	}
	g, err := p.over(shape)
	if err != nil {
		fail("Cat", nil, err)
	}
	join := func(of func(q *Tensor) *tensor.Tensor) *tensor.Tensor {
		var parts []*tensor.Tensor
		for _, q := range list {
			if t := of(q); t == nil || len(t.Shape()) == 0 {
				return t
			}
			parts = append(parts, of(q))
		}
		return tensor.Cat(0, parts...)
	}
	return &Tensor{
		scheme: first.scheme, grid: g, shape: shape, global: first.global,
		codes:  join(func(q *Tensor) *tensor.Tensor { return q.codes }),
		scales: join(func(q *Tensor) *tensor.Tensor { return q.scales }),
		zeros:  join(func(q *Tensor) *tensor.Tensor { return q.zeros }),
	}
}

// String returns the numbers as a float32 tensor prints them, and the scheme.
func (q *Tensor) String() string {
	q.given("String")
	text := strings.TrimSuffix(q.Dequantize(tensor.Float32).String(), ")")
	return text + ", scheme=" + q.scheme.String() + ")"
}

// HTML returns a small table of scheme, shape, memory and scales, followed by the first numbers.
func (q *Tensor) HTML() string {
	q.given("HTML")
	rows := [][2]string{
		{"scheme", q.scheme.String()},
		{"shape", strings.Join(strings.Fields(fmt.Sprint(q.shape)), ", ")},
		{"memory", fmt.Sprintf("%d bytes, %.4g bits a number", q.Bytes(), 8*float64(q.Bytes())/float64(max(q.Numel(), 1)))},
	}
	if q.scales != nil {
		s := q.Scales().Stats()
		text := fmt.Sprintf("%d", s.Count)
		if s.Count > s.NaNs {
			text += fmt.Sprintf(", %.4g to %.4g", s.Min, s.Max)
		}
		if s.NaNs > 0 {
			text += fmt.Sprintf(", %d NaN: blocks with an infinity or NaN", s.NaNs)
		}
		rows = append(rows, [2]string{"scales", text})
	}
	var b strings.Builder
	b.WriteString(`<table style="border-collapse:collapse;font-size:13px">`)
	for _, r := range rows {
		fmt.Fprintf(&b, `<tr><td style="text-align:left;padding:1px 12px 1px 0">%s</td><td style="text-align:left;padding:1px 0">%s</td></tr>`, r[0], html.EscapeString(r[1]))
	}
	fmt.Fprintf(&b, `</table><pre style="margin:4px 0 0 0;font-family:monospace">%s</pre>`, html.EscapeString(q.String()))
	return b.String()
}

package experiment

import (
	"fmt"
	"math"
	"strconv"
	"sync"

	"halfnote/display"
	"halfnote/display/widget"
	"halfnote/tensor"
)

// Widget returns controls for the number: its value, a format whose bits can be flipped, and a slider that
// moves along the numbers of that format. Below them it shows how every format stores the number, and the
// format's numbers next to it. A page without a kernel shows the last state.
func (r *BitsReport) Widget() *widget.Box {
	p := newBitsPlay(r.Number)
	return widget.NewVBox(widget.NewHBox(p.value, p.format), p.row, p.line, p.out)
}

func newBitsPlay(x float64) *bitsPlay {
	var names []string
	for _, d := range shownFormats {
		names = append(names, d.String())
	}
	p := &bitsPlay{
		x:      x,
		value:  widget.NewText("", widget.Description("number"), widget.Trait("continuous_update", false)),
		format: widget.NewDropdown(tensor.Float16.String(), names, widget.Description("bits of")),
		row:    widget.NewHBox(),
		line:   widget.NewIntSlider(0, 0, 0, widget.Description("move"), widget.Trait("readout", false), widget.Layout("width", "95%")),
		out:    widget.NewOutput(),
	}
	p.row.SetLayout("flex_flow", "row wrap")
	p.value.OnChange(func(text string) {
		if x, err := strconv.ParseFloat(text, 64); err == nil {
			p.change(func() float64 { return x })
		} else {
			p.change(func() float64 { return p.x })
		}
	})
	p.format.OnChange(func(string) { p.change(func() float64 { return p.x }) })
	p.line.OnChange(func(at int) { p.change(func() float64 { return p.info().atOrdinal(at * p.stride()) }) })
	p.show()
	return p
}

// bitsPlay is the state of the widget of a number.
type bitsPlay struct {
	mu      sync.Mutex // held while the controls are set
	setting sync.Mutex // guards busy
	busy    bool       // whether the program, not the reader, sets the controls
	x       float64

	value  *widget.String
	format *widget.Choice
	row    *widget.Box
	bits   []*widget.Bool // the highest first
	line   *widget.Int
	out    *widget.Output
}

// change sets the number to what next returns, unless the program has changed the control.
func (p *bitsPlay) change(next func() float64) {
	p.setting.Lock()
	busy := p.busy
	p.setting.Unlock()
	if busy {
		return
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	p.x = next()
	p.show()
}

// layout is the layout of a format's bits.
type layout struct {
	tensor.FloatInfo
	mantissa int
}

func (p *bitsPlay) info() layout {
	f := tensor.FInfo(shownFormats[max(p.format.Index(), 0)])
	return layout{f, -math.Ilogb(f.Eps)}
}

// stride returns the number of numbers in a step of the slider, which has at most 2^16 positions.
func (p *bitsPlay) stride() int { return 1 << max(p.info().Bits-16, 0) }

// value returns the number that a bit pattern stands for.
func (f layout) value(pattern uint64) float64 {
	magnitude := pattern & (1<<(f.Bits-1) - 1)
	fraction, power := magnitude&(1<<f.mantissa-1), int(magnitude>>f.mantissa)
	v := float64(fraction)
	if power > 0 { // not subnormal
		v += math.Ldexp(1, f.mantissa)
	}
	v = math.Ldexp(v, max(power, 1)-1-f.mantissa+math.Ilogb(f.Tiny))
	if v > f.Max && fraction != 0 {
		return math.NaN()
	} else if v > f.Max {
		v = math.Inf(1)
	}
	if pattern>>(f.Bits-1)&1 == 1 {
		return -v
	}
	return v
}

// pattern returns the bits of the number nearest to x.
func (f layout) pattern(x float64) uint64 { return tensor.NewAs(f.DType, []float64{x}).Bits()[0] }

// ordinal returns the position of a bit pattern among the numbers, 0 for zero.
func (f layout) ordinal(pattern uint64) int {
	n := int(pattern & (1<<(f.Bits-1) - 1))
	if pattern>>(f.Bits-1)&1 == 1 {
		return -n
	}
	return n
}

// atOrdinal returns the number at a position.
func (f layout) atOrdinal(n int) float64 {
	if n < 0 {
		return -f.value(uint64(-n))
	}
	return f.value(uint64(n))
}

// show shows the number in the controls and below them.
func (p *bitsPlay) show() {
	p.mark(true)
	defer p.mark(false)
	f := p.info()
	pattern := f.pattern(p.x)
	if len(p.bits) != f.Bits || p.bits == nil {
		p.bits = nil
		for range f.Bits {
			b := widget.NewToggleButton(false, widget.Layout("width", "2em"), widget.Layout("padding", "0"), widget.Layout("margin", "1px"))
			b.OnChange(func(bool) { p.change(p.flipped) })
			p.bits = append(p.bits, b)
		}
		var children []widget.Widget
		for _, b := range p.bits {
			children = append(children, b)
		}
		p.row.SetChildren(children...)
	}
	for i, b := range p.bits {
		at := f.Bits - 1 - i
		field, look := "mantissa", ""
		switch {
		case i == 0:
			field, look = "sign", "warning"
		case at >= f.mantissa:
			field, look = "exponent", "info"
		}
		on := pattern>>at&1 == 1
		b.SetValue(on)
		b.Set("description", map[bool]string{false: "0", true: "1"}[on])
		b.Set("tooltip", fmt.Sprintf("%s, bit %d", field, at))
		b.Set("button_style", look)
	}
	p.value.SetValue(strconv.FormatFloat(p.x, 'g', -1, 64))
	if p.x-p.x == 0 {
		most := f.ordinal(f.pattern(f.Max)) / p.stride()
		p.line.Set("min", -most)
		p.line.Set("max", most)
		p.line.SetValue(min(max(f.ordinal(pattern)/p.stride(), -most), most))
	}
	shown := []any{Bits(p.x).Figure.InTheme("auto")}
	if a := math.Abs(p.x); a <= f.Max { // not NaN
		gap := gapAt(p.x, numberFormat(f.FloatInfo))
		shown = append(shown, Spacing(p.x-8*gap, p.x+8*gap, f.DType).Figure.InTheme("auto"))
	}
	p.out.Clear(true)
	for _, v := range shown {
		p.out.Display(display.Of(v))
	}
	p.out.Flush()
}

func (p *bitsPlay) mark(busy bool) {
	p.setting.Lock()
	defer p.setting.Unlock()
	p.busy = busy
}

// flipped returns the number that the buttons show.
func (p *bitsPlay) flipped() float64 {
	var pattern uint64
	for _, b := range p.bits {
		pattern <<= 1
		if b.Value() {
			pattern |= 1
		}
	}
	return p.info().value(pattern)
}

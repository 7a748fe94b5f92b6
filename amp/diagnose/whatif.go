package diagnose

import (
	"fmt"
	"math"

	"halfnote/amp"
	"halfnote/display"
)

// A scale is safe if no step overflows and less than this share of gradients is flushed.
const safeFlush = 0.001

// Bands and charts consider the powers of two from 1 to this one.
const maxScale = 24

// WhatIf holds the effect of a scale and a format on the recorded gradients.
type WhatIf struct {
	Scale  float64
	Format Format
	Shares // shares of all gradients of all steps
	Steps  int
	// Overflowing is the number of steps with a gradient that overflows, which a
	// scaler would skip.
	Overflowing int
	Layers      []Layer // layers in the order of the net
}

// Layer holds the effect on the gradients of one parameter or activation over all steps.
type Layer struct {
	Name       string
	Activation bool
	Wide       bool // autocast keeps the gradient in float32, so it is unchanged
	Shares
	Max float64 // largest finite magnitude, without a scale
}

// WhatIf returns the effect of scale and format on the recorded gradients. The numbers are exact if
// scale is a power of two or gradients were kept; otherwise [Shares.Slack] bounds the error. It panics
// unless scale is above 0 and finite.
func (r *Replay) WhatIf(scale float64, f Format) WhatIf {
	if !(scale > 0) || math.IsInf(scale, 0) {
		panic(&amp.Error{Code: "bad_scale", Call: "Replay.WhatIf", Why: fmt.Sprintf("the scale is %v", scale), Cure: "give a scale above 0, for example 65536"})
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.whatIf(scale, f)
}

func (r *Replay) whatIf(scale float64, f Format) WhatIf {
	w := WhatIf{Scale: scale, Format: f, Steps: len(r.steps)}
	index := map[string]int{}
	for _, s := range r.steps {
		if over, _ := s.overflows(scale, f); over {
			w.Overflowing++
		}
		for _, g := range s.gradients {
			i, ok := index[g.name]
			if !ok {
				i = len(w.Layers)
				index[g.name] = i
				w.Layers = append(w.Layers, Layer{Name: g.name, Activation: g.activation, Wide: g.wide})
			}
			shares := g.shares(scale, f)
			w.Layers[i].add(shares)
			w.Layers[i].Max = max(w.Layers[i].Max, g.max)
			w.add(shares)
		}
	}
	return w
}

// overflows reports whether a gradient of the step overflows; known is false if the recording does not
// determine it.
func (s *replayed) overflows(scale float64, f Format) (over, known bool) {
	known = true
	for _, g := range s.gradients {
		o, k := g.overflows(scale, f)
		if o {
			return true, true
		}
		known = known && k
	}
	return false, known
}

// String returns the shares and the number of steps that overflow.
func (w WhatIf) String() string {
	if w.Count == 0 {
		return "no gradients recorded"
	}
	text := fmt.Sprintf("At scale %s in %v: %v; %d of %s overflow", scaleText(w.Scale), w.Format, w.Shares, w.Overflowing, steps(w.Steps))
	if w.MaxError > 0 {
		text += fmt.Sprintf("; up to %d of %d elements may be counted wrong", w.MaxError, w.Count)
	}
	return text
}

// HTML returns the sentence and a table of layers.
func (w WhatIf) HTML() string { return paragraph(w.String()) + w.Table().Data["text/html"].(string) }

// Table lists the layers.
func (w WhatIf) Table() display.Bundle {
	var rows [][]any
	for _, l := range w.Layers {
		kind := "parameter"
		if l.Activation {
			kind = "activation"
		} else if l.Wide {
			kind = "parameter in float32"
		}
		rows = append(rows, []any{l.Name, kind, l.Count, l.Zeros, percent(l.FlushedShare()), percent(l.SubnormalShare()), percent(l.OverflowShare()), l.NonFinite, l.Max})
	}
	return display.Table([]string{"gradient of", "kind", "elements", "zero before", "flushed to 0", "subnormal", "overflow", "inf or NaN before", "largest"}, rows)
}

// Band holds the safe scales of a format.
type Band struct {
	Format Format
	// Low and High are the smallest and the largest power of two from 1 to 2²⁴ at
	// which no gradient of any step overflows and less than 0.1 % are flushed to 0;
	// both are 0 if there is none. A High of 2²⁴ is the largest scale tried, not a limit.
	Low, High float64
	// Limit is the scale at which the first gradient overflows; infinite if all are 0.
	Limit float64
	// Static is the recommended fixed scale for a whole run, with a margin for gradients that
	// change: the default of amp.NewGradScaler, 65,536. If that is below Low, it is 8 times Low.
	// It is at most the largest power of two, up to 2²⁴, whose product with 8 times the
	// largest gradient stays below the largest number of the format ("Mixed Precision
	// Training", Micikevicius et al., ICLR 2018, chooses a scale by this limit). It is below Low if
	// no safe scale leaves that margin, and 0 if all gradients are 0.
	Static float64
	// Activations reports whether gradients of activations are counted too, as
	// Gradients does. They are often smaller, so that Low is larger.
	Activations bool
	// Lost is the share of gradients that were 0 when they were recorded and that the run itself may
	// have flushed, because it computed them in float16 and they lie next to float16's smallest numbers.
	// The band does not count them.
	Lost float64
}

// headroom is the factor that a recommended scale leaves before the largest gradient overflows.
const headroom = 8

// defaultScale is the scale at which amp.NewGradScaler begins.
const defaultScale = 1 << 16

// recommended returns the scale to use where gradients survive from low and a margin before overflow is left up to top: the
// default scale, if it lies between them.
func recommended(low, top float64) float64 {
	if low <= defaultScale {
		return min(top, defaultScale)
	}
	return min(top, low*headroom)
}

// staticScale returns the largest power of two, up to 2²⁴, whose product with headroom times
// largest stays below limit; 0 if largest is 0.
func staticScale(largest, limit float64) float64 {
	if !(largest > 0) {
		return 0
	}
	_, e := math.Frexp(limit / largest / headroom)
	s := math.Ldexp(1, min(e, maxScale))
	for s*headroom*largest >= limit {
		s /= 2
	}
	return s
}

// Band returns the safe scales of f.
func (r *Replay) Band(f Format) Band {
	r.mu.Lock()
	defer r.mu.Unlock()
	b := Band{Format: f}
	most, lost, count := 0.0, 0, 0
	for _, s := range r.steps {
		for _, g := range s.gradients {
			lost += g.lost()
			count += g.zeros + g.some() + g.bad
			if !g.wide {
				most = max(most, g.max)
			}
			b.Activations = b.Activations || g.activation
		}
	}
	b.Lost = float64(lost) / float64(max(count, 1))
	b.Limit = f.over / most
	for k := range maxScale + 1 {
		w := r.whatIf(math.Exp2(float64(k)), f)
		if w.Count == 0 || w.Overflowing > 0 || w.FlushedShare() >= safeFlush {
			continue
		}
		if b.Low == 0 {
			b.Low = w.Scale
		}
		b.High = w.Scale
	}
	b.Static = recommended(b.Low, staticScale(most, f.max))
	return b
}

// lost returns the number of zeros that the run may have flushed: all zeros of a gradient in float16
// in which at least a share of safeFlush of the other elements are below four times float16's smallest
// number at the scale of the run.
func (g *gradient) lost() int {
	if !g.rounded {
		return 0
	}
	if near, _ := g.below(0x1p-22/g.scale, false); float64(near) < safeFlush*float64(g.some()) {
		return 0
	}
	return g.zeros
}

// String returns the band and the static scale. It also says if the run may have flushed gradients itself.
func (b Band) String() string {
	if b.Lost < safeFlush {
		return b.text()
	}
	return b.text() + "; " + b.unknown()
}

// unknown says which gradients the band does not count.
func (b Band) unknown() string {
	return percent(b.Lost) + " of the gradients were 0 already, which the run in float16 may have flushed: record a run in float32 to count them, or see diagnose.Gradients"
}

func (b Band) text() string {
	of := "parameters' gradients"
	if b.Activations {
		of = "all gradients"
	}
	text := fmt.Sprintf("%v: no scale from 1 to 2²⁴ is safe for %s", b.Format, of)
	if b.High > 0 {
		text = fmt.Sprintf("%v: %s are safe from scale %s to %s", b.Format, of, scaleText(b.Low), scaleText(b.High))
		if b.High == 1<<maxScale {
			text += ", the largest tried"
		}
	}
	switch {
	case b.Static == 0:
	case b.Low == 1 && b.Format.max > Float16.max:
		text += "; they need no loss scale"
	case b.Low > 0 && b.Static >= b.Low:
		of := ""
		if b.Static == defaultScale {
			of = ", the default of amp.NewGradScaler"
		}
		text += fmt.Sprintf("; as a fixed scale for the whole run: %s%s, a factor of %s below overflow at %.4g", scaleText(b.Static), of, number(math.Floor(b.Limit/b.Static)), b.Limit)
	default:
		text += fmt.Sprintf("; gradients overflow from %.4g, so no safe scale leaves a factor of %d: use amp.NewGradScaler(), which adapts the scale, or a format with a wider range", b.Limit, headroom)
	}
	return text
}

package chart

import (
	"fmt"
	"math"
	"strconv"
	"strings"

	"gonum.org/v1/plot"

	"halfnote/internal/text"
)

// scaleText formats a loss scale, with powers of two in exponent form.
func scaleText(v float64) string {
	if f, e := math.Frexp(v); f == .5 {
		return text.Power(2, e-1)
	}
	return short(v)
}

// short formats v with four significant digits.
func short(v float64) string {
	switch {
	case v == 0: // prints −0 as 0
		return "0"
	case math.IsInf(v, 1):
		return "∞"
	case math.IsInf(v, -1):
		return "−∞"
	case v != v:
		return "NaN"
	case math.Abs(v) >= 1e15 || math.Abs(v) < 1e-4:
		digits, e, _ := strings.Cut(strconv.FormatFloat(v, 'e', 2, 64), "e")
		n, _ := strconv.Atoi(e)
		return strings.Replace(digits, "-", "−", 1) + "·" + text.Power(10, n)
	}
	decimals := min(max(3-int(math.Floor(math.Log10(math.Abs(v)))), 0), 7)
	s := strconv.FormatFloat(v, 'f', decimals, 64)
	if decimals > 0 {
		s = strings.TrimRight(strings.TrimRight(s, "0"), ".")
	}
	return strings.Replace(s, "-", "−", 1)
}

// amount formats v with an SI prefix and its unit: "1.5 MB".
func amount(v float64, unit string) string {
	prefix := ""
	for _, p := range []string{"k", "M", "G", "T", "P", "E"} {
		if !(v >= 1000) {
			break
		}
		v, prefix = v/1000, p
	}
	return fmt.Sprintf("%.3g %s%s", v, prefix, unit)
}

// ratioText formats a ratio.
func ratioText(r float64) string {
	switch {
	case r-r != 0:
		return words.rateUnknown
	case r > 0 && r < .005:
		return "<0.01×"
	}
	return strconv.FormatFloat(r, 'f', 2, 64) + "×"
}

// percent formats the share of n in all. A nonzero share is never shown as 0.
func percent(n, all int) string {
	p := 100 * float64(n) / float64(max(all, 1))
	switch {
	case n == 0:
		return "0 %"
	case p < .1:
		return "<0.1 %"
	case p < 10:
		return strconv.FormatFloat(p, 'f', 1, 64) + " %"
	}
	return strconv.FormatFloat(p, 'f', 0, 64) + " %"
}

var nan = math.NaN()

func finite(v float64) bool { return v-v == 0 }

// powerTicks marks at most about eight exponents of an axis of logarithms. A plot.LogScale would
// panic on zero.
type powerTicks struct{ base int }

func (t powerTicks) Ticks(lo, hi float64) (ticks []plot.Tick) {
	step := 1
	for (hi-lo)/float64(step) > 8 {
		step *= 2
	}
	for e := int(math.Ceil(lo)); e <= int(math.Floor(hi)); e++ {
		if e%step == 0 {
			ticks = append(ticks, plot.Tick{Value: float64(e), Label: text.Power(t.base, e)})
		}
	}
	return ticks
}

// roundTicks marks about n round values, or only whole ones.
type roundTicks struct {
	n     int
	whole bool
}

func (t roundTicks) Ticks(lo, hi float64) (ticks []plot.Tick) {
	if !(hi > lo) || !finite(hi-lo) {
		return nil
	}
	step := math.Pow(10, math.Floor(math.Log10((hi-lo)/float64(t.n))))
	for _, m := range []float64{2, 2.5, 2} { // 1, 2, 5, 10
		if (hi-lo)/step > float64(t.n) {
			step *= m
		}
	}
	if t.whole {
		step = max(step, 1)
	}
	first := math.Ceil(lo / step)
	for i := range 2 * t.n { // a bound, for steps smaller than the distance between numbers near lo
		v := (first + float64(i)) * step
		if v > hi {
			break
		}
		if label := tickText(v, step); len(ticks) == 0 || ticks[len(ticks)-1].Label != label {
			ticks = append(ticks, plot.Tick{Value: v, Label: label})
		}
	}
	return ticks
}

// tickText formats a value of an axis with marks at multiples of a step, with the digits that the step needs.
func tickText(v, step float64) string {
	label := short(v)
	shown, err := strconv.ParseFloat(strings.Replace(label, "−", "-", 1), 64)
	if err != nil || math.Abs(shown-v) <= step/100 { // a label with an exponent is not read
		return label
	}
	decimals := max(-int(math.Floor(math.Log10(step)+1e-9)), 0)
	if decimals > 9 {
		return label
	}
	return strings.Replace(strconv.FormatFloat(v, 'f', decimals, 64), "-", "−", 1)
}

// orZero returns v, or 0 in place of a number that is not finite.
func orZero(v float64) float64 {
	if !finite(v) {
		return 0
	}
	return v
}

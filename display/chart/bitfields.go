package chart

import (
	"fmt"
	"math"
	"strconv"
	"strings"
)

// StoredBits is a value as a floating-point format stores it.
type StoredBits struct {
	Name     string  // format, for example "float16", which selects the colour
	Exponent int     // number of exponent bits
	Mantissa int     // number of mantissa bits
	Bits     uint64  // bit pattern: the sign, the exponent and the mantissa, which ends with the lowest bit
	Value    float64 // the stored value
	ULP      float64 // its difference from the value given, in units in the last place
}

// BitFields shows the bits of x in several formats below each other: sign, exponent and mantissa, the stored
// value, and its error in units in the last place.
func BitFields(x float64, formats []StoredBits) *Figure {
	var list []StoredBits
	for _, f := range formats {
		if f.Exponent > 0 && f.Mantissa >= 0 && f.Exponent+f.Mantissa < 64 && f.Exponent < 16 && len(list) < lineFormats {
			list = append(list, f)
		}
	}
	if len(list) == 0 {
		return blank(fmt.Sprintf(words.bitsNone, digits(x)))
	}
	v := view{x: scale{bare: true}, y: scale{lo: -1}, height: bitRow*len(list) + bitRow/2, right: 118, least: 420,
		facts: []fact{{"format", words.headFormat}, {"field", words.headPart}, {"bit", words.headBit}, {"worth", words.headWorth}, {"value", words.headValue}, {"ulp", words.headULP}}}
	widest, longest := 0, 0
	for _, f := range list {
		widest, longest = max(widest, f.Exponent), max(longest, f.Mantissa)
	}
	wide := widest+longest > 48 // the cells are too narrow for digits
	v.x.lo, v.x.hi = -float64(widest)-1-2*bitGap, float64(longest)
	cells := layer{mark: rects{}, small: true}
	notes, errors := layer{mark: texts{align: 1, side: rightOf}}, layer{mark: texts{align: 1, side: rightOf}, small: true}
	var rows [][]any
	for i, f := range list {
		d, _ := dtypeOf(f.Name)
		v.y.names = append(v.y.names, f.Name)
		v.kinds = append(v.kinds, kind{name: fmt.Sprint(i, " ", f.Name), color: d.color, quiet: true})
		cell := func(at float64, field string, bit int, worth string, faint bool, color role) {
			value := int(f.Bits >> bit & 1)
			text := strconv.Itoa(value)
			if wide {
				text = ""
			}
			cells.rows = append(cells.rows, row{x: at + .04, x2: at + .96, y: float64(i) - .34, y2: float64(i) + .34, kind: i, faint: faint, color: color, text: text,
				facts: []any{f.Name, field, value, worth, f.Value, f.ULP}})
		}
		bias := 1<<(f.Exponent-1) - 1
		power := int(f.Bits>>f.Mantissa&(1<<f.Exponent-1)) - bias
		special, subnormal := f.special(), power == -bias
		if subnormal {
			power++
		}
		cell(v.x.lo, words.bitsSign, f.Exponent+f.Mantissa, "±", true, d.color)
		for b := range f.Exponent {
			cell(float64(b-f.Exponent)-bitGap, words.bitsExponent, f.Exponent+f.Mantissa-1-b, words.bitsExponent+" "+strconv.Itoa(1<<(f.Exponent-1-b)), false, d.color)
		}
		for b := range f.Mantissa {
			worth := "–"
			if !special {
				worth = scaleText(math.Ldexp(1, power-1-b))
			}
			cell(float64(b), words.bitsMantissa, f.Mantissa-1-b, worth, true, d.color)
		}
		notes.rows = append(notes.rows, row{y: float64(i) - .17, color: textInk, text: digits(f.Value)})
		errors.rows = append(errors.rows, row{y: float64(i) + .22, color: neutral, text: f.miss(x)})
		rows = append(rows, []any{f.Name, f.pattern(), f.Value, f.ULP})
	}
	head := layer{mark: texts{}, small: true}
	for _, h := range []struct {
		at   float64
		name string
	}{{v.x.lo + .5, words.bitsSign}, {-float64(widest)/2 - bitGap, words.bitsExponent}, {float64(longest) / 2, words.bitsMantissa}} {
		head.rows = append(head.rows, row{x: h.at, y: -.75, color: neutral, text: h.name})
	}
	if wide {
		head.rows = head.rows[1:]
	} else {
		head.rows[0].x += .9 // the column of signs is narrower than its name
	}
	v.layers = []layer{cells, notes, errors, head}
	f := v.figure(bitsSentence(x, list))
	f.head, f.rows = []string{words.headFormat, words.headBits, words.headValue, words.headULP}, rows
	f.data = func() ([]string, [][]any) { return f.head, rows }
	return f
}

// Dimensions of bit fields.
const (
	bitRow = 34 // height of a row
	bitGap = .5 // gap between the fields, in bits
)

// special reports whether all exponent bits are set and the value is not finite.
func (f StoredBits) special() bool { return !finite(f.Value) }

// pattern returns the bits with gaps between the fields.
func (f StoredBits) pattern() string {
	all := fmt.Sprintf("%0*b", 1+f.Exponent+f.Mantissa, f.Bits&(1<<(1+f.Exponent+f.Mantissa)-1))
	return all[:1] + " " + all[1:1+f.Exponent] + " " + all[1+f.Exponent:]
}

// miss returns the error of a stored value in words.
func (f StoredBits) miss(x float64) string {
	switch {
	case f.Value == x || f.Value != f.Value && x != x:
		return words.bitsExact
	case !finite(f.Value) && finite(x):
		return words.sweepOver
	case f.Value == 0:
		return words.sweepFlushed
	case !finite(f.ULP) || !finite(x):
		return words.rateUnknown
	}
	sign := "+"
	if f.ULP < 0 {
		sign = "−"
	}
	return fmt.Sprintf(words.bitsULP, sign, short(math.Abs(f.ULP)))
}

func bitsSentence(x float64, list []StoredBits) string {
	var exact, other []string
	for _, f := range list {
		if f.miss(x) == words.bitsExact {
			exact = append(exact, f.Name)
		} else {
			other = append(other, fmt.Sprintf(words.bitsIn, digits(f.Value), f.Name))
		}
	}
	switch {
	case len(other) == 0:
		return fmt.Sprintf(words.bitsAll, digits(x))
	case len(exact) == 0:
		return fmt.Sprintf(words.bitsBecomes, digits(x), strings.Join(other, words.listAnd))
	}
	return fmt.Sprintf(words.bitsSome, digits(x), strings.Join(exact, words.listAnd), strings.Join(other, words.listAnd))
}

// digits formats v with up to nine digits, which tell any two float32 numbers apart.
func digits(v float64) string {
	if !finite(v) || v == 0 {
		return short(v)
	}
	return strings.ReplaceAll(strconv.FormatFloat(v, 'g', 9, 64), "-", "−")
}

package quant

// Cast stores each number in a narrow format, without scales. To float8_e4m3fn with Saturate, and to torch's other formats with Special,
// it is torch's conversion.
type Cast struct {
	Element  Format
	Rounding Rounding // Nearest by default
	Overflow Overflow // Saturate by default
}

// String returns the format and the rules that are not the default.
func (c Cast) String() string {
	over := ""
	if c.Overflow != Saturate {
		over = ", " + c.Overflow.String()
	}
	if text := roundingSuffix(c.Rounding) + over; text != "" {
		return c.Element.String() + " (" + text[2:] + ")"
	}
	return c.Element.String()
}

func (c Cast) plan() (plan, error) {
	c.Element.spec() // panics for an unknown format
	return plan{element: c.Element, rounding: c.Rounding, overflow: c.Overflow}, nil
}

package testenv

import (
	"fmt"
	"math"
	"regexp"
	"strconv"
	"strings"
)

// pages are the backgrounds of JupyterLab 4's light and dark theme: the page, and each second row of a table.
var pages = []string{"#ffffff", "#f5f5f5", "#111111", "#212121"}

var (
	styleAttr = regexp.MustCompile(`style="([^"]*)"`)
	hexColour = regexp.MustCompile(`^#[0-9a-fA-F]{6}$`)
	sgrColour = regexp.MustCompile("\x1b\\[([0-9;]*)m")
)

// LowContrast returns the colours of text in HTML's inline styles, or in the escape sequences of a
// terminal, whose contrast is below 4.5:1 (WCAG 2, success criterion 1.4.3) with their own
// background or, without one, with a page of JupyterLab's light or dark theme.
func LowContrast(text string) (low []string) {
	judge := func(what, colour, background string) {
		on := pages
		if background != "" {
			on = []string{background}
		}
		for _, page := range on {
			if r := contrast(colour, page); !(r >= 4.5) {
				low = append(low, fmt.Sprintf("%s: %.1f:1 on %s", what, r, page))
			}
		}
	}
	for _, m := range styleAttr.FindAllStringSubmatch(text, -1) {
		colour, background := "", ""
		for _, d := range strings.Split(m[1], ";") {
			name, value, _ := strings.Cut(d, ":")
			switch strings.TrimSpace(name) {
			case "color":
				colour = strings.TrimSpace(value)
			case "background", "background-color":
				background = strings.TrimSpace(value)
			}
		}
		if colour != "" {
			judge(m[1], colour, background)
		} else if background != "" {
			low = append(low, m[1]+": a background without a colour of its text")
		}
	}
	for _, m := range sgrColour.FindAllStringSubmatch(text, -1) {
		colour, background := "", ""
		codes := strings.Split(m[1], ";")
		for i := 0; i < len(codes); i++ {
			n, _ := strconv.Atoi(codes[i])
			switch {
			case (n == 38 || n == 48) && i+2 < len(codes) && codes[i+1] == "5":
				of256, _ := strconv.Atoi(codes[i+2])
				if n == 38 {
					colour = cube(of256)
				} else {
					background = cube(of256)
				}
				i += 2
			case n >= 30 && n <= 49 || n >= 90 && n <= 107: // front ends choose these
				low = append(low, fmt.Sprintf("escape sequence %s: the contrast depends on the front end", m[1]))
			}
		}
		if colour != "" || background != "" {
			judge("escape sequence "+m[1], colour, background)
		}
	}
	return low
}

// contrast returns the contrast ratio of two colours #rrggbb, or NaN for other texts.
func contrast(a, b string) float64 {
	x, y := luminance(a), luminance(b)
	return (math.Max(x, y) + .05) / (math.Min(x, y) + .05)
}

// luminance is the relative luminance of WCAG 2.
func luminance(colour string) float64 {
	if !hexColour.MatchString(colour) {
		return math.NaN()
	}
	n, _ := strconv.ParseUint(colour[1:], 16, 32)
	l := 0.
	for i, weight := range []float64{.0722, .7152, .2126} {
		v := float64(n>>(8*i)&255) / 255
		if v <= .04045 {
			v /= 12.92
		} else {
			v = math.Pow((v+.055)/1.055, 2.4)
		}
		l += weight * v
	}
	return l
}

// cube returns a colour of xterm's 6 × 6 × 6 cube, codes 16 to 231, as #rrggbb.
func cube(n int) string {
	if n < 16 || n > 231 {
		return ""
	}
	level := func(i int) int {
		if i == 0 {
			return 0
		}
		return 55 + 40*i
	}
	n -= 16
	return fmt.Sprintf("#%02x%02x%02x", level(n/36), level(n/6%6), level(n%6))
}

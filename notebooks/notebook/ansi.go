package notebook

import (
	"fmt"
	"html"
	"regexp"
	"strconv"
	"strings"
)

// escape matches the escape sequences of a terminal: ECMA-48 control sequences, operating
// system commands and others. Only SGR ("m") has a meaning here.
var escape = regexp.MustCompile("\x1b(?:\\[([0-9;:]*)([ -/]*[@-~]|[<=>?][0-9;]*[@-~])|\\][^\x07\x1b]*(?:\x07|\x1b\\\\)|[@-Z\\\\^_=>])")

// ansiHTML returns terminal text as HTML: SGR colours become spans, other escape
// sequences are removed.
func ansiHTML(text string) string {
	var b strings.Builder
	var now sgr
	open := false
	put := func(s string) {
		if s == "" {
			return
		}
		attrs := now.attributes()
		if open = attrs != ""; open {
			b.WriteString("<span" + attrs + ">")
		}
		b.WriteString(html.EscapeString(s))
		if open {
			b.WriteString("</span>")
		}
	}
	done := 0
	for _, m := range escape.FindAllStringSubmatchIndex(text, -1) {
		put(text[done:m[0]])
		done = m[1]
		if m[4] >= 0 && text[m[4]:m[5]] == "m" {
			now.apply(text[m[2]:m[3]])
		}
	}
	put(text[done:])
	return strings.Map(func(r rune) rune {
		if r < ' ' && r != '\n' && r != '\t' {
			return -1
		}
		return r
	}, b.String())
}

// sgr is the state that the sequences "select graphic rendition" set.
type sgr struct {
	fg, bg                           string // "" or an attribute value: "3" of 16 colours, "#rrggbb"
	bold, faint, italic, under, swap bool
}

func (s *sgr) apply(params string) {
	var codes []int
	for _, p := range strings.FieldsFunc(params+";", func(r rune) bool { return r == ';' || r == ':' }) {
		n, _ := strconv.Atoi(p)
		codes = append(codes, n)
	}
	if len(codes) == 0 {
		codes = []int{0}
	}
	for i := 0; i < len(codes); i++ {
		switch c := codes[i]; {
		case c == 0:
			*s = sgr{}
		case c == 1:
			s.bold = true
		case c == 2:
			s.faint = true
		case c == 3:
			s.italic = true
		case c == 4:
			s.under = true
		case c == 7:
			s.swap = true
		case c == 22:
			s.bold, s.faint = false, false
		case c == 23:
			s.italic = false
		case c == 24:
			s.under = false
		case c == 27:
			s.swap = false
		case c >= 30 && c <= 37:
			s.fg = strconv.Itoa(c - 30)
		case c >= 90 && c <= 97:
			s.fg = strconv.Itoa(c - 90 + 8)
		case c >= 40 && c <= 47:
			s.bg = strconv.Itoa(c - 40)
		case c >= 100 && c <= 107:
			s.bg = strconv.Itoa(c - 100 + 8)
		case c == 39:
			s.fg = ""
		case c == 49:
			s.bg = ""
		case c == 38 || c == 48:
			colour, used := longColour(codes[i+1:])
			i += used
			if c == 38 {
				s.fg = colour
			} else {
				s.bg = colour
			}
		}
	}
}

// longColour reads "5;n", one of 256 colours, or "2;r;g;b". It returns the number of
// codes that it has read.
func longColour(codes []int) (string, int) {
	switch {
	case len(codes) >= 2 && codes[0] == 5:
		n := codes[1] & 255
		switch {
		case n < 16:
			return strconv.Itoa(n), 2
		case n >= 232:
			grey := 8 + 10*(n-232)
			return fmt.Sprintf("#%02x%02x%02x", grey, grey, grey), 2
		}
		level := func(i int) int { // the cube of xterm: 0, 95, 135, … 255
			if i == 0 {
				return 0
			}
			return 55 + 40*i
		}
		n -= 16
		return fmt.Sprintf("#%02x%02x%02x", level(n/36), level(n/6%6), level(n%6)), 2
	case len(codes) >= 4 && codes[0] == 2:
		return fmt.Sprintf("#%02x%02x%02x", codes[1]&255, codes[2]&255, codes[3]&255), 4
	}
	return "", len(codes)
}

// attributes returns the attributes of a span in the state's style, "" for plain text.
func (s sgr) attributes() string {
	fg, bg := s.fg, s.bg
	var classes, styles []string
	if s.swap {
		if fg, bg = bg, fg; fg == "" && bg == "" {
			classes = append(classes, "swap")
		}
	}
	add := func(on bool, class string) {
		if on {
			classes = append(classes, class)
		}
	}
	add(s.bold, "bold")
	add(s.faint, "faint")
	add(s.italic, "italic")
	add(s.under, "under")
	for _, c := range []struct{ value, class, property string }{{fg, "fg", "color"}, {bg, "bg", "background"}} {
		if strings.HasPrefix(c.value, "#") {
			styles = append(styles, c.property+":"+c.value)
		} else if c.value != "" {
			classes = append(classes, c.class+c.value)
		}
	}
	out := ""
	if classes != nil {
		out += ` class="` + strings.Join(classes, " ") + `"`
	}
	if styles != nil {
		out += ` style="` + strings.Join(styles, ";") + `"`
	}
	return out
}

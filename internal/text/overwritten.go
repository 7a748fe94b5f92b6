package text

import "strings"

// Overwritten applies \b and \r to s: \b removes the last character of the line, \r
// restarts the line unless the line ends there.
func Overwritten(s string) string {
	if !strings.ContainsAny(s, "\b\r") {
		return s
	}
	out := make([]rune, 0, len(s))
	line := 0 // start of the current line in out
	runes := []rune(s)
	for i, r := range runes {
		switch {
		case r == '\b':
			if len(out) > line {
				out = out[:len(out)-1]
			}
		case r == '\r' && i+1 < len(runes) && runes[i+1] != '\n':
			out = out[:line]
		case r == '\n':
			out = append(out, r)
			line = len(out)
		default:
			out = append(out, r)
		}
	}
	return string(out)
}

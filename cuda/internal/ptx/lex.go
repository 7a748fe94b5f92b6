package ptx

import (
	"fmt"
	"strings"
)

// token is a word (a name, number, opcode or directive), a quoted string, or a punctuation
// character.
type token struct {
	text string
	line int
}

// word reports whether c may be part of a name, a number or an opcode.
func word(c byte) bool {
	return c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z' || c >= '0' && c <= '9' || c == '_' || c == '$' || c == '%' || c == '.'
}

// lex splits a module's text into tokens. It drops comments and debugger directives, which take a
// line each.
func lex(text string) (list []token, err error) {
	list = make([]token, 0, len(text)/5)
	line := 1
	for i := 0; i < len(text); {
		switch c := text[i]; {
		case c == '\n':
			line++
			i++
		case c == ' ' || c == '\t' || c == '\r':
			i++
		case strings.HasPrefix(text[i:], "//"):
			i += lineEnd(text[i:])
		case strings.HasPrefix(text[i:], "/*"):
			n := strings.Index(text[i:], "*/")
			if n < 0 {
				return nil, fmt.Errorf("ptx: line %d: unterminated comment", line)
			}
			line += strings.Count(text[i:i+n], "\n")
			i += n + 2
		case c == '"':
			n := strings.IndexByte(text[i+1:], '"')
			if n < 0 {
				return nil, fmt.Errorf("ptx: line %d: unterminated string", line)
			}
			list = append(list, token{text[i : i+n+2], line})
			i += n + 2
		case word(c):
			n := i
			for n < len(text) && (word(text[n]) || strings.HasPrefix(text[n:], "::")) {
				if text[n] == ':' {
					n++
				}
				n++
			}
			switch w := text[i:n]; w {
			case ".loc", ".file":
				i += lineEnd(text[i:])
			default:
				list = append(list, token{w, line})
				i = n
			}
		case strings.IndexByte("{}[]()<>,;:@!|=+-", c) >= 0:
			list = append(list, token{text[i : i+1], line})
			i++
		case c == 0: // end of a C string
			return list, nil
		default:
			return nil, fmt.Errorf("ptx: line %d: unexpected character %q", line, c)
		}
	}
	return list, nil
}

func lineEnd(s string) int {
	if n := strings.IndexByte(s, '\n'); n >= 0 {
		return n
	}
	return len(s)
}

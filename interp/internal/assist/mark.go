package assist

import (
	"strings"
	"unicode/utf8"
)

// mark underlines parameter i of a function's declaration, from 0: the last one for arguments of a variadic parameter. It returns
// the declaration as it is if that has no parameter on one line.
func mark(decl string, i int) string {
	start := strings.Index(decl, "func")
	if start < 0 {
		return decl
	}
	lead := decl[:start]
	line, rest, more := strings.Cut(decl[start:], "\n")
	open := parameters(line)
	if open < 0 {
		return decl
	}
	from, to := 0, 0
	depth, n := 0, 0
	for at := open; at < len(line) && to == 0; at++ {
		switch line[at] {
		case '(', '[', '{':
			if depth++; depth == 1 {
				from = at + 1
			}
		case ')', ']', '}':
			if depth--; depth == 0 {
				to = at
			}
		case ',':
			if depth == 1 {
				if n == i {
					to = at
				} else {
					from = at + 1
				}
				n++
			}
		}
	}
	from += len(line[from:]) - len(strings.TrimLeft(line[from:], " "))
	if to <= from {
		return decl
	}
	carets := strings.Repeat(" ", utf8.RuneCountInString(lead[strings.LastIndexByte(lead, '\n')+1:]+line[:from])) + strings.Repeat("^", utf8.RuneCountInString(line[from:to]))
	marked := lead + line + "\n" + carets
	if more {
		marked += "\n" + rest
	}
	return marked
}

// parameters returns the offset of the parenthesis that begins the parameters of a function's declaration or type, or -1.
func parameters(line string) int {
	at := len("func")
	if strings.HasPrefix(line[at:], " (") { // a receiver
		at = closing(line, at+1)
	}
	for at < len(line) && line[at] != '(' && line[at] != '[' {
		at++
	}
	if at < len(line) && line[at] == '[' { // type parameters
		at = closing(line, at)
	}
	if at >= len(line) || line[at] != '(' {
		return -1
	}
	return at
}

// closing returns the offset behind the parenthesis or bracket that closes the one at an offset.
func closing(line string, at int) int {
	depth := 0
	for ; at < len(line); at++ {
		switch line[at] {
		case '(', '[':
			depth++
		case ')', ']':
			if depth--; depth == 0 {
				return at + 1
			}
		}
	}
	return at
}

package syntax

import (
	"cmp"
	"go/parser"
	"go/scanner"
	"go/token"
	"regexp"
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"
)

// Lexeme is a token with its byte range in the code.
type Lexeme struct {
	Tok        token.Token
	Lit        string
	Start, End int
}

// Lex returns the tokens of code, including comments but not the semicolons that Go
// inserts.
func Lex(code string) []Lexeme {
	file := token.NewFileSet().AddFile("", -1, len(code))
	var s scanner.Scanner
	s.Init(file, []byte(code), nil, scanner.ScanComments)
	var list []Lexeme
	returns := strings.Contains(code, "\r")
	for {
		pos, tok, lit := s.Scan()
		if tok == token.EOF {
			return list
		}
		if tok == token.SEMICOLON && lit != ";" {
			continue
		}
		start := file.Offset(pos)
		end := start + len(cmp.Or(lit, tok.String()))
		if returns { // the scanner drops \r from some literals
			end = start + extent(code[start:], lit, tok)
		}
		list = append(list, Lexeme{tok, lit, start, end})
	}
}

// extent returns the length in bytes of code's first token.
func extent(code, lit string, tok token.Token) int {
	var stop string
	switch {
	case tok == token.STRING && code[0] == '`':
		stop = "`"
	case tok == token.COMMENT && strings.HasPrefix(code, "/*"):
		stop = "*/"
	case tok == token.COMMENT:
		if i := strings.IndexByte(code, '\n'); i >= 0 {
			return i
		}
		return len(code)
	default:
		return len(cmp.Or(lit, tok.String()))
	}
	skip := len(stop)
	if i := strings.Index(code[skip:], stop); i >= 0 {
		return skip + i + len(stop)
	}
	return len(code)
}

// Unterminated reports whether a string literal lacks its closing quote.
func Unterminated(lit string) bool {
	return len(lit) < 2 || lit[len(lit)-1] != lit[0]
}

// Words returns the identifiers of code.
func Words(code string) map[string]bool {
	m := map[string]bool{}
	for _, l := range Lex(code) {
		if l.Tok == token.IDENT {
			m[l.Lit] = true
		}
	}
	return m
}

// brackets returns the closing brackets that code lacks, the innermost first, and the
// end of its last token.
func brackets(code string) (closing string, end int) {
	var open []byte
	for _, l := range Lex(code) {
		if l.Tok == token.COMMENT {
			continue
		}
		end = min(l.End, len(code))
		switch l.Tok {
		case token.LPAREN:
			open = append(open, ')')
		case token.LBRACK:
			open = append(open, ']')
		case token.LBRACE:
			open = append(open, '}')
		case token.RPAREN, token.RBRACK, token.RBRACE:
			if len(open) > 0 {
				open = open[:len(open)-1]
			}
		}
	}
	slices.Reverse(open)
	return string(open), end
}

// Shut closes the open brackets of code, after its last token and after the cursor;
// body is inserted before them.
func Shut(code string, cursor int, body string) string {
	closing, end := brackets(code)
	if end > 0 {
		end = max(end, cursor)
	}
	return code[:end] + body + closing + code[end:]
}

// Settle ends the incomplete statement at the end of code, so that the next line is a
// separate statement in the same block.
func Settle(code string) string {
	closing, _ := brackets(code)
	closing, _, _ = strings.Cut(closing, "}")
	return strings.TrimRight(code, " \t\r\n") + closing + ";\n"
}

// BlankMagic replaces everything that is not Go with spaces: the first word of a line
// that begins with a percent sign, the whole line if it begins with two, commands, and
// question marks at the end. Offsets stay the same.
func BlankMagic(code string) string {
	if rest := strings.TrimLeft(code, " \t\r\n"); strings.HasPrefix(rest, "?") {
		names := strings.TrimLeft(rest, "?")
		code = strings.Repeat(" ", len(code)-len(names)) + names
	}
	if rest := strings.TrimRight(code, " \t\r\n"); strings.HasSuffix(rest, "?") {
		names := strings.TrimRight(rest, "?")
		code = names + strings.Repeat(" ", len(code)-len(names))
	}
	var b strings.Builder
	for line := range strings.Lines(code) {
		if asked, _, ok := Question(line); ok && askable.MatchString(asked) {
			line = strings.ReplaceAll(line, "?", " ")
		}
		word := strings.TrimLeft(line, " \t")
		if strings.HasPrefix(word, "%") {
			stop := " \t\r\n"
			if strings.HasPrefix(word, "%%") {
				stop = "\r\n"
			}
			n := len(line) - len(word)
			for n < len(line) && !strings.ContainsRune(stop, rune(line[n])) {
				n++
			}
			n += len(magicFlags.FindString(line[n:]))
			line = strings.Repeat(" ", n) + line[n:]
		}
		b.WriteString(line)
	}
	return blankCommands(b.String())
}

// blankCommands replaces the lines of commands with spaces.
func blankCommands(code string) string {
	if !strings.Contains(code, "!") {
		return code
	}
	var b strings.Builder
	places := newStatements(code)
	within := false // a command that a backslash continues
	for line := range strings.Lines(code) {
		if word := strings.TrimLeft(line, " \t"); within || strings.HasPrefix(word, "!") && places.mayBegin(b.Len()) {
			if _, err := parser.ParseExpr(word); within || err != nil {
				within = continued(line)
				n := len(strings.TrimRight(line, "\r\n"))
				line = strings.Repeat(" ", n) + line[n:]
				places.skip(b.Len() + len(line))
			}
		}
		b.WriteString(line)
	}
	return b.String()
}

// magicFlags matches the options between a magic's name and its Go, for example -n 3.
var magicFlags = regexp.MustCompile(`^([ \t]+-[a-z]([ \t]*[0-9]+)?)*`)

// OffsetOf returns the byte offset of a line and column, both from 1.
func OffsetOf(code string, line, col int) int {
	off := 0
	for ; line > 1; line-- {
		n := strings.IndexByte(code[off:], '\n')
		if n < 0 {
			break
		}
		off += n + 1
	}
	return off + col - 1
}

// ByteOffset converts an offset in code points to one in bytes.
func ByteOffset(code string, points int) int {
	for i := range code {
		if points <= 0 {
			return i
		}
		points--
	}
	return len(code)
}

// PrefixAt returns the start of the identifier that ends at offset, or offset itself if
// there is none.
func PrefixAt(code string, offset int) int {
	start := offset
	for start > 0 {
		r, n := utf8.DecodeLastRuneInString(code[:start])
		if !IsWord(r) {
			break
		}
		start -= n
	}
	return start
}

// IsWord reports whether an identifier may contain r.
func IsWord(r rune) bool { return r == '_' || unicode.IsLetter(r) || unicode.IsDigit(r) }

// CodeLen returns the offset of the end of the last token that is not a comment.
func CodeLen(text string) (end int) {
	for _, l := range Lex(text) {
		if l.Tok != token.COMMENT && l.Tok != token.SEMICOLON {
			end = l.End
		}
	}
	return end
}

package notebook

import (
	"go/scanner"
	"go/token"
	"go/types"
	"html"
	"strings"
)

// highlightGo returns Go source as HTML. Tokens are in spans with the classes that style.css
// colours. Text that is not Go, such as a magic, is not changed.
func highlightGo(source string) string {
	source = strings.ReplaceAll(source, "\r\n", "\n") // the scanner drops \r from literals
	if strings.ContainsRune(source, '\r') {
		return html.EscapeString(source)
	}
	file := token.NewFileSet().AddFile("", -1, len(source))
	var s scanner.Scanner
	s.Init(file, []byte(source), func(token.Position, string) {}, scanner.ScanComments)
	var b strings.Builder
	done := 0
	for {
		pos, tok, lit := s.Scan()
		if tok == token.EOF {
			break
		}
		class := ""
		start := file.Offset(pos)
		end := start + len(lit)
		switch {
		case tok.IsKeyword():
			class = "k"
		case tok == token.COMMENT:
			class = "c"
		case tok == token.STRING, tok == token.CHAR:
			class = "s"
		case tok.IsLiteral() && tok != token.IDENT:
			class = "n"
		case tok == token.IDENT && types.Universe.Lookup(lit) != nil:
			class = "t"
		case tok == token.IDENT && end < len(source) && source[end] == '(':
			class = "f"
		}
		if class == "" || start < done || end > len(source) || source[start:end] != lit {
			continue
		}
		b.WriteString(html.EscapeString(source[done:start]) + `<span class="` + class + `">` + html.EscapeString(lit) + "</span>")
		done = end
	}
	b.WriteString(html.EscapeString(source[done:]))
	return b.String()
}

package syntax

import (
	"go/ast"
	"go/parser"
	"go/scanner"
	"go/token"
	"regexp"
	"strings"
)

// Segment is a part of a cell: Go, or a magic.
type Segment struct {
	// Code is Go: the segment itself, or the code that the magic applies to. Blank
	// lines and spaces precede it, so that it keeps its place in the cell.
	Code  string
	Magic string // name of the magic, or "" for Go
	Args  string
	// Variable and Assign are "x" and ":=" or "=" in x := !command.
	Variable, Assign string
	Body             string // raw lines below a "%%" magic
	first            bool   // only magics and comments precede it
	Line             int    // line of the magic, from 1
	Lines            int    // its number of lines, without those of Body
	Col              int
}

// Late reports whether a magic for the whole cell follows Go code.
func (g Segment) Late() bool { return g.WholeCell() && !g.first }

// WholeCell reports whether a segment is a magic that applies to the rest of the cell. The line "%%", which begins the statements of
// a cell in GoNB, is not.
func (g Segment) WholeCell() bool { return strings.HasPrefix(g.Magic, "%%") && g.Magic != "%%" }

// magicLine returns a line without the white space around it, and without what GoNB writes before a magic so that it is a comment
// for Go's tools.
func magicLine(line string) string { return strings.TrimPrefix(strings.TrimSpace(line), "//gonb:") }

// Segments splits a cell at its magics: lines that begin with a percent sign or an
// exclamation mark, and lines such as "name?", where a statement could begin. No Go statement begins with a percent
// sign. "!x" is Go if isValue reports that x begins with a value. A cell without magics
// is one segment.
func Segments(code string, isValue func(name string, member bool) bool) []Segment {
	if !mayHoldMagic(code) {
		return []Segment{{Code: code}}
	}
	var list []Segment
	var before, part strings.Builder // blank text before the current segment; its Go
	flush := func() {
		if strings.TrimSpace(part.String()) != "" && !onlyComments(part.String()) {
			list = append(list, Segment{Code: before.String() + part.String()})
		}
	}
	lines := strings.SplitAfter(code, "\n")
	above, first, end := "", true, 0
	places := newStatements(code)
	for i := 0; i < len(lines); i++ {
		line, at := lines[i], i+1
		start := end
		end += len(line)
		text := magicLine(line)
		command, variable, assign := text, "", ""
		if m := capturing.FindStringSubmatch(text); m != nil {
			variable, assign, command = m[1], m[2], m[3]
		}
		asked, marks, asks := Question(text)
		asks = asks && askable.MatchString(asked)
		magic := asks || strings.HasPrefix(text, "%")
		if !magic && !strings.HasPrefix(command, "!") || !places.mayBegin(start) || !magic && goExpr(command, above+part.String(), isValue) {
			part.WriteString(line)
			continue
		}
		if strings.HasPrefix(command, "!") { // a backslash continues a command on the next line
			for continued(lines[i]) && i+1 < len(lines) {
				i++
				end += len(lines[i])
			}
			line = strings.Join(lines[at-1:i+1], "")
			command = strings.TrimRight(command+"\n"+line[len(lines[at-1]):], "\r\n")
		}
		places.skip(end)
		flush()
		above, first = above+part.String(), first && onlyComments(part.String())
		before.WriteString(strings.Repeat("\n", strings.Count(part.String(), "\n")))
		part.Reset()
		g := Segment{Line: at, Lines: i + 2 - at, Col: strings.Index(line, text) + 1, first: first}
		if args, ok := strings.CutPrefix(command, "!"); ok {
			g.Magic, g.Args, g.Variable, g.Assign = "!", strings.TrimSpace(args), variable, assign
		} else if asks {
			g.Magic, g.Args = "%pinfo", asked
			switch {
			case asked == "":
				g.Magic = "%help"
			case marks > 1:
				g.Magic = "%pinfo2"
			}
		} else {
			g.Magic, g.Args, _ = strings.Cut(text, " ")
			g.Args = strings.TrimSpace(g.Args)
		}
		blank := before.String()
		if g.WholeCell() && g.first {
			g.Body = strings.Join(lines[i+1:], "")
			g.Code = blank + "\n" + g.Body
			return append(list, g)
		}
		g.Code = blank + strings.Repeat(" ", max(0, strings.LastIndex(line, g.Args))) + g.Args
		list = append(list, g)
		before.WriteString(strings.Repeat("\n", g.Lines))
	}
	flush()
	if len(list) == 0 {
		return []Segment{{Code: code}}
	}
	return list
}

// continued reports whether a line ends in a backslash.
func continued(line string) bool { return strings.HasSuffix(strings.TrimRight(line, "\r\n"), `\`) }

// askable matches the names and patterns of lines such as "name?".
var askable = regexp.MustCompile(`^(%{0,2}[\pL_*][\pL\pN_.*]*)?$`)

// capturing matches the assignment of a command's output.
var capturing = regexp.MustCompile(`^([\pL_][\pL\pN_]*)\s*(:?=)\s*(!.*)$`)

// mayHoldMagic is a fast pre-check for magics.
func mayHoldMagic(code string) bool {
	for line := range strings.Lines(code) {
		text := magicLine(line)
		if strings.HasPrefix(text, "%") || strings.HasPrefix(text, "!") || strings.HasPrefix(text, "?") || strings.HasSuffix(text, "?") || strings.Contains(text, "!") && capturing.MatchString(text) {
			return true
		}
	}
	return false
}

// statements finds the lines of code at which a statement can begin: no bracket, string or comment is open there, and
// no operator precedes it. It reads the code once.
type statements struct {
	code    string
	bytes   []byte
	from    int // offset at which the scanner has begun
	scanner scanner.Scanner
	file    *token.File
	next    int // offset of the token that has been read and not counted, which is tok
	tok     token.Token
	lit     string
	end     int // of the last token or comment that has been counted
	last    token.Token
	depth   int  // of brackets
	open    bool // a string lacks its end
}

func newStatements(code string) *statements {
	s := &statements{code: code, bytes: []byte(code)}
	s.skip(0)
	return s
}

// skip begins again at an offset, where a statement can begin.
func (s *statements) skip(to int) {
	*s = statements{code: s.code, bytes: s.bytes, from: to, end: to, last: token.SEMICOLON}
	s.file = token.NewFileSet().AddFile("", -1, len(s.code)-to)
	s.scanner.Init(s.file, s.bytes[to:], func(_ token.Position, msg string) { s.open = s.open || strings.Contains(msg, "not terminated") }, scanner.ScanComments)
	s.read()
}

func (s *statements) read() {
	pos, tok, lit := s.scanner.Scan()
	s.next, s.tok, s.lit = s.from+s.file.Offset(pos), tok, lit
}

// mayBegin reports whether a statement can begin at an offset, the start of a line. Offsets must not decrease.
func (s *statements) mayBegin(at int) bool {
	for s.tok != token.EOF && s.next < at {
		switch s.tok {
		case token.LPAREN, token.LBRACE, token.LBRACK:
			s.depth++
		case token.RPAREN, token.RBRACE, token.RBRACK:
			s.depth--
		}
		if s.tok != token.COMMENT {
			s.last = s.tok
		}
		s.end = s.next
		if s.tok == token.STRING || s.tok == token.COMMENT { // the others are on one line
			s.end += extent(s.code[s.next:], s.lit, s.tok)
		}
		s.read()
	}
	return !s.open && s.end <= at && s.depth <= 0 && s.last == token.SEMICOLON
}

func onlyComments(code string) bool {
	only := true
	Scan(code, func(token.Token, string) { only = false }, func(string) { only = false })
	return only
}

// goExpr reports whether a line that begins with an exclamation mark is a Go expression
// and not a command: it parses as one, and begins with a value of the session or a name
// that the cell mentions above.
func goExpr(line, above string, isValue func(name string, member bool) bool) bool {
	e, err := parser.ParseExpr(line)
	if err != nil {
		return false
	}
	member := false
	for {
		switch x := e.(type) {
		case *ast.UnaryExpr:
			e = x.X
		case *ast.ParenExpr:
			e = x.X
		case *ast.StarExpr:
			e = x.X
		case *ast.BinaryExpr:
			e = x.X
		case *ast.CallExpr:
			e = x.Fun
		case *ast.IndexExpr:
			e = x.X
		case *ast.SelectorExpr:
			e, member = x.X, true
		case *ast.Ident:
			found := isValue(x.Name, member)
			Scan(above, func(tok token.Token, lit string) {
				found = found || tok == token.IDENT && lit == x.Name
			}, func(string) {})
			return found
		default:
			return false
		}
	}
}

// Scan calls each for every token of code and fail for every mistake.
func Scan(code string, each func(token.Token, string), fail func(msg string)) {
	var s scanner.Scanner
	s.Init(token.NewFileSet().AddFile("", -1, len(code)), []byte(code), func(_ token.Position, msg string) { fail(msg) }, 0)
	for {
		_, tok, lit := s.Scan()
		if tok == token.EOF {
			return
		}
		each(tok, lit)
	}
}

// Question returns the name and the number of question marks of a cell such as "name?" or "?".
func Question(code string) (name string, marks int, ok bool) {
	code = strings.TrimSpace(code)
	name = strings.Trim(code, "?")
	marks = len(code) - len(name)
	name = strings.TrimSpace(name)
	return name, marks, marks > 0 && !strings.ContainsAny(name, " \t\n") && !strings.HasPrefix(name, "//") && !strings.HasPrefix(name, "!")
}

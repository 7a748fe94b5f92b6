// Package syntax reads the text of a cell without type-checking it. It cuts a cell into Go and magics,
// Go into declarations and statements, and these into tokens; it finds names, places and parts of
// lines; and it holds the mistakes that are found at these places. It knows neither the session nor
// what a magic does.
package syntax

import (
	"go/parser"
	"go/scanner"
	"go/token"
	"slices"
	"strings"
)

// Kind is the kind of an item of a cell.
type Kind int

// Kinds of items.
const (
	Import    Kind = iota
	Decl           // type, const, or func with a name
	Statement      // anything else, including var
	Package        // a package clause, which a pasted program may have
)

// Item is a top-level declaration or statement of a cell.
type Item struct {
	Kind      Kind
	Tok       token.Token // first token
	Text      string
	Line, Col int // position in the cell, from 1
	Off       int // offset in the cell
}

// Pieces is a cell cut into its items.
type Pieces struct {
	Items []Item
	// Suppressed reports whether the cell ends with a semicolon, which suppresses its value.
	Suppressed bool
	// Errs holds mistakes that leave the extent of items unknown.
	Errs []Problem
}

// HasStatements reports whether an item is a statement.
func (p Pieces) HasStatements() bool {
	return slices.ContainsFunc(p.Items, func(it Item) bool { return it.Kind == Statement })
}

// splitter cuts at semicolons outside all brackets, including those that Go inserts, so
// that imports, declarations and statements may come in any order.
type splitter struct {
	src   string
	file  *token.File
	out   Pieces
	start int // offset of the current item, or -1
	toks  []token.Token
	open  []token.Pos // brackets not closed yet
	kinds []token.Token
	// header reports whether the item is a for, if or switch statement before its body,
	// where a semicolon separates clauses. bodies counts the coming braces that open
	// something else: the body of a function literal or a struct type.
	header bool
	bodies int
}

// Split cuts a cell of Go, without magics, into its items.
func Split(src string) Pieces {
	p := splitter{src: src, start: -1}
	p.file = token.NewFileSet().AddFile("", -1, len(src))
	var s scanner.Scanner
	s.Init(p.file, []byte(src), func(pos token.Position, msg string) {
		at := p.file.PositionFor(p.file.Pos(pos.Offset), false)
		p.out.Errs = append(p.out.Errs, Problem{Line: at.Line, Col: at.Column, Msg: msg})
	}, scanner.ScanComments)
	comment := -1 // start of a multi-line comment after the last token
	for {
		pos, tok, lit := s.Scan()
		off := p.file.Offset(pos)
		if tok == token.COMMENT {
			if comment < 0 && strings.Contains(lit, "\n") {
				comment = off
			}
			continue
		}
		if tok == token.SEMICOLON && lit == "\n" && comment >= 0 {
			off = comment // Go puts the semicolon inside it
		}
		comment = -1
		if tok == token.EOF {
			p.flush(len(src))
			break
		}
		if tok == token.SEMICOLON && len(p.open) == 0 && !(p.header && lit == ";") {
			p.flush(off)
			p.out.Suppressed = lit == ";"
			continue
		}
		if p.start < 0 {
			p.start = off
		}
		p.watchHeader(tok)
		p.toks = append(p.toks, tok)
		switch tok {
		case token.LPAREN, token.LBRACE, token.LBRACK:
			p.open = append(p.open, pos)
			p.kinds = append(p.kinds, tok)
		case token.RPAREN, token.RBRACE, token.RBRACK:
			p.shut(pos, tok)
		}
	}
	for i, pos := range p.open {
		p.fail(pos, "%s is never closed", p.kinds[i])
	}
	return p.out
}

// watchHeader tracks the header of a statement.
func (p *splitter) watchHeader(tok token.Token) {
	if len(p.open) > 0 {
		return
	}
	switch tok {
	case token.FOR, token.IF, token.SWITCH:
		n := len(p.toks)
		if n == 0 || p.toks[n-1] == token.ELSE || n == 2 && p.toks[1] == token.COLON {
			p.header, p.bodies = true, 0
		}
	case token.FUNC, token.STRUCT, token.INTERFACE:
		p.bodies++
	case token.LBRACE:
		if p.bodies > 0 {
			p.bodies--
		} else {
			p.header = false
		}
	}
}

var closes = map[token.Token]token.Token{
	token.LPAREN: token.RPAREN, token.LBRACE: token.RBRACE, token.LBRACK: token.RBRACK,
}

func (p *splitter) shut(pos token.Pos, tok token.Token) {
	n := len(p.open) - 1
	if n < 0 {
		p.fail(pos, "unmatched %s", tok)
		return
	}
	if closes[p.kinds[n]] != tok {
		p.fail(pos, "%s does not match the %s on line %d", tok, p.kinds[n], p.file.PositionFor(p.open[n], false).Line)
	}
	p.open, p.kinds = p.open[:n], p.kinds[:n]
}

func (p *splitter) fail(pos token.Pos, format string, args ...any) {
	at := p.file.PositionFor(pos, false)
	p.out.Errs = append(p.out.Errs, Problemf(at.Line, at.Column, format, args...))
}

func (p *splitter) flush(end int) {
	if p.start >= 0 {
		at := p.file.PositionFor(p.file.Pos(p.start), false) // position in the cell, ignoring //line
		p.out.Items = append(p.out.Items, Item{
			Kind: kindOf(p.toks), Tok: p.toks[0],
			Text: strings.TrimRight(p.src[p.start:end], " \t\r\n"),
			Line: at.Line, Col: at.Column, Off: p.start,
		})
		p.out.Suppressed = false
	}
	p.start, p.toks, p.header = -1, nil, false
}

// kindOf classifies an item: func f(…), func (r T) m(…) and func (r T) m[P any](…) are declarations, func(…)
// {…}(…) is a statement.
func kindOf(toks []token.Token) Kind {
	switch toks[0] {
	case token.PACKAGE:
		return Package
	case token.IMPORT:
		return Import
	case token.TYPE, token.CONST:
		return Decl
	case token.FUNC:
	default:
		return Statement
	}
	if len(toks) > 1 && toks[1] == token.IDENT {
		return Decl
	}
	depth := 0
	for i, t := range toks[1:] {
		switch t {
		case token.LPAREN:
			depth++
		case token.RPAREN:
			if depth--; depth == 0 {
				if len(toks) > i+3 && toks[i+2] == token.IDENT && (toks[i+3] == token.LPAREN || listed(toks[i+3:])) {
					return Decl
				}
				return Statement
			}
		}
	}
	return Statement
}

// listed reports whether tokens begin with a list in brackets and a list of parameters, as after
// the name of a generic method. After the type List[int] of a literal's result comes its body.
func listed(toks []token.Token) bool {
	depth := 0
	for i, t := range toks {
		switch t {
		case token.LBRACK:
			depth++
		case token.RBRACK:
			depth--
		}
		if depth == 0 {
			return i > 0 && len(toks) > i+1 && toks[i+1] == token.LPAREN
		}
	}
	return false
}

// Holds reports whether the item contains the cursor, a byte offset in the cell.
func (it Item) Holds(cursor int) bool { return it.Off <= cursor && cursor <= it.Off+len(it.Text) }

// Broken reports whether the item fails to parse.
func (it Item) Broken() bool {
	text := "package p;" + it.Text + "\n"
	if it.Kind == Statement {
		text = "package p;func _(){" + it.Text + "\n}\n"
	}
	_, err := parser.ParseFile(token.NewFileSet(), "", text, parser.SkipObjectResolution)
	return err != nil
}

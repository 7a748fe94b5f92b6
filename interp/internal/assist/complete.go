package assist

import (
	"go/ast"
	"go/token"
	"go/types"
	"slices"
	"strconv"
	"strings"
	"unicode"
	"unicode/utf8"

	"halfnote/internal/near"
	"halfnote/interp/internal/syntax"
	"halfnote/kernel/eval"
)

// Complete lists completions of the identifier that ends at cursor, an offset in code points.
func Complete(snap Snapshot, code string, cursor int) eval.Completion {
	c := newCompleter(code, syntax.ByteOffset(code, cursor))
	if !c.gather(snap) {
		return eval.Completion{Start: cursor, End: cursor}
	}
	found := eval.Completion{Start: utf8.RuneCountInString(code[:c.start]), End: cursor}
	slices.SortStableFunc(c.matches, c.compare)
	for _, m := range c.matches {
		found.Matches = append(found.Matches, m.Match)
	}
	return found
}

func newCompleter(code string, end int) *completer {
	start := syntax.PrefixAt(code, end)
	return &completer{code: code, start: start, end: end, prefix: code[start:end], seen: map[string]bool{}}
}

// gather collects the matches. It reports whether something can be completed at the cursor.
func (c *completer) gather(snap Snapshot) bool {
	if r, _ := utf8.DecodeRuneInString(c.prefix); unicode.IsDigit(r) {
		return false
	}
	switch where := c.spot(snap.Magics); where {
	case inText:
		return false
	case inImport:
		c.importPaths(snap.Loader)
	case inMagic:
		c.magics(snap)
	case inString:
		c.check(snap, where)
		c.mapKeys()
		c.fileNames()
	case afterDot:
		c.check(snap, where)
		c.want = c.probe.expects()
		c.members()
	default:
		c.check(snap, where)
		c.want = c.probe.expects()
		if !c.labels() {
			c.choices()
			c.keys()
			c.names()
		}
	}
	return true
}

// spot is the kind of place the cursor is in.
type spot int

const (
	inCode spot = iota
	afterDot
	inImport
	inMagic
	inString
	inText // a comment, a number, or text that is not Go
)

type completer struct {
	code       string
	start, end int // range to replace, in bytes
	prefix     string
	probe      *probe
	want       expected
	matches    []match
	seen       map[string]bool
}

func (c *completer) spot(magics []Magic) spot {
	if at, ok := c.inMagic(magics); ok {
		return at
	}
	code := syntax.BlankMagic(c.code)
	var last syntax.Lexeme
	for _, l := range syntax.Lex(code) {
		if l.Start >= c.end {
			break
		}
		open := l.Tok == token.STRING && syntax.Unterminated(l.Lit) && c.end <= l.End
		switch {
		case l.Tok == token.STRING && (c.end < l.End || open):
			c.start = l.Start + 1
			c.prefix = c.code[c.start:c.end]
			for _, it := range syntax.Split(code).Items {
				if it.Kind == syntax.Import && it.Off <= l.Start && l.Start < it.Off+len(it.Text) {
					return inImport
				}
			}
			return inString
		case l.Tok == token.CHAR && c.end < l.End:
			return inText
		case l.Tok == token.COMMENT && (c.end < l.End || c.end == l.End && (strings.HasPrefix(l.Lit, "//") || !strings.HasSuffix(l.Lit, "*/"))):
			return inText
		case (l.Tok == token.FLOAT || l.Tok == token.INT || l.Tok == token.IMAG) && c.end <= l.End:
			return inText
		}
		if l.Tok != token.COMMENT && l.End <= c.start {
			last = l
		}
	}
	if last.Tok == token.PERIOD {
		return afterDot
	}
	return inCode
}

// cursorName stands for the text that is not yet written after the cursor.
const cursorName = "cursor__"

// check probes the cell with an identifier at the cursor, or with the string at the
// cursor closed. If that fails, it probes other continuations, the likeliest first.
func (c *completer) check(snap Snapshot, where spot) {
	if where == inString {
		code := c.code[:c.end]
		quote := c.code[c.start-1 : c.start]
		c.probe = newProbe(snap, syntax.Shut(code+quote, 0, ""), c.end, nil)
		return
	}
	names := map[string]bool{}
	if where != afterDot {
		for name := range snap.Earlier.Names() {
			if begins(name, c.prefix) {
				names[name] = true
			}
		}
	}
	marked, rest := c.code[:c.end]+cursorName, c.code[c.end:]
	line := strings.LastIndexByte(c.code[:c.end], '\n') + 1
	above := syntax.Settle(c.code[:line])
	for _, v := range []struct {
		code   string
		cursor int
	}{
		{syntax.Shut(marked+rest, 0, ""), c.end},
		{syntax.Shut(marked, 0, ""), c.end},
		{syntax.Shut(marked, 0, " {}"), c.end},
		{syntax.Shut(marked, 0, "") + "()", c.end}, // go and defer require a call
		{syntax.Shut(above+marked[line:], 0, ""), len(above) + c.end - line},
	} {
		p := newProbe(snap, v.code, v.cursor, names)
		if c.probe == nil || p.ident() != nil {
			c.probe = p
		}
		if p.ident() != nil && (where != afterDot || p.known()) {
			return
		}
	}
}

// known reports whether the checker knows the expression before the dot.
func (p *probe) known() bool {
	if len(p.path) < 2 {
		return false
	}
	sel, ok := p.path[1].(*ast.SelectorExpr)
	if !ok {
		return false
	}
	if id, ok := sel.X.(*ast.Ident); ok {
		if _, ok := p.info.Uses[id].(*types.PkgName); ok {
			return true
		}
	}
	return isValid(p.info.Types[sel.X].Type)
}

// match is a completion and its rank.
type match struct {
	eval.Match
	rank   rank
	object types.Object // what the text denotes, or nil
	fit    fit
}

// rank orders matches: members and local names come before universal ones.
type rank int

const (
	rankKey   rank = iota // keys of the literal that the cursor is in
	rankField             // also promoted fields, as keys
	rankMethod
	rankLocal
	rankSession
	rankPackage // packages and predeclared names
	rankKeyword
	rankImport // packages that still need an import
)

// compare puts matching case first, then types where only a type is valid, then what fits
// best.
func (c *completer) compare(a, b match) int {
	order := func(m match) int {
		n := int(m.rank) + 20*int(namedFit-m.fit)
		if c.probe != nil && c.probe.wantsType() && m.Type != "type" && m.Type != "module" {
			n += 100
		}
		if !strings.HasPrefix(m.Text, c.prefix) {
			n += 1000
		}
		return n
	}
	if d := order(a) - order(b); d != 0 {
		return d
	}
	return strings.Compare(a.Text, b.Text)
}

// add offers a name once, if it has the prefix, ignoring case.
func (c *completer) add(r rank, name, kind, signature string) {
	if !strings.Contains(name, "__") && name != "_" { // a name made by the session
		c.offer(r, name, kind, signature)
	}
}

func (c *completer) offer(r rank, name, kind, signature string) {
	if c.seen[name] || !begins(name, c.prefix) {
		return
	}
	c.seen[name] = true
	c.matches = append(c.matches, match{Match: eval.Match{Text: name, Type: kind, Signature: signature}, rank: r})
}

// begins reports whether a name begins with what is written at the cursor, in any case. A prefix with an underscore also stands for
// words without it: manual_s for ManualSeed.
func begins(name, prefix string) bool {
	if len(name) >= len(prefix) && strings.EqualFold(name[:len(prefix)], prefix) {
		return true
	}
	return strings.Contains(strings.TrimLeft(prefix, "_"), "_") && strings.HasPrefix(near.Fold(name), near.Fold(prefix))
}

// quoted returns a name escaped for the string literal that the cursor is in.
func (c *completer) quoted(name string) (string, bool) {
	if c.code[c.start-1] == '`' {
		return name, strconv.CanBackquote(name)
	}
	q := strconv.Quote(name)
	return q[1 : len(q)-1], true
}

package data

import (
	"fmt"
	"strconv"
	"strings"
)

// npyArray holds the fields of a header: numpy/lib/_format_impl.py.
type npyArray struct {
	kind      *element // nil for text
	text      string   // numpy's type of text, such as <U5
	width     int      // bytes of a text
	bigEndian bool
	fortran   bool
	shape     []int
}

// parseNPY parses a header, a Python dictionary literal. With an error it returns its
// position.
func parseNPY(text string) (h npyArray, at int, err error) {
	p := &literal{text: text}
	seen := map[string]bool{}
	p.want("{")
	for !p.has("}") && p.err == nil {
		key := p.quoted()
		if p.err == nil && seen[key] {
			p.fail("the name %s twice", quoted(key))
		}
		seen[key] = true
		p.want(":")
		switch key {
		case "descr":
			p.descr(&h)
		case "fortran_order":
			if h.fortran = p.has("True"); !h.fortran {
				p.want("False")
			}
		case "shape":
			h.shape = p.tuple()
		default:
			p.fail("the name %s", quoted(key))
		}
		if !p.has(",") {
			p.want("}")
			break
		}
	}
	if p.skip(); p.err == nil && p.at < len(text) {
		p.fail("%s after the dictionary", quoted(text[p.at:]))
	}
	if p.err == nil && len(seen) != 3 {
		p.fail("%d of three names", len(seen))
	}
	return h, p.at, p.err
}

// literal reads a Python literal. After the first error it reads nothing.
type literal struct {
	text string
	at   int
	err  error
}

func (p *literal) fail(format string, args ...any) {
	if p.err == nil {
		p.err = fmt.Errorf(format, args...)
	}
}

// refuse is fail for a type of elements.
func (p *literal) refuse(what, want string) {
	if p.err == nil {
		p.err = &npyTypeError{what, want}
	}
}

// npyTypeError is the error of a type that is not read.
type npyTypeError struct{ what, want string }

func (e *npyTypeError) Error() string { return e.what + "; want " + e.want }

func (p *literal) skip() {
	for p.at < len(p.text) && strings.IndexByte(" \t\r\n\f", p.text[p.at]) >= 0 {
		p.at++
	}
}

// has reads token if it comes next, and reports whether it did.
func (p *literal) has(token string) bool {
	p.skip()
	if p.err != nil || !strings.HasPrefix(p.text[p.at:], token) {
		return false
	}
	p.at += len(token)
	return true
}

func (p *literal) want(token string) {
	if !p.has(token) {
		p.fail("%s instead of %s", quoted(p.text[p.at:]), token)
	}
}

// quoted reads a quoted string without escapes.
func (p *literal) quoted() string {
	p.skip()
	rest := p.text[p.at:]
	if p.err == nil && rest != "" && (rest[0] == '\'' || rest[0] == '"') {
		if s, _, ok := strings.Cut(rest[1:], rest[:1]); ok && !strings.Contains(s, `\`) {
			p.at += len(s) + 2
			return s
		}
	}
	p.fail("%s instead of a string", quoted(rest))
	return ""
}

// descr reads an element type: "<f4".
func (p *literal) descr(h *npyArray) {
	p.skip()
	if p.err == nil && strings.HasPrefix(p.text[p.at:], "[") {
		p.refuse("a structured type", "one type of all elements: save its fields apart")
		return
	}
	s := p.quoted()
	if p.err != nil {
		return
	}
	kind := strings.TrimLeft(s, "<>=|")
	h.bigEndian = strings.HasPrefix(s, ">")
	h.kind = find(func(e *element) bool { return e.npy != "" && e.npy == kind && e.dtype != 0 })
	switch {
	case len(s)-len(kind) > 1:
		h.kind = nil
	case h.kind == nil && kind != "":
		bytes, isText := map[byte]int{'S': 1, 'U': 4}[kind[0]]
		if n, err := strconv.ParseUint(kind[1:], 10, 24); isText && err == nil {
			h.text, h.width = s, bytes*int(n)
			return
		}
	}
	if h.kind == nil {
		p.refuse("elements of type "+quoted(s), "one of "+readable(func(e *element) string { return e.npy })+": convert with astype")
	}
}

// tuple reads nonnegative integers; Python 2 wrote an L after long ones.
func (p *literal) tuple() []int {
	list := []int{}
	p.want("(")
	for !p.has(")") && p.err == nil {
		p.skip()
		digits := p.at
		for p.at < len(p.text) && p.text[p.at] >= '0' && p.text[p.at] <= '9' {
			p.at++
		}
		n, err := strconv.ParseUint(p.text[digits:p.at], 10, 62)
		if err != nil {
			p.fail("%s instead of a size", quoted(p.text[digits:]))
		}
		list = append(list, int(n))
		p.has("L")
		if !p.has(",") {
			p.want(")")
			break
		}
	}
	return list
}

package exercise

import (
	"math"
	"strconv"
	"strings"
	"unicode"
	"unicode/utf8"
)

// evaluate returns the value of an arithmetic expression: numbers, variables, + - * / and ^ (or **) for powers,
// parentheses, the functions sqrt, exp, log, log2 and abs, and the constants pi, e and inf.
func evaluate(expression string, variables map[string]float64) (float64, error) {
	p := &parser{rest: strings.ReplaceAll(expression, "**", "^"), variables: variables}
	v := p.sum()
	if p.peek() != 0 && p.err == nil {
		p.fail("unexpected %q", p.rest)
	}
	if p.err != nil {
		return 0, complain("cannot read %q as a number: %v", expression, p.err)
	}
	return v, nil
}

// parser is a recursive descent parser that computes while it reads. After an error it reads nothing more.
type parser struct {
	rest      string
	variables map[string]float64
	err       error
	depth     int
}

const deepest = 100 // nested parentheses and signs

func (p *parser) fail(format string, args ...any) {
	if p.err == nil {
		p.err = complain(format, args...)
	}
	p.rest = ""
}

// peek returns the next character that is not a space, or 0 at the end.
func (p *parser) peek() rune {
	p.rest = strings.TrimLeftFunc(p.rest, unicode.IsSpace)
	if p.rest == "" {
		return 0
	}
	r, _ := utf8.DecodeRuneInString(p.rest)
	return r
}

// accept reads the next character if it is one of set.
func (p *parser) accept(set string) rune {
	r := p.peek()
	if r == 0 || !strings.ContainsRune(set, r) {
		return 0
	}
	p.rest = p.rest[utf8.RuneLen(r):]
	return r
}

func (p *parser) sum() float64 {
	v := p.product()
	for {
		switch p.accept("+-−") {
		case '+':
			v += p.product()
		case '-', '−':
			v -= p.product()
		default:
			return v
		}
	}
}

func (p *parser) product() float64 {
	v := p.signed()
	for {
		switch p.accept("*·×/") {
		case '*', '·', '×':
			v *= p.signed()
		case '/':
			v /= p.signed()
		default:
			if r := p.peek(); r == '(' || unicode.IsLetter(r) || unicode.IsDigit(r) {
				p.fail("want an operator, such as *, before %q", p.rest)
			}
			return v
		}
	}
}

func (p *parser) signed() float64 {
	if p.depth++; p.depth > deepest {
		p.fail("too deeply nested")
		return 0
	}
	defer func() { p.depth-- }()
	switch p.accept("+-−") {
	case '+':
		return p.signed()
	case '-', '−':
		return -p.signed()
	}
	return p.power()
}

func (p *parser) power() float64 {
	v := p.operand()
	if p.accept("^") != 0 {
		return math.Pow(v, p.signed())
	}
	return v
}

var constants = map[string]float64{"pi": math.Pi, "e": math.E, "inf": math.Inf(1), "nan": math.NaN()}

var functions = map[string]func(float64) float64{"sqrt": math.Sqrt, "exp": math.Exp, "log": math.Log, "log2": math.Log2, "abs": math.Abs}

func (p *parser) operand() float64 {
	r := p.peek()
	switch {
	case r == '(':
		return p.parenthesised()
	case unicode.IsDigit(r) || r == '.':
		return p.literal()
	case unicode.IsLetter(r):
		end := strings.IndexFunc(p.rest, func(r rune) bool { return !unicode.IsLetter(r) && !unicode.IsDigit(r) && r != '_' })
		if end < 0 {
			end = len(p.rest)
		}
		name := p.rest[:end]
		p.rest = p.rest[end:]
		if v, ok := p.variables[name]; ok {
			return v
		}
		if f := functions[strings.ToLower(name)]; f != nil && p.peek() == '(' {
			return f(p.parenthesised())
		}
		if v, ok := constants[strings.ToLower(name)]; ok {
			return v
		}
		p.fail("unknown name %q", name)
	case r == 0:
		p.fail("it ends too early")
	default:
		p.fail("unexpected %q", r)
	}
	return 0
}

func (p *parser) parenthesised() float64 {
	p.accept("(")
	v := p.sum()
	if p.accept(")") == 0 {
		p.fail("a parenthesis is not closed")
	}
	return v
}

// literal reads the longest number: digits, a point, and an exponent.
func (p *parser) literal() float64 {
	end := 0
	digits := func() {
		for end < len(p.rest) && (p.rest[end] >= '0' && p.rest[end] <= '9' || p.rest[end] == '_') {
			end++
		}
	}
	digits()
	if end < len(p.rest) && p.rest[end] == '.' {
		end++
		digits()
	}
	if rest := p.rest[end:]; len(rest) > 1 && (rest[0] == 'e' || rest[0] == 'E') {
		sign := strings.TrimLeft(rest[1:], "+-")
		if len(rest)-1-len(sign) <= 1 && sign != "" && sign[0] >= '0' && sign[0] <= '9' {
			end += len(rest) - len(sign)
			digits()
		}
	}
	v, err := strconv.ParseFloat(strings.ReplaceAll(p.rest[:end], "_", ""), 64)
	if err != nil && !math.IsInf(v, 0) {
		p.fail("%q is not a number", p.rest[:end])
		return 0
	}
	p.rest = p.rest[end:]
	return v
}

package interp

import (
	"bytes"
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"os/exec"
	"strings"

	"halfnote/kernel"
)

func (s *Session) magicBash(c call) kernel.Result { return s.script(c, "bash") }

func (s *Session) magicSh(c call) kernel.Result { return s.script(c, "sh") }

// pythons lists the names of Python; the first one found is used.
var pythons = []string{"python3", "python"}

func (s *Session) magicPython(c call) kernel.Result { return s.script(c, pythons...) }

func (s *Session) magicScript(c call) kernel.Result { return s.script(c) }

// script runs a program on the lines below the magic. The program is the first of programs
// that exists or, without any, the first word. As in IPython, the program reads the lines
// from its standard input, braces in the magic's own line are filled, and those in the
// lines below are not. A shell without arguments is given the lines as an argument, so that
// its commands have an empty input.
func (s *Session) script(c call, programs ...string) kernel.Result {
	name := "%%script"
	if len(programs) > 0 {
		name = "%%" + strings.TrimRight(programs[0], "0123456789")
	}
	line, no := s.fill(c, -1)
	if no != nil {
		return kernel.Result{Err: no}
	}
	words := strings.Fields(line)
	var out, errs string
	for len(words) > 0 {
		option, value, ok := strings.Cut(words[0], "=")
		if option != "--out" && option != "--err" {
			break
		}
		if words = words[1:]; !ok && len(words) > 0 {
			value, words = words[0], words[1:]
		}
		if !token.IsIdentifier(value) {
			return s.wrong(c, "%s %s: want the name of a variable after %s", name, c.args, option)
		}
		if option == "--out" {
			out, c.captured = value, &bytes.Buffer{}
		} else {
			errs, c.capturedErr = value, &bytes.Buffer{}
		}
	}
	if len(programs) == 0 {
		if len(words) == 0 {
			return s.wrong(c, "%s: want a program that reads the lines below", name)
		}
		programs, words = words[:1], words[1:]
	}
	path, err := lookPath(programs...)
	if err != nil {
		return s.wrong(c, "%v", err)
	}
	cmd := exec.Command(path, words...)
	if isShell := programs[0] == "bash" || programs[0] == "sh"; isShell && len(words) == 0 {
		cmd.Args = append(cmd.Args, "-c", c.in.Code)
	} else {
		cmd.Stdin = strings.NewReader(c.body)
	}
	r := s.command(c, cmd)
	for _, v := range []struct {
		name string
		text *bytes.Buffer
	}{{out, c.captured}, {errs, c.capturedErr}} {
		if v.name == "" {
			continue
		}
		if assigned := s.assignLines(c, v.name, ":=", 0, v.text); r.Err == nil {
			r.Err = assigned.Err
		}
	}
	return r
}

// fill returns the arguments of a magic with every "{expression}" of Go replaced by its
// value's text, as in IPython. at is the offset of the arguments in the call's code, or -1
// if they are not in it. Braces that belong to the shell stay: after a dollar sign, or around
// anything but an expression that has a value here and names a variable, constant or
// function. "{{expression}}" becomes "{expression}".
func (s *Session) fill(c call, at int) (string, *kernel.Error) {
	var b strings.Builder
	text := c.args
	for i := 0; i < len(text); i++ {
		if text[i] != '{' || i > 0 && text[i-1] == '$' {
			b.WriteByte(text[i])
			continue
		}
		if strings.HasPrefix(text[i:], "{{") {
			if end := closing(text, i+1); end > 0 && strings.HasPrefix(text[end:], "}}") && s.namesValue(text[i+2:end]) {
				b.WriteString(text[i+1 : end+1])
				i = end + 1
				continue
			}
		}
		end := closing(text, i)
		if end < 0 || !s.namesValue(text[i+1:end]) {
			b.WriteByte('{')
			continue
		}
		value, ok, err := s.valueText(c, text[i+1:end], at+i+1)
		if err != nil {
			return "", err
		}
		if !ok {
			b.WriteByte('{')
			continue
		}
		b.WriteString(value)
		i = end
	}
	return b.String(), nil
}

// closing returns the offset of the brace that closes the one at start, or -1.
func closing(text string, start int) int {
	depth := 0
	for i := start; i < len(text); i++ {
		switch text[i] {
		case '{':
			depth++
		case '}':
			if depth--; depth == 0 {
				return i
			}
		}
	}
	return -1
}

// namesValue reports whether text is an expression that names something of the session.
func (s *Session) namesValue(text string) bool {
	e, err := parser.ParseExpr(text)
	if err != nil {
		return false
	}
	found := false
	var visit func(n ast.Node) bool
	visit = func(n ast.Node) bool {
		switch n := n.(type) {
		case *ast.SelectorExpr:
			if id, ok := n.X.(*ast.Ident); ok {
				found = found || s.isValue(id.Name, true)
			} else {
				ast.Inspect(n.X, visit)
			}
			return false
		case *ast.Ident:
			found = found || n.Name == "In" || n.Name == "Out" || n.Name != "true" && n.Name != "false" && s.isValue(n.Name, false)
		}
		return true
	}
	ast.Inspect(e, visit)
	return found
}

// valueText returns the text of an expression's value. ok is false if the expression has no
// value here.
func (s *Session) valueText(c call, expr string, at int) (text string, ok bool, failed *kernel.Error) {
	in := c.in
	in.Code = strings.Repeat("\n", c.line-1)
	if at > len(in.Code) {
		in.Code += strings.Repeat(" ", at-len(in.Code))
	}
	in.Code += expr
	x, err := s.steps(c.ctx, in, c.out, "")
	defer s.drop(x, err == errLeft)
	if no, is := err.(*rejected); is && no.name == "CompileError" {
		return "", false, nil
	}
	if err != nil {
		return "", false, s.finish(x, err).Err
	}
	if x.value == nil {
		return "", true, nil
	}
	return fmt.Sprint(x.value.Data["text/plain"]), true, nil
}

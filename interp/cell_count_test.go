package interp

import (
	"context"
	"fmt"
	"strings"
	"testing"

	"halfnote/internal/testenv"
	"halfnote/interp/internal/front"
)

// counted are the packages whose statements TestStatementsOfSource counts: what reads, checks, rewrites and compiles a cell, what completes it and shows help.
const counted = "halfnote/interp,halfnote/interp/internal/assist,halfnote/interp/internal/clone,halfnote/interp/internal/exports,halfnote/interp/internal/front," +
	"halfnote/interp/internal/library,halfnote/interp/internal/lower,halfnote/interp/internal/lower/core,halfnote/interp/internal/places,halfnote/interp/internal/syntax," +
	"halfnote/interp/internal/yaegi,github.com/traefik/yaegi/interp,golang.org/x/tools/go/ast/astutil,go/ast,go/constant,go/doc/comment,go/parser,go/printer,go/scanner,go/token,go/types"

// TestStatementsOfSource counts the statements that are executed for cells of the sizes n, 2n and 4n, until the engine has them, until they are
// completed, and until help is shown for what they declare. Those of go/types and of Yaegi are only shown: both look names up scope by scope, and the
// front end limits the depth of scopes.
func TestStatementsOfSource(t *testing.T) {
	c := testenv.NewCounter(t, counted, "TestCounted", "go/types", "github.com/traefik/yaegi")
	for _, way := range ways {
		for i, shape := range way.shapes {
			t.Run(way.name+"/"+shape.name, func(t *testing.T) {
				t.Parallel()
				c.Growth(t, shape.least, func(n int) string { return fmt.Sprintf("%s %d %d", way.name, i, n) })
			})
		}
	}
}

// ways are what a session does with the text of a cell.
var ways = []struct {
	name   string
	shapes []shape
	work   func(t *testing.T, s *Session, code string)
}{
	{"run", shapes, func(_ *testing.T, s *Session, code string) {
		_, _ = s.compile(request{n: 2, ctx: context.Background(), out: &recorder{}}, code, false)
	}},
	{"debug", shapes, func(_ *testing.T, s *Session, code string) {
		_, _ = s.prepare(request{n: 2, ctx: context.Background(), out: &recorder{}}, s.front.Input(2, code, &front.Files{}, true))
	}},
	{"complete", shapes, func(_ *testing.T, s *Session, code string) { s.Complete(code, len(code)) }},
	{"members", declaredShapes, func(_ *testing.T, s *Session, code string) {
		code += "\nx.x."
		s.Complete(code, len(code))
	}},
	{"help", declaredShapes, func(t *testing.T, s *Session, code string) {
		evalFor(t, s, 1, code, "")
		if _, ok := s.Inspect("x", 1, 1); !ok {
			t.Error("got no help")
		}
	}},
}

// declaredShapes are declarations of a name x, with a field or method x.
var declaredShapes = []shape{
	{"fields", 300, func(n int) string { return "type x struct {\nx *x\n" + numbered(n, "// A comment.\nF%d int\n") + "}" }},
	{"methods", 200, func(n int) string {
		return "type x struct{ x *x }\n" + numbered(n, "// M%d does.\nfunc (x) M%d() {}\n")
	}},
	{"methods of an interface", 200, func(n int) string { return "type x interface {\nx() x\n" + numbered(n, "M%d()\n") + "}" }},
	{"embedded types", 20, func(n int) string {
		return numbered(n, "type E%d struct{ F%d int }\nfunc (E%d) M%d() {}\n") + "type x struct {\nx *x\n" + numbered(n, "E%d\n") + "}"
	}},
	{"paragraphs", 300, func(n int) string {
		return numbered(n, "// A paragraph [x] of %d words.\n//\n") + "type x struct{ x *x }"
	}},
	{"lines", 500, func(n int) string { return numbered(n, "// A line *a*_b_`c` <d> %d\n") + "type x struct{ x *x }" }},
	{"headings", 300, func(n int) string {
		return "// A.\n//\n" + numbered(n, "// # Heading\n//\n// Text.\n//\n") + "type x struct{ x *x }"
	}},
	{"items", 300, func(n int) string { return "// A:\n" + numbered(n, "//   - item %d\n") + "type x struct{ x *x }" }},
	{"code", 500, func(n int) string { return "// A:\n//\n" + numbered(n, "//\tx := %d\n") + "type x struct{ x *x }" }},
	{"links", 300, func(n int) string {
		return numbered(n, "// A [l%d] link.\n") + "//\n" + numbered(n, "// [l%d]: http://a/%d\n") + "type x struct{ x *x }"
	}},
	{"marks", 3000, func(n int) string { return "// " + strings.Repeat("*`_[<", n) + "\ntype x struct{ x *x }" }},
	{"parameters", 200, func(n int) string { return "func x(" + numbered(n, "a%d int, ") + ") (x struct{ x int }) { return }" }},
}

// TestCounted is the child process of TestStatementsOfSource. Whatever else it executes does not depend on the size of the cell.
func TestCounted(t *testing.T) {
	var name string
	var i, n int
	testenv.CountedInput(t, &name, &i, &n)
	for _, way := range ways {
		if way.name == name {
			way.work(t, newSession(t), way.shapes[i].code(n))
		}
	}
}

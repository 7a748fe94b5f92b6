package interp

import (
	"bufio"
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"testing"

	"halfnote/internal/testenv"
	"halfnote/interp/internal/front"
)

// counted are the packages whose statements TestStatementsOfSource counts: what reads, checks, rewrites and compiles a cell, and what completes it.
const counted = "halfnote/interp,halfnote/interp/internal/assist,halfnote/interp/internal/clone,halfnote/interp/internal/front,halfnote/interp/internal/library," +
	"halfnote/interp/internal/lower,halfnote/interp/internal/lower/core,halfnote/interp/internal/places,halfnote/interp/internal/syntax,halfnote/interp/internal/yaegi," +
	"github.com/traefik/yaegi/interp,golang.org/x/tools/go/ast/astutil,go/ast,go/constant,go/parser,go/printer,go/scanner,go/token,go/types"

// TestStatementsOfSource counts the statements that are executed for cells of the sizes n, 2n and 4n, until the engine has them. The second doubling
// adds at most three times what the first does: twice is linear growth, four times quadratic. Those of go/types and of Yaegi are only shown: both look names
// up scope by scope, and the front end limits the depth of scopes.
func TestStatementsOfSource(t *testing.T) {
	if !testenv.Requires("long") {
		t.Skip("compiles the tests again, with counters: HALFNOTE_REQUIRE=long runs it")
	}
	dir := t.TempDir()
	program := filepath.Join(dir, "counted.test")
	run := func(of string, name string, args ...string) {
		cmd := exec.Command(name, args...)
		cmd.Env = append(os.Environ(), "HALFNOTE_TEST_COUNTED="+of)
		if out, err := cmd.CombinedOutput(); err != nil {
			t.Fatalf("%s %s: %v\n%s", name, strings.Join(args, " "), err, out)
		}
	}
	run("", "go", "test", "-c", "-vet=off", "-covermode=atomic", "-coverpkg="+counted, "-o", program, ".")
	for _, way := range ways {
		for i, shape := range shapes {
			var n, others [3]int
			var where string
			for k := range n {
				profile := filepath.Join(dir, "profile")
				run(fmt.Sprintf("%s %d %d", way.name, i, shape.least<<k), program, "-test.run", "^TestCounted$", "-test.coverprofile", profile)
				n[k], others[k], where = executed(t, profile)
			}
			t.Logf("%s: %s of %d: %d, %d, %d, and %d, %d, %d of others", way.name, shape.name, shape.least, n[0], n[1], n[2], others[0], others[1], others[2])
			if more, first := n[2]-n[1], n[1]-n[0]; more > 3*first && quadratic[shape.name] == "" {
				t.Errorf("%s: %s: %d, %d and %d statements for sizes of %d, twice and four times that; want linear growth. Most were in %s",
					way.name, shape.name, n[0], n[1], n[2], shape.least, where)
			}
		}
	}
}

// quadratic are the shapes that take quadratic time, and the reasons. Their largest cells take half a second.
var quadratic = map[string]string{
	"assigned variables": "each place of an assignment is compared with each operand",
	"types in a ring":    "of each type, package yaegi looks whether it reaches itself",
}

// ways are what a session does with the text of a cell.
var ways = []struct {
	name string
	work func(s *Session, code string)
}{
	{"run", func(s *Session, code string) {
		_, _ = s.compile(request{n: 2, ctx: context.Background(), out: &recorder{}}, code, false)
	}},
	{"debug", func(s *Session, code string) {
		_, _ = s.prepare(request{n: 2, ctx: context.Background(), out: &recorder{}}, s.front.Input(2, code, &front.Files{}, true))
	}},
	{"complete", func(s *Session, code string) { s.Complete(code, len(code)) }},
}

// TestCounted is the child process of TestStatementsOfSource. Whatever else it executes does not depend on the size of the cell.
func TestCounted(t *testing.T) {
	var name string
	var i, n int
	if count, _ := fmt.Sscan(os.Getenv("HALFNOTE_TEST_COUNTED"), &name, &i, &n); count < 3 {
		t.Skip("runs only as a child process of TestStatementsOfSource")
	}
	for _, way := range ways {
		if way.name == name {
			way.work(newSession(t), shapes[i].code(n))
		}
	}
}

// executed reads a profile of Go's coverage. It returns the number of executed statements, without those of go/types and Yaegi, their number, and
// the place where most of the first are.
func executed(t *testing.T, file string) (own, others int, where string) {
	t.Helper()
	f, err := os.Open(file)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	most := 0
	for in := bufio.NewScanner(f); in.Scan(); {
		m := block.FindStringSubmatch(in.Text())
		if m == nil {
			continue
		}
		statements, _ := strconv.Atoi(m[2])
		times, _ := strconv.Atoi(m[3])
		n := statements * times
		if strings.HasPrefix(m[1], "go/types/") || strings.HasPrefix(m[1], "github.com/traefik/yaegi/") {
			others += n
			continue
		}
		if own += n; n > most {
			most, where = n, m[1]
		}
	}
	return own, others, where
}

// block is a line of a profile: the place, the number of statements, and how often they were executed.
var block = regexp.MustCompile(`^(\S+) (\d+) (\d+)$`)

package interp

import (
	"bytes"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
	"time"

	"golang.org/x/tools/txtar"

	"halfnote/internal/testenv"
)

// TestThirdParty runs programs that use modules of others as cells, on both engines, and compares what they print with compiled Go's output. The page
// for users has a table of the results: it must have a row for each module, and -update writes it. The go command fetches the modules, so
// the programs run only if HALFNOTE_REQUIRE lists modules. One that cannot be fetched is skipped, and keeps its row.
func TestThirdParty(t *testing.T) {
	const programs, file = "testdata/modules/programs.txtar", "../docs/cells.md"
	const begin, end = "<!-- The programs are interp/testdata/modules/programs.txtar -->\n\n| module | works on | because |\n|---|---|---|\n", "\n<!-- End of the table of modules -->\n"
	a, err := txtar.ParseFile(programs)
	if err != nil {
		t.Fatal(err)
	}
	page, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	before, rest, found := strings.Cut(string(page), begin)
	table, after, ended := strings.Cut(rest, end)
	if !found || !ended {
		t.Fatalf("%s lacks the lines %q and %q", file, begin, end)
	}
	rows := strings.SplitAfter(table, "\n")
	row := func(head string) string { // the row of a module
		for _, r := range rows {
			if strings.HasPrefix(r, head) {
				return r
			}
		}
		return ""
	}
	var b strings.Builder
	for _, f := range a.Files {
		path, version, _ := strings.Cut(f.Name, "@")
		head := fmt.Sprintf("| `%s` %s | ", path, version)
		want := row(head)
		got := want
		if testenv.Requires("modules") {
			t.Run(path, func(t *testing.T) { got = head + moduleWorks(t, f) + " |\n" })
		}
		if b.WriteString(got); got == "" || got != want && !*update {
			t.Errorf("%s has the row\n%s\nwant\n%s", file, want, got)
		}
	}
	if *update {
		err = os.WriteFile(file, []byte(before+begin+b.String()+end+after), 0o666)
	}
	if err != nil || !*update && !t.Failed() && b.String() != table {
		t.Errorf("%s lists modules without a program, or in another order: %v", file, err)
	}
}

// moduleLimit is the time for one program, with the modules that it imports.
const moduleLimit = 5 * time.Minute

// moduleWorks returns the engines that a program runs on, and why it does not run on the others.
func moduleWorks(t *testing.T, f txtar.File) string {
	dir := t.TempDir()
	path, version, _ := strings.Cut(f.Name, "@")
	for name, text := range map[string]string{"go.mod": "module m\n\ngo 1.26\n\nrequire " + path + " " + version + "\n", "main.go": string(f.Data)} {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o666); err != nil {
			t.Fatal(err)
		}
	}
	var stderr bytes.Buffer
	cmd := exec.Command("go", "run", "-mod=mod", ".")
	cmd.Dir, cmd.Stderr = dir, &stderr
	want, err := cmd.Output()
	if err != nil {
		t.Skipf("go run: %v\n%s", err, &stderr)
	}
	t.Chdir(dir)
	reasons := map[string]string{}
	for _, engine := range Engines {
		got, refused := strings.CutPrefix(programResult(t, engine, string(f.Data), moduleLimit), "refused: ")
		panics, text := strings.Contains(got, "panic: "), noMirror.FindString(got)
		switch {
		case got == "time-out":
			t.Fatalf("%s: time-out after %v", engine, moduleLimit)
		case refused:
			t.Logf("%s: %s", engine, got)
			reasons[engine] = refusalReason(got)
		case got != string(want):
			t.Logf("%s: %s", engine, firstDifference(got, string(want)))
			reasons[engine] = "the program prints something else"
			if text != "" {
				reasons[engine] = text
			} else if panics {
				reasons[engine] = "the program panics"
			}
		}
	}
	switch yaegi, native := reasons[Engines[0]], reasons[Compiled]; {
	case yaegi == "" && native == "":
		return "both engines |"
	case native == "":
		return "compiled cells | Yaegi: " + yaegi
	case yaegi == "":
		return "Yaegi | compiled cells: " + native
	case yaegi == native:
		return "neither | " + yaegi
	default:
		return "neither | Yaegi: " + yaegi + "; compiled cells: " + native
	}
}

var (
	cannotRun = regexp.MustCompile(`package "([^"]*)" cannot run in cells: ((?:it|its) [^()]*\([^()]*\)|[^()]*)`)
	noMirror  = regexp.MustCompile(`the interpreter cannot show [^;:]*: [^;]*`)
	position  = regexp.MustCompile(`(?:In\[\d+\]|unit)(?:, line \d+, column \d+|:\d+:\d+): `)
)

// refusalReason returns the innermost reason of a refusal: why a package cannot run, or else the error.
func refusalReason(text string) string {
	if all := cannotRun.FindAllStringSubmatch(text, -1); all != nil {
		last := all[len(all)-1]
		return fmt.Sprintf("`%s`: %s", last[1], strings.TrimSpace(last[2]))
	}
	_, text, _ = strings.Cut(text, ": ")
	text, _, _ = strings.Cut(text, "\n")
	return position.ReplaceAllString(text, "")
}

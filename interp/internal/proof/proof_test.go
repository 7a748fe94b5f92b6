package proof

import (
	"flag"
	"fmt"
	"go/version"
	"maps"
	"os"
	"regexp"
	"runtime"
	"slices"
	"strings"
	"testing"

	"halfnote/internal/testenv"
	"halfnote/interp"
)

var (
	ask  = flag.Bool("go", false, "compile cells that differ, and show what compiled Go prints")
	list = flag.Bool("list", false, "rewrite the lists of cells that differ")
	only = flag.String("cell", "", "run only the cells whose name contains this text")
)

// TestYaegi runs a sample of all families, or all cells if HALFNOTE_REQUIRE lists long: each prints what compiled Go prints.
func TestYaegi(t *testing.T) {
	for _, f := range Families {
		t.Run(f.Name, func(t *testing.T) { compare(t, f, &host{t: t, engine: interp.Engines[0], batch: 20}, f.chosen) })
	}
}

// TestNative runs the same in compiled cells.
func TestNative(t *testing.T) {
	if !testenv.Requires("native") {
		t.Skip("HALFNOTE_REQUIRE does not list native")
	}
	if err := interp.CompiledCells(); err != nil {
		t.Fatal(err)
	}
	for _, f := range Families {
		t.Run(f.Name, func(t *testing.T) { compare(t, f, &host{t: t, engine: interp.Compiled, batch: 200}, f.chosen) })
	}
}

// chosen returns the sample, or all cells.
func (f Family) chosen(cells []Cell) []Cell {
	if testenv.Requires("long") || *only != "" {
		return slices.Clone(cells)
	}
	return f.Sample(cells)
}

// TestStatements runs bodies of the sample as statements of cells, on both engines if HALFNOTE_REQUIRE lists native.
func TestStatements(t *testing.T) {
	share, engines := testenv.Share(t, 10), interp.Engines[:1]
	if testenv.Requires("native") {
		engines = interp.Engines
	}
	for _, engine := range engines {
		for _, f := range Families {
			n := 0
			bodies := func(cells []Cell) []Cell {
				return slices.DeleteFunc(f.Sample(cells), func(c Cell) bool { n++; return n%share != 0 || !stands(c) })
			}
			t.Run(f.Name+" "+engine, func(t *testing.T) {
				compare(t, f, &host{t: t, engine: engine, batch: 1, statements: true}, bodies)
			})
		}
	}
}

// compare runs cells of a family on an engine. Cells that differ are listed in testdata.
func compare(t *testing.T, f Family, h *host, choose func([]Cell) []Cell) {
	defer h.close()
	cells := f.Cells()
	sums, err := ReadSums("testdata/" + f.Name + ".sum")
	if err != nil {
		t.Fatal(err)
	}
	want := map[string]string{}
	for _, group := range groups(cells) {
		if s := sums[source(group)]; s != "" {
			for i, c := range group {
				want[c.ID()] = s[i*sumLength:][:sumLength]
			}
		}
	}
	cells = choose(cells)
	// The text of panic(nil) is another one from Go 1.27 on; the hashes are those of 1.26.
	newer := version.Compare(strings.Fields(runtime.Version())[0], "go1.27") >= 0
	cells = slices.DeleteFunc(cells, func(c Cell) bool {
		return want[c.ID()] == "" || !strings.Contains(c.Name(), *only) || newer && c.Axes[0] == "panic nil"
	})
	file := "testdata/" + f.Name + "." + h.engine + ".differs"
	known, err := readList(file)
	if err != nil {
		t.Fatal(err)
	}
	right := func(c Cell, o outcome) bool { return o.refused == "" && Sum(o.printed) == want[c.ID()] }
	isKnown := func(c Cell) bool { return known[c.Name()] != "" }
	outcomes := h.run(slices.DeleteFunc(slices.Clone(cells), isKnown))
	var again, wrong []Cell
	for _, c := range cells {
		if o, ran := outcomes[c.ID()]; !ran || !right(c, o) {
			again = append(again, c)
		}
	}
	refused := 0
	second := h.singly(again) // an earlier cell of the session may be the cause
	for _, c := range again {
		first, ran := outcomes[c.ID()]
		o := second[c.ID()]
		switch {
		case !right(c, o) && isKnown(c) && !*list:
			continue
		case right(c, o) && isKnown(c):
			if !*list {
				t.Errorf("%s is right: remove it from %s", c.Name(), file)
			}
			continue
		case right(c, o) && ran:
			o.refused = "only after other cells: " + first.refused + first.printed
		}
		if text, unsupported := strings.CutPrefix(o.refused, "Unsupported: "); unsupported && !*list {
			refused++ // a reader sees why, and no wrong value
			t.Logf("%s is refused: %s", c.Name(), text)
			continue
		}
		outcomes[c.ID()] = o
		wrong = append(wrong, c)
	}
	t.Logf("%d cells, %d listed, %d others are refused, %d others differ", len(cells), len(known), refused, len(wrong))
	if *list {
		if err := writeList(file, known, wrong, outcomes); err != nil {
			t.Fatal(err)
		}
	}
	goPrints := map[string]string{}
	if *ask && len(wrong) > 0 {
		goPrints = compiled(t, wrong)
	}
	for _, c := range wrong {
		o := outcomes[c.ID()]
		text := fmt.Sprintf("%s\n%s%sgot:\n%s\n", c.Name(), c.Session(), c.Func(), o.printed)
		if o.refused != "" {
			text += "refused: " + o.refused + "\n"
		}
		if *ask {
			text += "compiled Go prints:\n" + goPrints[c.ID()] + "\n"
		}
		t.Error(text)
	}
}

// readList reads a list of cells by their names. A line that begins with # is the reason of those that follow.
func readList(file string) (map[string]string, error) {
	text, err := os.ReadFile(file)
	if os.IsNotExist(err) {
		return map[string]string{}, nil
	}
	cells, reason := map[string]string{}, "not sorted"
	for line := range strings.Lines(string(text)) {
		if line = strings.TrimSpace(line); strings.HasPrefix(line, "#") {
			reason = strings.TrimSpace(line[1:])
		} else if line != "" {
			cells[line] = reason
		}
	}
	return cells, err
}

// place matches the place in an error of a cell.
var place = regexp.MustCompile(`In\[\d+\](:\d+)*:? ?`)

// writeList writes the list of cells that differ. It keeps the reasons of known ones.
func writeList(file string, known map[string]string, wrong []Cell, outcomes map[string]outcome) error {
	reasons := map[string][]string{}
	for _, c := range wrong {
		reason := known[c.Name()]
		if reason == "" {
			reason = "another value"
			if r := outcomes[c.ID()].refused; r != "" {
				reason = place.ReplaceAllString(r[:min(len(r), 100)], "")
			}
		}
		reasons[reason] = append(reasons[reason], c.Name())
	}
	if len(reasons) == 0 {
		return os.RemoveAll(file)
	}
	var b strings.Builder
	for i, reason := range slices.Sorted(maps.Keys(reasons)) {
		if i > 0 {
			b.WriteString("\n")
		}
		fmt.Fprintf(&b, "# %s\n%s\n", strings.ReplaceAll(reason, "\n", " "), strings.Join(reasons[reason], "\n"))
	}
	return os.WriteFile(file, []byte(b.String()), 0o644)
}

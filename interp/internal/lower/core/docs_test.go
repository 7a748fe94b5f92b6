package core

import (
	"flag"
	"fmt"
	"maps"
	"os"
	"slices"
	"strings"
	"testing"
)

var update = flag.Bool("update", false, "write the list of what is not in the core to docs/cells.md")

// TestDocs checks that docs/cells.md lists what the table leaves out.
func TestDocs(t *testing.T) {
	const file, begin, end = "../../../../docs/cells.md", "<!-- not in the core -->\n", "<!-- end -->\n"
	text, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	before, rest, found := strings.Cut(string(text), begin)
	_, after, ended := strings.Cut(rest, end)
	if !found || !ended {
		t.Fatalf("%s lacks the lines %q and %q", file, begin, end)
	}
	want := before + begin + leftOut() + end + after
	if *update {
		if err := os.WriteFile(file, []byte(want), 0o666); err != nil {
			t.Fatal(err)
		}
	} else if want != string(text) {
		t.Errorf("%s does not list what the table leaves out: run go test ./interp/internal/lower/core -update", file)
	}
}

// leftOut returns a table of the forms that are not in the core everywhere. Places where computed expressions in general are not in
// the core are left out.
func leftOut() string {
	var order []string
	forms := map[string][]string{}
	for _, form := range slices.Sorted(maps.Keys(rows)) {
		all := Row{Name: rows[form][0].Name}
		for _, r := range rows[form] {
			all.Positions, all.Kinds, all.Storages = all.Positions|r.Positions, all.Kinds|r.Kinds, all.Storages|r.Storages
		}
		var not []string
		list := func(word string, names []string, in func(bit int) bool) {
			var out, rest []string
			for i, name := range names {
				if in(i) {
					rest = append(rest, name)
				} else {
					out = append(out, name)
				}
			}
			if len(rest) <= len(out) {
				not = append(not, word+" anything but "+strings.Join(rest, ", "))
			} else if len(out) > 0 {
				not = append(not, word+" "+strings.Join(out, ", "))
			}
		}
		if all.Positions != 0 {
			list("as", positionNames, func(i int) bool { return (all.Positions|^computed)&(1<<i) != 0 })
		}
		list("of kind", kindNames[1:], func(i int) bool { return all.Kinds&(2<<i) != 0 })
		if all.Storages != 0 {
			list("assigned to", storageNames, func(i int) bool { return all.Storages&(1<<i) != 0 })
		}
		if text := strings.ReplaceAll(strings.Join(not, "; "), "|", `\|`); text != "" {
			if forms[text] == nil {
				order = append(order, text)
			}
			forms[text] = append(forms[text], fmt.Sprintf("%s (`%s`)", all.Name, form))
		}
	}
	var b strings.Builder
	b.WriteString("| form | not |\n|---|---|\n")
	for _, text := range order {
		fmt.Fprintf(&b, "| %s | %s |\n", strings.Join(forms[text], ", "), text)
	}
	return b.String()
}

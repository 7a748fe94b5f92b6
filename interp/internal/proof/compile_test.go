package proof

import (
	"context"
	"flag"
	"slices"
	"strings"
	"testing"
	"time"
)

var update = flag.Bool("update", false, "compile the cells whose source has changed, and rewrite the hashes of what they print")

// buildSize is the number of cells in one Go program.
const buildSize = 2500

// TestSums checks that the hashes of testdata are those of the cells that the package generates. With -update it makes them.
func TestSums(t *testing.T) {
	for _, f := range Families {
		t.Run(f.Name, func(t *testing.T) {
			cells, file := f.Cells(), "testdata/"+f.Name+".sum"
			names := map[string]bool{}
			for _, c := range cells {
				if names[c.Name()] {
					t.Errorf("two cells are named %s", c.Name())
				}
				names[c.Name()] = true
			}
			sums, err := ReadSums(file)
			if err != nil {
				t.Fatal(err)
			}
			var missing [][]Cell
			for _, group := range groups(cells) {
				if sums[source(group)] == "" {
					missing = append(missing, group)
				}
			}
			if len(missing) > 0 && !*update {
				t.Fatalf("%d of %d groups of cells have no hashes; run: go test ./interp/internal/proof -run TestSums -update", len(missing), len(groups(cells)))
			}
			if *update && len(missing) > 0 {
				checked(t, slices.Concat(missing...))
			}
			for batch := range slices.Chunk(missing, buildSize/groupSize) {
				printed := compiled(t, slices.Concat(batch...))
				for _, group := range batch {
					var b strings.Builder
					for _, c := range group {
						b.WriteString(Sum(printed[c.ID()]))
					}
					sums[source(group)] = b.String()
				}
				if err := WriteSums(file, cells, sums); err != nil {
					t.Fatal(err)
				}
			}
			t.Logf("%d cells, sample %d", len(cells), len(f.Sample(cells)))
		})
	}
}

// compiled returns what compiled Go prints.
func compiled(t *testing.T, cells []Cell) map[string]string {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), 10*time.Minute)
	defer cancel()
	printed, err := Go(ctx, t.TempDir(), cells)
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range cells {
		if _, ok := printed[c.ID()]; !ok {
			t.Fatalf("%s: compiled Go prints nothing", c.Name())
		}
	}
	return printed
}

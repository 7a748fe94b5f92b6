package data_test

import (
	"cmp"
	"fmt"
	"math"
	"os"
	"os/exec"
	"path/filepath"
	"reflect"
	"strings"
	"testing"

	"halfnote/internal/testenv"
	"halfnote/tensor"
	"halfnote/tensor/data"
)

// TestRowsOfPandas compares what makes a table from another one with pandas. PYTHON names a Python with it.
func TestRowsOfPandas(t *testing.T) {
	folder := t.TempDir()
	if err := exec.Command(cmp.Or(os.Getenv("PYTHON"), "python3"), "testdata/table_rows.py", folder).Run(); err != nil {
		testenv.Missing(t, "tables", "needs a Python with pandas: name it in PYTHON: ", err)
	}
	load := func(name string) *data.Table {
		t.Helper()
		table, err := data.LoadCSV(filepath.Join(folder, name+".csv"), data.CSVOptions{})
		if err != nil {
			t.Fatal(err)
		}
		return table
	}
	all, more := load("table"), load("more")
	for name, got := range map[string]*data.Table{
		"filter":          all.Filter(func(r data.Row) bool { return r.Number("mass") > 4000 && r.Text("species") == "Gentoo" }),
		"where":           all.Where(all.IsMissing("depth")),
		"sort":            all.Sort("species", "mass"),
		"sort-descending": all.Sort("-mass", "year"),
		"take":            all.Take([]int{7, 3, 3}),
		"tail":            all.Tail(4),
		"select":          all.Select("mass", "species"),
		"drop":            all.Drop("year", "male"),
		"rename":          all.Rename("mass", "grams"),
		"assign":          all.With("ratio", func(r data.Row) float64 { return r.Number("mass") / r.Number("depth") }),
		"dropna":          all.DropMissing(),
		"dropna-one":      all.DropMissing("mass"),
		"fillna":          all.FillMissing("mass", 0),
		"size":            all.GroupBy("species").Count(),
		"size-two":        all.GroupBy("year", "species").Count(),
		"size-number":     all.GroupBy("depth").Count(),
		"size-bool":       all.GroupBy("male").Count(),
		"mean":            all.GroupBy("species").Mean(),
		"std":             all.GroupBy("species", "male").Std("mass", "depth"),
		"join":            all.Join(more, "species"),
		"join-left":       all.LeftJoin(more, "species"),
		"join-two":        all.Join(more.Drop("year"), "species", "depth"),
		"join-number":     all.LeftJoin(more.Select("depth", "range"), "depth"),
		"agg":             all.GroupBy("year").Agg("mass", "count", "max", "mean", "median", "min", "std", "sum"),
	} {
		want := load(name)
		if !reflect.DeepEqual(got.Names(), want.Names()) || got.Len() != want.Len() || want.Len() == 0 {
			t.Errorf("%s: got %d rows of %q, want %d of %q", name, got.Len(), got.Names(), want.Len(), want.Names())
			continue
		}
		for _, column := range want.Names() {
			for i := range want.Len() {
				g, w := got.Row(i), want.Row(i)
				equal := g.IsMissing(column) == w.IsMissing(column)
				switch {
				case !equal || w.IsMissing(column):
				case want.IsNumeric(column):
					equal = math.Abs(g.Number(column)-w.Number(column)) <= 1e-9*math.Abs(w.Number(column))
				default:
					equal = g.Text(column) == w.Text(column)
				}
				if !equal {
					t.Errorf("%s: row %d of %q is %q, want %q", name, i, column, g.Text(column), w.Text(column))
					break
				}
			}
		}
	}
}

// TestRows checks values and errors that pandas does not have.
func TestRows(t *testing.T) {
	table := data.NewTable().AddNumbers("x", []float64{3, 1, math.NaN(), 2}).AddTexts("name", []string{"c", "a", "", "b"}).AddTexts("-x", []string{"4", "3", "2", "1"}).AddTexts("same", []string{"1", "1.0", "1e0", "2"})
	before := table.String()
	for name, tt := range map[string]struct{ got, want any }{
		"a minus that is a name":   {table.Sort("-x").Texts("name"), []string{"b", "", "a", "c"}},
		"missing last":             {table.Sort("name").Texts("name"), []string{"a", "b", "c", ""}},
		"missing last, descending": {table.Sort("-name").Texts("name"), []string{"c", "b", "a", ""}},
		"equal numbers":            {table.GroupBy("same").Count().Texts("count"), []string{"3", "1"}},
		"keys":                     {table.GroupBy("x", "name").Keys(), []string{"1, a", "2, b", "3, c"}},
		"unique":                   {table.Unique("x"), []string{"1", "2", "3"}},
		"a group":                  {table.GroupBy("same").Table(0).Texts("name"), []string{"c", "a", ""}},
		"apply":                    {table.GroupBy("same").Apply("x", func(v []float64) float64 { return v[len(v)-1] - v[0] }).Texts("x"), []string{"2", "0"}},
		"a tensor":                 {table.With("t", tensor.New([]float64{.5, 1, 2, math.NaN()}, 4, 1)).Texts("t"), []string{"0.5", "1", "2", ""}},
		"bools":                    {table.With("b", []bool{true, false, true, true}).Row(1).Bool("b"), false},
		"texts of rows":            {table.With("name", func(r data.Row) string { return strings.ToUpper(r.Text("name")) }).Texts("name"), []string{"C", "A", "", "B"}},
		"a first column":           {data.NewTable().With("n", []int{1, 2}).Len(), 2},
		"a count by count":         {table.Rename("same", "count").GroupBy("count").Count().Names(), []string{"count", "count_"}},
		"no rows":                  {table.Filter(func(data.Row) bool { return false }).GroupBy("name").Mean().Len(), 0},
		"type":                     {table.Where([]bool{true, true, false, true}).DTypes()[0], "int64"},
	} {
		if !reflect.DeepEqual(tt.got, tt.want) {
			t.Errorf("%s: got %q, want %q", name, tt.got, tt.want)
		}
	}
	first, second := table.Split(.5, 7)
	if again, _ := table.Split(.5, 7); first.Len() != 2 || second.Len() != 2 || again.String() != first.String() || len(append(first.Unique("-x"), second.Unique("-x")...)) != 4 {
		t.Errorf("split: got %v and %v", first, second)
	}
	if table.String() != before {
		t.Errorf("the table has changed to %v", table)
	}
	for want, do := range map[string]func(){
		`column "y" does not exist; want one of ["x"`:      func() { table.Sort("y") },
		`column "" does not exist`:                         func() { table.Sort("-") },
		"a mask of 1 values for 4 rows":                    func() { table.Where([]bool{true}) },
		"row 4 of 4; want 0 to 3":                          func() { table.Take([]int{4}) },
		`column "x" is selected twice`:                     func() { table.Select("x", "x") },
		`rename column "x" to "name", which exists`:        func() { table.Rename("x", "name") },
		`column "y" of 2 values for 4 rows`:                func() { table.With("y", []int{1, 2}) },
		`column "y" of a tensor of shape [2 3] for 4 rows`: func() { table.With("y", tensor.Zeros(2, 3)) },
		`column "y" of a func() int; want a slice`:         func() { table.With("y", func() int { return 1 }) },
		`column "name", row 0: found "c"; want a number`:   func() { table.Filter(func(r data.Row) bool { return r.Number("name") > 1 }) },
		`column "x", row 0: found "3"; want True or False`: func() { table.Row(0).Bool("x") },
		`statistic "mode"; want one of ["count"`:           func() { table.GroupBy("name").Agg("x", "mode") },
		"groups by no column":                              func() { table.GroupBy() },
		"group 3 of 2":                                     func() { table.GroupBy("same").Table(3) },
		"join by no column or with no table; want a table": func() { table.Join(table) },
		`column "x" has float64 here and text in`:          func() { table.Join(data.NewTable().AddTexts("x", []string{"a"}), "x") },
		"split at a share of 2; want 0 to 1":               func() { table.Split(2, 1) },
		"tail of -1 rows":                                  func() { table.Tail(-1) },
		`column "name", row 0: found "c"; want a number `:  func() { table.GroupBy("same").Mean("name") },
	} {
		if err := tensor.Try(do); err == nil || !strings.Contains(fmt.Sprint(err)+" ", want) {
			t.Errorf("got the error %v, want one with %s", err, want)
		}
	}
}

package data_test

import (
	"errors"
	"math"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"halfnote/tensor"
	"halfnote/tensor/data"
)

func table(t *testing.T, text string, o data.CSVOptions) *data.Table {
	t.Helper()
	tab, err := data.LoadCSV(file(t, "x.csv", []byte(text)), o)
	if err != nil {
		t.Fatal(err)
	}
	return tab
}

func TestCSV(t *testing.T) {
	tab := table(t, "\ufeffage,name,\"size, m\",class\r\n31,\"Ann \"\"A.\"\" Ä\",1.5e-3,cat\r\nNA,\"two\nlines\",,dog\r\n 7 ,,-inf,cat\r\n", data.CSVOptions{})
	if !slices.Equal(tab.Names(), []string{"age", "name", "size, m", "class"}) || tab.Len() != 3 {
		t.Errorf("got columns %q and %d rows", tab.Names(), tab.Len())
	}
	if got := tab.Texts("name"); !slices.Equal(got, []string{`Ann "A." Ä`, "two\nlines", ""}) {
		t.Errorf("texts: got %q", got)
	}
	if got, err := tab.Numbers("age"); err != nil || got[0] != 31 || !math.IsNaN(got[1]) || got[2] != 7 {
		t.Errorf("numbers: got %v, %v", got, err)
	}
	if got := tab.IsMissing("name"); !slices.Equal(got, []bool{false, false, true}) {
		t.Errorf("missing: got %v", got)
	}
	x, err := tab.Tensor()
	if err != nil || !slices.Equal(x.Shape(), []int{3, 2}) || x.At(0, 1) != float64(float32(1.5e-3)) || !math.IsNaN(x.At(1, 1)) || !math.IsInf(x.At(2, 1), -1) {
		t.Errorf("tensor: got %v, %v", x, err)
	}
	if x, err = tab.Tensor("size, m"); err != nil || !slices.Equal(x.Shape(), []int{3, 1}) {
		t.Errorf("tensor of one column: got %v, %v", x, err)
	}
	classes, names := tab.Classes("class")
	if classes.DType() != tensor.Int64 || !slices.Equal(classes.Ints(), []int{0, 1, 0}) || !slices.Equal(names, []string{"cat", "dog"}) {
		t.Errorf("classes: got %v with names %q", classes, names)
	}
	if _, err := tab.Numbers("class"); err == nil || err.Error() != `data: csv: column "class", row 0: found "cat"; want a number` {
		t.Errorf("got error %v", err)
	}

	tab = table(t, "1;x\n-;3\n", data.CSVOptions{Comma: ';', NoHeader: true, Missing: []string{"-", "x"}})
	if x, err := tab.Tensor("0", "1"); err != nil || x.At(0, 0) != 1 || !math.IsNaN(x.At(0, 1)) || !math.IsNaN(x.At(1, 0)) || x.At(1, 1) != 3 {
		t.Errorf("without a header: got %v, %v", x, err)
	}
	if tab := table(t, "a,b\n", data.CSVOptions{}); tab.Len() != 0 || tab.IsNumeric("a") {
		t.Errorf("without rows: got %d rows", tab.Len())
	}
}

// TestWideCSV reads and writes 300,000 columns: comparing each name with all others would take minutes.
func TestWideCSV(t *testing.T) {
	const n = 300_000
	line := strings.TrimSuffix(strings.Repeat("1,", n), ",")
	tab := table(t, line+"\n", data.CSVOptions{NoHeader: true})
	x, err := tab.Tensor()
	if err != nil || !slices.Equal(x.Shape(), []int{1, n}) || x.Sum().Item() != n {
		t.Fatalf("got shape %v, %v, want (1, %d)", x.Shape(), err, n)
	}
	again := data.NewTable()
	for _, name := range tab.Names() {
		again.AddTexts(name, tab.Texts(name))
	}
	if again.Texts("299999")[0] != "1" {
		t.Errorf("got %q in the last column, want 1", again.Texts("299999"))
	}
	again.AddTexts("299999 again", []string{"2"})
	if err := again.Save(filepath.Join(t.TempDir(), "wide.csv")); err != nil {
		t.Error(err)
	}
}

func TestCSVSave(t *testing.T) {
	for _, c := range []*data.Table{
		data.NewTable().AddNumbers("x", []float64{1, math.NaN(), 0.1, math.Inf(1), 1e300}).AddTexts("t, \"x\"", []string{"a,b", "", "c\nd", ` "q" `, "\\"}),
		data.NewTable().AddTexts("one", []string{"", "a", ""}),
	} {
		path := filepath.Join(t.TempDir(), "x.csv")
		if err := c.Save(path); err != nil {
			t.Fatal(err)
		}
		got, err := data.LoadCSV(path, data.CSVOptions{})
		if err != nil {
			t.Fatal(err)
		}
		for _, name := range c.Names() {
			if !slices.Equal(got.Texts(name), c.Texts(name)) {
				t.Errorf("column %q: got %q, want %q", name, got.Texts(name), c.Texts(name))
			}
		}
	}
}

func TestCSVErrors(t *testing.T) {
	for want, text := range map[string]string{
		"line 1: found the end of the file; want a line of fields":                             "",
		"line 3: found 1 field; want 2, as in the first line":                                  "a,b\n1,2\n3\n",
		"line 2: found 4 fields; want 2, as in the first line; if that line is not the header": "569,30\n1,2,3,4\n",
		"line 2: found bytes that are not UTF-8 in \"caf\\xe9\"; want UTF-8, or the file's":    "a\ncaf\xe9\n",
		"line 1: found a zero byte in \"a\\x00\"; want text; for UTF-16 without a mark":        "a\x00,\x00b\x00\n\x00",
		"line 2, column 3: found bare \" in non-quoted-field; want quotes around whole fields": "a\nx \"y\n",
		"found extraneous or missing \" in quoted-field; want quotes around whole fields":      "a\n\"x\n",
	} {
		path := file(t, "x.csv", []byte(text))
		if _, err := data.LoadCSV(path, data.CSVOptions{}); err == nil || !strings.Contains(err.Error(), want) || !strings.Contains(err.Error(), "data: csv: "+path+": ") {
			t.Errorf("got error %v, want %s", err, want)
		}
	}
	tab := table(t, "a,b\n1,2\n", data.CSVOptions{})
	for want, f := range map[string]func(){
		`column "c" does not exist; want one of ["a" "b"]`:                       func() { tab.Texts("c") },
		`column "a" of length 1, columns ["a" "b"] of length 1; want a new name`: func() { tab.AddTexts("a", []string{"x"}) },
		`column "c" of length 2, columns ["a" "b"] of length 1; want a new name`: func() { tab.AddTexts("c", []string{"x", "y"}) },
	} {
		if err := tensor.Try(f); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("got error %v, want %s", err, want)
		}
	}
	if _, err := data.LoadCSV(filepath.Join(t.TempDir(), "missing"), data.CSVOptions{}); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("got error %v", err)
	}
}

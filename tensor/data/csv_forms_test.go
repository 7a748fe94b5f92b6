package data_test

import (
	"fmt"
	"math"
	"slices"
	"strings"
	"testing"

	"halfnote/internal/testenv"
	"halfnote/tensor"
	"halfnote/tensor/data"
)

// utf16 returns text in UTF-16 of either byte order, for text of the Basic Multilingual Plane.
func utf16(text string, bigEndian bool) string {
	var b []byte
	for _, r := range text {
		pair := []byte{byte(r), byte(r >> 8)}
		if bigEndian {
			slices.Reverse(pair)
		}
		b = append(b, pair...)
	}
	return string(b)
}

// TestCSVForms reads one table in each form that files of others have.
func TestCSVForms(t *testing.T) {
	const plain = "név,x\n\"one\ntwo, three\",1\nß,2\n"
	latin := strings.NewReplacer("é", "\xe9", "ß", "\xdf").Replace(plain)
	for _, c := range []struct {
		name, text string
		options    data.CSVOptions
	}{
		{"plain", plain, data.CSVOptions{}},
		{"with a mark", "\ufeff" + plain, data.CSVOptions{}},
		{"with a mark and another encoding", "\ufeff" + plain, data.CSVOptions{Encoding: "latin1"}},
		{"gzip", string(gzipped([]byte(plain))), data.CSVOptions{}},
		{"a mark in gzip", string(gzipped([]byte("\ufeff" + plain))), data.CSVOptions{}},
		{"UTF-16", "\xff\xfe" + utf16(plain, false), data.CSVOptions{}},
		{"UTF-16, big-endian", "\xfe\xff" + utf16(plain, true), data.CSVOptions{}},
		{"UTF-16 without a mark", utf16(plain, false), data.CSVOptions{Encoding: "utf-16"}},
		{"big-endian without a mark", utf16(plain, true), data.CSVOptions{Encoding: "utf-16be"}},
		{"UTF-16 in gzip", string(gzipped([]byte("\xff\xfe" + utf16(plain, false)))), data.CSVOptions{}},
		{"Latin-1", latin, data.CSVOptions{Encoding: "latin1"}},
		{"Windows-1252", latin, data.CSVOptions{Encoding: "windows-1252"}},
		{"CRLF", strings.ReplaceAll(plain, "\n", "\r\n"), data.CSVOptions{}},
		{"CR", strings.ReplaceAll(plain, "\n", "\r"), data.CSVOptions{}},
		{"CR in UTF-16", "\xff\xfe" + utf16(strings.ReplaceAll(plain, "\n", "\r"), false), data.CSVOptions{}},
		{"without a last line end", strings.TrimSuffix(plain, "\n"), data.CSVOptions{}},
		{"empty lines", strings.ReplaceAll(plain, "ß", "\n\nß"), data.CSVOptions{}},
		{"comments", "# source: x, \"y\"\n" + strings.Replace(plain, "ß", "# more\nß", 1), data.CSVOptions{Comment: '#'}},
		{"skipped lines", "569,30,\"x\n\n" + plain, data.CSVOptions{Skip: 2}},
		{"skipped lines, CR", "569,30\r" + strings.ReplaceAll(plain, "\n", "\r"), data.CSVOptions{Skip: 1}},
		{"short lines", strings.Replace(plain, "x\n", "x,y\n", 1), data.CSVOptions{Short: true}},
		{"semicolons", strings.ReplaceAll(strings.ReplaceAll(plain, ", ", "\x01"), ",", ";"), data.CSVOptions{Comma: ';'}},
		{"tabs", strings.ReplaceAll(strings.ReplaceAll(plain, ", ", "\x01"), ",", "\t"), data.CSVOptions{Comma: '\t'}},
	} {
		tab, err := data.LoadCSV(file(t, "x.csv", []byte(c.text)), c.options)
		if err != nil {
			t.Errorf("%s: %v", c.name, err)
			continue
		}
		first := strings.ReplaceAll(tab.Texts(tab.Names()[0])[0], "\x01", ", ")
		if !slices.Equal(tab.Names()[:2], []string{"név", "x"}) || first != "one\ntwo, three" || tab.Texts("név")[1] != "ß" || tab.Len() != 2 || !slices.Equal(tab.DTypes()[:2], []string{"text", "int64"}) {
			t.Errorf("%s: got\n%v", c.name, tab)
		}
	}
	for want, c := range map[string]struct {
		text    string
		options data.CSVOptions
	}{
		`the encoding "utf-7" is not known; want one of latin1, utf-16, utf-16be, utf-8, windows-1252`: {plain, data.CSVOptions{Encoding: "utf-7"}},
		"line 4: found 1 field; want 2": {"x\ny\na,b\n1\n", data.CSVOptions{Skip: 2}},
		"line 2: found 2 fields; want 1, as in the first line; if that line is a comment, CSVOptions{Comment: '#'} ignores it": {"# source: x\na,b\n1,2\n", data.CSVOptions{}},
		"line 3, column 3: found bare":          {"x\na\nx \"y\n", data.CSVOptions{Skip: 1}},
		"line 4: found the end of the file":     {"x\n", data.CSVOptions{Skip: 3}},
		"unexpected EOF":                        {string(gzipped([]byte(plain)))[:30], data.CSVOptions{}},
		"invalid field or comment delimiter":    {plain, data.CSVOptions{Comment: ','}},
		"gzip: invalid header":                  {"\x1f\x8bxxxxxxxxxxxxxxxxxx", data.CSVOptions{}},
		"line 2: found 3 fields; want 2, as in": {"1,2\n1,2,3\n", data.CSVOptions{NoHeader: true}},
	} {
		if _, err := data.LoadCSV(file(t, "x.csv", []byte(c.text)), c.options); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("got error %v, want %s", err, want)
		}
	}
}

// TestCSVNames checks the names of columns: pandas' for equal and empty ones, and R's row names.
func TestCSVNames(t *testing.T) {
	for text, want := range map[string][]string{
		"a,a,b,a\n1,2,3,4\n":     {"a", "a.1", "b", "a.2"},
		"a,a,a.1\n1,2,3\n":       {"a", "a.2", "a.1"},
		",a,,a\n1,2,3,4\n":       {"Unnamed: 0", "a", "Unnamed: 2", "a.1"},
		"a,b\nr1,2,3\nr2,4,5\n":  {"index", "a", "b"},
		"index,b\nr1,2,3\n":      {"level_0", "index", "b"},
		",Unnamed: 0\n1,2\n":     {"Unnamed: 0.1", "Unnamed: 0"},
		"a,a.1,a.1,a\n1,2,3,4\n": {"a", "a.1", "a.1.1", "a.2"},
	} {
		if got := table(t, text, data.CSVOptions{}).Names(); !slices.Equal(got, want) {
			t.Errorf("%q: got %q, want %q", text, got, want)
		}
	}
}

// TestTableTypes checks the types of columns, by the texts that pandas reads as numbers, truths and missing values.
func TestTableTypes(t *testing.T) {
	for want, values := range map[string][]string{
		"int64":   {"1", " -2", "+3", "9223372036854775807"},
		"float64": {"1", "", "3"},
		"bool":    {"True", "false", "TRUE"},
		"text":    {"1", "2", "x"},
	} {
		if got := table(t, "v,w\n"+strings.Join(values, ",0\n")+",0\n", data.CSVOptions{}).DTypes()[0]; got != want {
			t.Errorf("%q: got %s, want %s", values, got, want)
		}
	}
	for text, want := range map[string]string{
		"1.5": "float64", "1e5": "float64", "inf": "float64", "-Infinity": "float64", "9223372036854775808": "float64", "NA": "float64", "None": "float64", "#N/A": "float64", "?": "float64",
		"0x10": "text", "1_000": "text", "1,5": "text", "yes": "text", "1 2": "text", "T": "text",
	} {
		tab := table(t, fmt.Sprintf("v,w\n%q,0\n", text), data.CSVOptions{})
		if got := tab.DTypes()[0]; got != want || tab.IsNumeric("v") != (want == "float64" && !tab.IsMissing("v")[0]) {
			t.Errorf("%q: got %s, want %s", text, got, want)
		}
	}
}

// TestTableShown checks how a table is shown, its first rows and its statistics, which are pandas'.
func TestTableShown(t *testing.T) {
	tab := table(t, "name,age,height,member\nAnn,31,1.6500000000001,True\n<Bo>,NA,1.8,False\nCy,28,,True\n", data.CSVOptions{})
	want := `   name      age   height  member
   text  float64  float64  bool
0  Ann        31     1.65  True
1  <Bo>      NaN      1.8  False
2  Cy         28      NaN  True
3 rows × 4 columns; missing: age 1, height 1`
	if got := tab.String(); got != want {
		t.Errorf("got\n%s\nwant\n%s", got, want)
	}
	page := tab.HTML()
	for _, part := range []string{"<th style=\"text-align:left;white-space:nowrap;padding:2px 8px\">name</th>", "&lt;Bo&gt;", "float64", "3 rows × 4 columns; missing: age 1, height 1"} {
		if !strings.Contains(page, part) {
			t.Errorf("%q is not in %s", part, page)
		}
	}
	if low := testenv.LowContrast(page); len(low) > 0 {
		t.Errorf("low contrast: %q", low)
	}
	if head := tab.Head(2); head.Len() != 2 || !slices.Equal(head.Texts("name"), []string{"Ann", "<Bo>"}) || !head.IsMissing("age")[1] || tab.Head(9).Len() != 3 || tab.Head(0).Len() != 0 {
		t.Errorf("got\n%v", head)
	}
	if err := tensor.Try(func() { tab.Head(-1) }); err == nil || !strings.Contains(err.Error(), "head of -1 rows; want 0 or more") {
		t.Errorf("got error %v", err)
	}
	// pandas 3.1.1: pandas.DataFrame({"x": [1, 2, 4, 8, nan, 16.5]}).describe()
	five := data.NewTable().AddNumbers("x", []float64{1, 2, 4, 8, math.NaN(), 16.5}).AddTexts("t", make([]string, 6)).AddNumbers("one", []float64{math.NaN(), 3, math.NaN(), math.NaN(), math.NaN(), math.NaN()})
	d := five.Describe()
	for name, want := range map[string][]float64{"x": {5, 6.3, 6.300793600809346, 1, 2, 4, 8, 16.5}, "one": {1, 3, math.NaN(), 3, 3, 3, 3, 3}} {
		got, err := d.Numbers(name)
		for i := range want {
			if err != nil || !(math.Abs(got[i]-want[i]) < 1e-12 || math.IsNaN(got[i]) && math.IsNaN(want[i])) {
				t.Errorf("%s: got %v, %v, want %v", name, got, err, want)
				break
			}
		}
	}

	if page := data.NewTable().AddNumbers("n", []float64{1048576, 2.5, 1234567.25}).Describe().String(); strings.Contains(page, "e+") || !strings.Contains(page, "1048576") || !strings.Contains(page, "1234567") {
		t.Errorf("large numbers: got\n%s", page)
	}

	long := data.NewTable()
	for c := range 30 {
		values := make([]float64, 25)
		for r := range values {
			values[r] = float64(100*c + r)
		}
		long.AddNumbers(fmt.Sprintf("c%d", c), values)
	}
	text := long.String()
	for _, part := range []string{"c9  …    c20", "\n 4 ", "\n20 ", "25 rows × 30 columns"} {
		if !strings.Contains(text, part) {
			t.Errorf("%q is not in\n%s", part, text)
		}
	}
	if strings.Contains(text, "c10") || strings.Contains(text, "\n 7 ") || strings.Count(text, "\n") != 13 {
		t.Errorf("got\n%s", text)
	}
	if got := data.NewTable().String(); !strings.HasSuffix(got, "0 rows × 0 columns") {
		t.Errorf("got %q", got)
	}
}

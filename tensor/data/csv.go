package data

import (
	"cmp"
	"encoding/csv"
	"errors"
	"fmt"
	"io"
	"math"
	"slices"
	"strconv"
	"strings"

	"halfnote/internal/save"
	"halfnote/internal/text"
	"halfnote/tensor"
	"halfnote/tensor/driver"
)

// Table holds the columns of a CSV file. As the value of a cell it is shown with the types of its columns, the number of rows and
// what is missing. It is a small pandas.DataFrame.
type Table struct {
	names   []string
	columns map[string][]string
	rows    int
	missing []string
}

// CSVOptions are the options of LoadCSV. By default the file has a header line and commas
// between fields, and a missing value is an empty field, ? or what pandas takes for one, such as NA, NaN, None, null or #N/A.
type CSVOptions struct {
	Comma    rune     // field separator; 0 means ','
	Comment  rune     // begins lines that are ignored; 0 means none
	Skip     int      // number of lines before the header that are ignored
	NoHeader bool     // the first line is data; columns are named "0", "1", …
	Short    bool     // a line may have fewer fields than the first; the others are missing
	Missing  []string // texts that mean a missing value, in addition to the empty one
	Encoding string   // "utf-8" by default, or "utf-16", "utf-16be", "latin1" or "windows-1252"; a mark at the start of the file goes first
}

// missingTexts are pandas' na_values, and UCI's question mark.
var missingTexts = strings.Fields("#NA -1.#IND -1.#QNAN -NaN -nan 1.#IND 1.#QNAN <NA> #N/A N/A NA NULL NaN None n/a nan null ?")

// LoadCSV reads a file of comma-separated values, RFC 4180, gzipped or not, with any line ends. As in pandas, the
// second of two columns with equal names gets the suffix .1, and a column without a name is "Unnamed: 2". If the header has one field less than the lines, as in files that R writes, the first column is
// named index. The error is a *[FormatError] with the line if lines have different numbers of fields or a quote is not closed. It is
// pandas.read_csv.
func LoadCSV(path string, o CSVOptions) (*Table, error) {
	src := source{"csv", path}
	f, _, err := opened(src)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	return readCSV(src, f, o)
}

func readCSV(src source, in io.Reader, o CSVOptions) (*Table, error) {
	decoded, err := src.text(in, o)
	if err != nil {
		return nil, err
	}
	r := csv.NewReader(decoded)
	r.Comma, r.Comment = cmp.Or(o.Comma, ','), o.Comment
	r.ReuseRecord, r.FieldsPerRecord = true, -1
	t := &Table{missing: o.Missing}
	if o.Missing == nil {
		t.missing = missingTexts
	}
	var header []string
	var columns [][]string
	kept, next := 0, 1<<24 // bytes, and where to look for room for as many
	for {
		record, err := r.Read()
		if err == io.EOF {
			break
		}
		if err != nil {
			return nil, src.csvError(err, o.Skip)
		}
		line, _ := r.FieldPos(0)
		line += o.Skip
		for _, field := range record {
			if err := src.checkText(field, line); err != nil {
				return nil, err
			}
		}
		switch {
		case header == nil && o.NoHeader:
			for i := range record {
				header = append(header, strconv.Itoa(i))
			}
		case header == nil:
			header = slices.Clone(record)
			continue
		case columns == nil && len(record) == len(header)+1 && strings.HasPrefix(header[0], "#") && o.Comment == 0:
			return nil, src.bad(atLine(line), text.Count(len(record), "field"), fmt.Sprintf("%d, as in the first line; if that line is a comment, CSVOptions{Comment: '#'} ignores it", len(header)))
		case columns == nil && len(record) == len(header)+1:
			name := "index"
			if slices.Contains(header, name) {
				name = "level_0" // reset_index's
			}
			header = slices.Insert(header, 0, name)
		}
		if o.Short {
			for len(record) < len(header) {
				record = append(record, "")
			}
		}
		if len(record) != len(header) {
			want := fmt.Sprintf("%d, as in the first line", len(header))
			if columns == nil && o.Skip == 0 && !o.NoHeader {
				want += "; if that line is not the header, CSVOptions{Skip: 1} leaves it out"
			}
			if len(record) < len(header) {
				want += "; CSVOptions{Short: true} fills such lines with missing values"
			}
			return nil, src.bad(atLine(line), text.Count(len(record), "field"), want)
		}
		if columns == nil {
			columns = make([][]string, len(header))
		}
		driver.Poll()
		for i, field := range record {
			columns[i] = append(columns[i], strings.Clone(field))
			kept += len(field) + 16
		}
		if kept > next {
			if err := driver.Room(kept, 1); err != nil {
				return nil, src.fail(err)
			}
			next = 2 * kept
		}
		t.rows++
	}
	if header == nil {
		return nil, src.bad(atLine(1+o.Skip), "the end of the file", "a line of fields")
	}
	if columns == nil {
		columns = make([][]string, len(header))
	}
	t.names, t.columns = distinct(header), make(map[string][]string, len(header))
	for i, name := range t.names {
		t.columns[name] = columns[i]
	}
	return t, nil
}

// distinct returns the names of columns: those of a header, with a number where it has none or has it twice. Columns with names
// keep theirs first.
func distinct(header []string) []string {
	names := slices.Clone(header)
	var named, unnamed []int
	for i, name := range header {
		if name != "" {
			named = append(named, i)
			continue
		}
		unnamed = append(unnamed, i)
		names[i] = fmt.Sprintf("Unnamed: %d", i)
	}
	given := map[string]bool{}
	for _, name := range names {
		given[name] = true
	}
	used, next := map[string]bool{}, map[string]int{}
	for _, i := range append(named, unnamed...) {
		name := names[i]
		for k := max(next[name], 1); used[names[i]]; k++ {
			if other := fmt.Sprintf("%s.%d", name, k); !given[other] && !used[other] {
				names[i], next[name] = other, k+1
			}
		}
		used[names[i]] = true
	}
	return names
}

// csvError adds the position to an error of encoding/csv, which does not count skipped lines.
func (s source) csvError(err error, skipped int) error {
	var p *csv.ParseError
	if !errors.As(err, &p) {
		return s.fail(err)
	}
	return s.bad(fmt.Sprintf("line %d, column %d", p.Line+skipped, p.Column), p.Err.Error(), "quotes around whole fields, doubled within")
}

// NewTable returns an empty table without rows, to which columns are added.
func NewTable() *Table { return &Table{columns: map[string][]string{}} }

// Names returns the names of the columns, in order.
func (t *Table) Names() []string { return slices.Clone(t.names) }

// Len returns the number of rows.
func (t *Table) Len() int { return t.rows }

// column returns the texts of a column, and panics if it does not exist.
func (t *Table) column(name string) []string {
	column, found := t.columns[name]
	if !found {
		panic(&tensor.Error{Op: "table", Why: fmt.Sprintf("column %q does not exist; want one of %q", name, t.names)})
	}
	return column
}

// Texts returns a column's text as in the file. It panics if the column does not exist.
func (t *Table) Texts(name string) []string { return slices.Clone(t.column(name)) }

// IsMissing reports for each row whether the column's value is missing.
func (t *Table) IsMissing(name string) []bool {
	out := make([]bool, t.rows)
	for i, text := range t.column(name) {
		out[i] = t.isMissing(text)
	}
	return out
}

func (t *Table) isMissing(text string) bool {
	text = strings.TrimSpace(text)
	return text == "" || slices.Contains(t.missing, text)
}

// IsNumeric reports whether all values of a column are numbers or missing, with at least one
// number.
func (t *Table) IsNumeric(name string) bool {
	numbers := 0
	for _, text := range t.column(name) {
		if t.isMissing(text) {
			continue
		}
		if _, err := parseNumber(text); err != nil {
			return false
		}
		numbers++
	}
	return numbers > 0
}

func parseNumber(text string) (float64, error) {
	if strings.ContainsAny(text, "xXpP_") {
		return 0, strconv.ErrSyntax // a number in Go only
	}
	x, err := strconv.ParseFloat(strings.TrimSpace(text), 64)
	if errors.Is(err, strconv.ErrRange) {
		err = nil // float64 rounds it to infinity
	}
	return x, err
}

// Numbers returns a column as numbers, with NaN for missing values. The error names the row
// of a text that is not a number.
func (t *Table) Numbers(name string) ([]float64, error) {
	out := make([]float64, t.rows)
	for i, text := range t.column(name) {
		if t.isMissing(text) {
			out[i] = math.NaN()
			continue
		}
		x, err := parseNumber(text)
		if err != nil {
			return nil, fmt.Errorf("data: csv: column %q, row %d: found %s; want a number", name, i, quoted(text))
		}
		out[i] = x
	}
	return out, nil
}

// Tensor returns numeric columns as a float32 tensor (rows, columns), by default all of them.
// Missing values are NaN.
func (t *Table) Tensor(names ...string) (*tensor.Tensor, error) {
	if len(names) == 0 {
		for _, name := range t.names {
			if t.IsNumeric(name) {
				names = append(names, name)
			}
		}
	}
	all := make([]float64, t.rows*len(names))
	for j, name := range names {
		column, err := t.Numbers(name)
		if err != nil {
			return nil, err
		}
		for i, x := range column {
			all[i*len(names)+j] = x
		}
	}
	return tensor.New(all, t.rows, len(names)), nil
}

// Classes returns a column as classes (rows) of int64, and the class names in sorted order:
// class 0 is the first name.
func (t *Table) Classes(name string) (*tensor.Tensor, []string) {
	column := t.column(name)
	names := slices.Compact(slices.Sorted(slices.Values(column)))
	classes := make([]int, t.rows)
	for i, text := range column {
		classes[i], _ = slices.BinarySearch(names, text)
	}
	return tensor.FromInts(classes, t.rows), names
}

// AddTexts adds a column. It panics if the name exists or the number of rows differs.
func (t *Table) AddTexts(name string, values []string) *Table {
	if _, found := t.columns[name]; found || len(t.names) > 0 && len(values) != t.rows {
		panic(&tensor.Error{Op: "table", Why: fmt.Sprintf("column %q of length %d, columns %q of length %d; want a new name and equal lengths", name, len(values), t.names, t.rows)})
	}
	if t.columns == nil {
		t.columns = map[string][]string{}
	}
	t.names, t.rows = append(t.names, name), len(values)
	t.columns[name] = slices.Clone(values)
	return t
}

// AddNumbers is AddTexts for numbers. They are written so that they read back exactly; NaN is
// written as an empty field.
func (t *Table) AddNumbers(name string, values []float64) *Table {
	texts := make([]string, len(values))
	for i, x := range values {
		if !math.IsNaN(x) {
			texts[i] = strconv.FormatFloat(x, 'g', -1, 64)
		}
	}
	return t.AddTexts(name, texts)
}

// Save writes the table with a header line to a file, atomically.
func (t *Table) Save(path string) error {
	if err := save.File(path, t.write); err != nil {
		return source{"csv", path}.fail(err)
	}
	return nil
}

func (t *Table) write(w io.Writer) error {
	c := csv.NewWriter(w)
	for i := -1; i < t.rows; i++ {
		record := slices.Clone(t.names)
		if i >= 0 {
			for j, name := range t.names {
				record[j] = t.columns[name][i]
			}
		}
		if len(record) == 1 && record[0] == "" {
			c.Flush() // encoding/csv would write an empty line, which readers skip
			if _, err := io.WriteString(w, "\"\"\n"); err != nil {
				return err
			}
			continue
		}
		c.Write(record)
	}
	c.Flush()
	return c.Error()
}

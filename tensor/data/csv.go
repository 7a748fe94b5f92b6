package data

import (
	"encoding/csv"
	"errors"
	"fmt"
	"io"
	"math"
	"slices"
	"strconv"
	"strings"

	"halfnote/internal/save"
	"halfnote/tensor"
	"halfnote/tensor/driver"
)

// Table holds the columns of a CSV file.
type Table struct {
	names   []string
	columns map[string][]string
	rows    int
	missing []string
}

// CSVOptions are the options of LoadCSV. By default the file has a header line and commas
// between fields, and an empty field, NA, N/A, NaN, null or ? is a missing value.
type CSVOptions struct {
	Comma    rune     // field separator; 0 means ','
	NoHeader bool     // the first line is data; columns are named "0", "1", …
	Missing  []string // texts that mean a missing value, in addition to the empty one
}

// LoadCSV reads a file of comma-separated values: RFC 4180. The error is a *[FormatError]
// with the line if lines have different numbers of fields, a quote is not closed, or two
// columns have the same name.
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
	r := csv.NewReader(withoutMark(in))
	if o.Comma != 0 {
		r.Comma = o.Comma
	}
	r.ReuseRecord = true
	t := &Table{columns: map[string][]string{}, missing: o.Missing}
	if o.Missing == nil {
		t.missing = []string{"NA", "N/A", "NaN", "nan", "null", "?"}
	}
	var columns [][]string
	for {
		record, err := r.Read()
		if err == io.EOF {
			break
		}
		if err != nil {
			return nil, src.csvError(err, len(t.names))
		}
		line, _ := r.FieldPos(0)
		if t.names == nil {
			if err := t.setNames(src, record, line, o.NoHeader); err != nil {
				return nil, err
			}
			columns = make([][]string, len(record))
			if !o.NoHeader {
				continue
			}
		}
		driver.Poll()
		for i, field := range record {
			columns[i] = append(columns[i], strings.Clone(field))
		}
		t.rows++
	}
	if t.names == nil {
		return nil, src.bad(atLine(1), "the end of the file", "a line of fields")
	}
	for i, name := range t.names {
		t.columns[name] = columns[i]
	}
	return t, nil
}

// csvError adds the position to an error of encoding/csv.
func (s source) csvError(err error, fields int) error {
	var p *csv.ParseError
	if !errors.As(err, &p) {
		return s.fail(err)
	}
	want := "quotes around whole fields, doubled within"
	if errors.Is(err, csv.ErrFieldCount) {
		want = fmt.Sprintf("%d fields, as in the first line", fields)
	}
	return s.bad(fmt.Sprintf("line %d, column %d", p.Line, p.Column), p.Err.Error(), want)
}

func (t *Table) setNames(src source, record []string, line int, numbered bool) error {
	for i, name := range record {
		if numbered {
			name = strconv.Itoa(i)
		}
		if _, found := t.columns[name]; found {
			return src.bad(atLine(line), "two columns "+quoted(name), "a different name for each column")
		}
		name = strings.Clone(name)
		t.names, t.columns[name] = append(t.names, name), nil
	}
	return nil
}

// withoutMark drops the byte order mark that spreadsheets write.
func withoutMark(r io.Reader) io.Reader {
	var start [3]byte
	n, err := io.ReadFull(r, start[:])
	if string(start[:n]) == "\ufeff" {
		return r
	}
	if err != nil {
		return strings.NewReader(string(start[:n]))
	}
	return io.MultiReader(strings.NewReader(string(start[:])), r)
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

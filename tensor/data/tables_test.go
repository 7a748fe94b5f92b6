package data_test

import (
	"bufio"
	"bytes"
	"crypto/sha256"
	"encoding/binary"
	"encoding/json"
	"fmt"
	"math"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"halfnote/internal/testenv"
	"halfnote/tensor/data"
)

// readTable is what pandas reads from a file, as testdata/tables.py prints it.
type readTable struct {
	File    string
	Options struct {
		Skip            int
		NoHeader, Short bool
		Comma, Comment  string
		Encoding        string
	}
	Rows    int
	Columns [][3]string // name, type, checksum
	Error   string
}

// TestTablesOfPackages reads the tables that Python's and R's packages ship, and compares names, types and all values with pandas'.
// HALFNOTE_TABLES names a folder with the unpacked packages, and PYTHON a Python with pandas.
func TestTablesOfPackages(t *testing.T) {
	folder := os.Getenv("HALFNOTE_TABLES")
	if folder == "" {
		testenv.Missing(t, "tables", "HALFNOTE_TABLES is not set to a folder with tables")
	}
	python := os.Getenv("PYTHON")
	if python == "" {
		python = "python3"
	}
	out, err := exec.Command(python, "testdata/tables.py", folder).Output()
	if err != nil {
		testenv.Missing(t, "tables", "needs a Python with pandas: name it in PYTHON: ", err)
	}
	tried, equal, refused := 0, 0, 0
	lines := bufio.NewScanner(bytes.NewReader(out))
	lines.Buffer(nil, 1<<28)
	for lines.Scan() {
		var want readTable
		if err := json.Unmarshal(lines.Bytes(), &want); err != nil {
			t.Fatal(err)
		}
		tried++
		o := data.CSVOptions{Skip: want.Options.Skip, NoHeader: want.Options.NoHeader, Short: want.Options.Short, Encoding: want.Options.Encoding}
		for _, c := range want.Options.Comma {
			o.Comma = c
		}
		for _, c := range want.Options.Comment {
			o.Comment = c
		}
		tab, err := data.LoadCSV(filepath.Join(folder, want.File), o)
		switch {
		case err != nil && want.Error != "":
			refused++
			t.Logf("both refuse: %v; pandas: %s", err, want.Error)
		case err != nil:
			t.Errorf("%v", err)
		case want.Error != "":
			t.Errorf("%s: read, but pandas refuses: %s", want.File, want.Error)
		default:
			if wrong := differences(tab, want); len(wrong) > 0 {
				t.Errorf("%s: %s", want.File, strings.Join(wrong[:min(4, len(wrong))], "; "))
				continue
			}
			equal++
		}
	}
	if tried < 100 {
		t.Errorf("%s has %d tables; want at least 100", folder, tried)
	}
	t.Logf("%d files, %d equal, %d refused by both", tried, equal, refused)
}

// differences returns what differs from pandas' table.
func differences(tab *data.Table, want readTable) (wrong []string) {
	if tab.Len() != want.Rows || len(tab.Names()) != len(want.Columns) {
		return []string{fmt.Sprintf("got %d rows, %d columns, want %d, %d", tab.Len(), len(tab.Names()), want.Rows, len(want.Columns))}
	}
	kinds := tab.DTypes()
	for i, name := range tab.Names() {
		kind := map[string]string{"object": "text", "str": "text", "uint64": "float64"}[want.Columns[i][1]]
		if kind == "" {
			kind = want.Columns[i][1]
		}
		if name != want.Columns[i][0] || kinds[i] != kind {
			wrong = append(wrong, fmt.Sprintf("column %q of %s, want %q of %s", name, kinds[i], want.Columns[i][0], kind))
			continue
		}
		if got := checksum(tab, name, kind); got != want.Columns[i][2] {
			wrong = append(wrong, fmt.Sprintf("column %q of %s: other values", name, kind))
		}
	}
	return wrong
}

// checksum is that of tables.py.
func checksum(tab *data.Table, name, kind string) string {
	h := sha256.New()
	texts, missing := tab.Texts(name), tab.IsMissing(name)
	if kind == "text" {
		for i, text := range texts {
			if missing[i] {
				text = "\x01"
			}
			h.Write([]byte("\x00" + text))
		}
		return fmt.Sprintf("%x", h.Sum(nil))
	}
	numbers, _ := tab.Numbers(name)
	for i, text := range texts {
		x := math.NaN()
		switch {
		case missing[i]:
		case kind != "bool":
			x = numbers[i]
			if kind == "int64" {
				x += 0 // pandas' integers have no negative zero
			}
		case strings.EqualFold(text, "true"):
			x = 1
		default:
			x = 0
		}
		if math.IsNaN(x) {
			x = math.Float64frombits(0x7ff8000000000000)
		}
		h.Write(binary.LittleEndian.AppendUint64(nil, math.Float64bits(x)))
	}
	return fmt.Sprintf("%x", h.Sum(nil))
}

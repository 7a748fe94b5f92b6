package chart

import (
	"encoding/csv"
	"encoding/json"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"
)

// TestJSONHasData compares the rows of WriteJSON with those of WriteCSV for every chart.
func TestJSONHasData(t *testing.T) {
	same := []Series{{Name: "run", Values: []float64{1, 2}}, {Name: "run", Values: []float64{3}}, {Values: []float64{4}}}
	for _, s := range append(someSamples(t, 8), sample{name: "same names", fig: Loss(same)}) {
		lines, err := csv.NewReader(strings.NewReader(s.fig.Data())).ReadAll()
		if err != nil && len(s.fig.head) > 0 {
			t.Fatalf("%s: %v", s.name, err)
		}
		var b strings.Builder
		if err := s.fig.WriteJSON(&b); err != nil {
			t.Fatalf("%s: %v", s.name, err)
		}
		var rows []map[string]any
		if err := json.Unmarshal([]byte(b.String()), &rows); err != nil {
			t.Fatalf("%s: %v", s.name, err)
		}
		if len(rows) != max(len(lines)-1, 0) {
			t.Fatalf("%s: got %d rows, want %d", s.name, len(rows), len(lines)-1)
		}
		for i, row := range rows {
			for j, text := range lines[i+1] {
				v, ok := row[lines[0][j]]
				if !ok {
					t.Fatalf("%s: row %d lacks %q; two columns may have one name", s.name, i, lines[0][j])
				}
				switch v := v.(type) {
				case nil:
					ok = slices.Contains([]string{"NaN", "+Inf", "-Inf"}, text)
				case float64:
					want, err := strconv.ParseFloat(text, 64)
					ok = err == nil && v == want
				case bool:
					ok = strconv.FormatBool(v) == text
				case string:
					ok = v == text
				}
				if !ok {
					t.Errorf("%s: row %d, %s: got %v, want %s", s.name, i, lines[0][j], v, text)
				}
			}
		}
	}
}

func TestSave(t *testing.T) {
	dir := t.TempDir()
	f := Loss([]Series{{Name: "run", Values: []float64{1, nan}}})
	for name, start := range map[string]string{
		"a.png": "\x89PNG", "a.svg": "<?xml", "a.HTML": "<figure", "a.csv": "step,run\n", "a.json": "[\n {\"step\": 0, \"run\": 1}",
	} {
		path := filepath.Join(dir, name)
		if err := f.Save(path); err != nil {
			t.Fatal(err)
		}
		if data, err := os.ReadFile(path); err != nil || !strings.HasPrefix(string(data), start) {
			t.Errorf("%s: got %.20q (%v), want it to begin with %q", name, data, err, start)
		}
	}
	if err := f.Save(filepath.Join(dir, "a.gif")); err == nil || !strings.Contains(err.Error(), ".csv or .json") {
		t.Errorf("got %v, want an error that lists the formats", err)
	}
}

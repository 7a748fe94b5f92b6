package interp_test

import (
	"context"
	"encoding/json"
	"os"
	"path/filepath"
	"testing"

	"halfnote/interp"
	"halfnote/kernel/eval"
)

// TestQuestions runs the notebooks of questions that users bring along, which need tables, pictures and sweeps.
func TestQuestions(t *testing.T) {
	files, err := filepath.Glob("../notebooks/testdata/questions/*.ipynb")
	if err != nil || len(files) < 2 {
		t.Fatalf("got %d notebooks, want two or more: %v", len(files), err)
	}
	for _, file := range files {
		text, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		var notebook struct {
			Cells []struct {
				Type   string   `json:"cell_type"`
				Source []string `json:"source"`
			} `json:"cells"`
		}
		if err := json.Unmarshal(text, &notebook); err != nil {
			t.Fatal(err)
		}
		t.Run(filepath.Base(file), func(t *testing.T) {
			t.Chdir(t.TempDir())
			s, err := interp.NewSession(interp.Options{})
			if err != nil {
				t.Fatal(err)
			}
			defer s.Close()
			for i, c := range notebook.Cells {
				code := ""
				for _, line := range c.Source {
					code += line
				}
				if c.Type != "code" {
					continue
				}
				if r := s.Eval(context.Background(), eval.Cell{Code: code, Count: i + 1}, silent{}); r.Err != nil {
					t.Fatalf("%s:\n%s", r.Err, code)
				}
			}
		})
	}
}

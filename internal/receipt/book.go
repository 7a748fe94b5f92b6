package receipt

import (
	"encoding/json"
	"errors"
	"fmt"
	"strings"
)

// Book is a notebook with a receipt, as its readers got it.
type Book struct {
	Receipt *Receipt
	outputs map[string]string // texts of outputs in the file, by their hash
}

// multiline is a text of a notebook's file: one, or a list of its lines.
type multiline string

func (t *multiline) UnmarshalJSON(b []byte) error {
	var one string
	if json.Unmarshal(b, &one) == nil {
		*t = multiline(one)
		return nil
	}
	var lines []string
	err := json.Unmarshal(b, &lines)
	*t = multiline(strings.Join(lines, ""))
	return err
}

// notebookFile is what a book reads of a notebook.
type notebookFile struct {
	Metadata json.RawMessage
	Cells    []struct {
		Outputs []struct {
			Type   string `json:"output_type"`
			Name   string
			Text   multiline
			Data   map[string]json.RawMessage
			EName  string
			EValue string
		}
	}
}

// ReadBook reads a notebook's file.
func ReadBook(file []byte) (*Book, error) {
	var nb notebookFile
	if err := json.Unmarshal(file, &nb); err != nil {
		return nil, fmt.Errorf("not a notebook: %w", err)
	}
	r, err := Read(nb.Metadata)
	if err != nil {
		return nil, err
	}
	if r == nil {
		return nil, errors.New("it has no receipt; halfnote run --receipt makes one")
	}
	b := &Book{r, map[string]string{}}
	b.show(nb)
	return b, nil
}

// Show adds the texts of outputs in another file: a copy of the notebook that was run.
func (b *Book) Show(file []byte) {
	var nb notebookFile
	if json.Unmarshal(file, &nb) == nil {
		b.show(nb)
	}
}

func (b *Book) show(nb notebookFile) {
	for _, c := range nb.Cells {
		for _, o := range c.Outputs {
			shown := Output{o.Name, string(o.Text)}
			switch o.Type {
			case "error":
				shown = Output{"error", o.EName + ": " + o.EValue}
			case "display_data", "execute_result":
				var plain multiline
				if raw, ok := o.Data["text/plain"]; ok {
					json.Unmarshal(raw, &plain) // others are left out
				}
				shown = Output{Text: string(plain)}
			}
			b.outputs[shown.Hash()] = shown.Text
		}
	}
}

package notebook

import (
	"fmt"
	"hash/fnv"
	"regexp"
	"strings"
)

// Notebook is a notebook of format 4.5.
type Notebook struct {
	// Metadata holds kernelspec, language_info and other fields that programs store.
	Metadata map[string]any
	Cells    []*Cell

	extra map[string]any // fields of the file that the format does not define
}

// The types of a cell.
const (
	Code     = "code"
	Markdown = "markdown"
	Raw      = "raw"
)

// Cell is one cell. Only code cells have Count and Outputs.
type Cell struct {
	ID       string
	Type     string // Code, Markdown or Raw
	Source   string
	Metadata map[string]any
	// Attachments maps a file name to its content by MIME type, which Markdown
	// refers to as attachment:NAME; nil for none.
	Attachments map[string]map[string]any
	// Count is the n of In [n]; 0 for a cell that has not run.
	Count   int
	Outputs []*Output

	extra map[string]any
}

// The types of an output.
const (
	Stream        = "stream"
	DisplayData   = "display_data"
	ExecuteResult = "execute_result"
	Error         = "error"
)

// Output is one output of a code cell. Which fields it uses depends on Type.
type Output struct {
	Type string

	Name string // Stream: "stdout" or "stderr"
	Text string // Stream

	// Data maps a MIME type to its content, for DisplayData and ExecuteResult:
	// a string, base64 where the type is binary, or any JSON value where the type
	// is JSON.
	Data     map[string]any
	Metadata map[string]any
	Count    int // ExecuteResult: the n of Out [n]

	ErrorName  string   // Error
	ErrorValue string   // Error
	Traceback  []string // Error: lines, which may hold ANSI colours

	extra map[string]any
}

// HasTag reports whether the cell's metadata lists a tag.
func (c *Cell) HasTag(tag string) bool {
	tags, _ := c.Metadata["tags"].([]any)
	for _, t := range tags {
		if t == tag {
			return true
		}
	}
	return false
}

// runs reports whether executing the notebook executes the cell: a code cell that is
// not blank and has no tag skip-execution, as in nbclient.
func (c *Cell) runs() bool {
	return c.Type == Code && strings.TrimSpace(c.Source) != "" && !c.HasTag("skip-execution")
}

// CodeCells returns the cells that executing the notebook executes.
func (nb *Notebook) CodeCells() []*Cell {
	var list []*Cell
	for _, c := range nb.Cells {
		if c.runs() {
			list = append(list, c)
		}
	}
	return list
}

// ClearOutputs makes the notebook one that has not run: without outputs, execution counts and states of widgets.
func (nb *Notebook) ClearOutputs() {
	for _, c := range nb.Cells {
		c.Count, c.Outputs = 0, nil
		delete(c.Metadata, "execution") // times
	}
	delete(nb.Metadata, "widgets")
}

// Language returns the language of code cells; "" if the metadata does not name it.
func (nb *Notebook) Language() string {
	for _, key := range [][2]string{{"language_info", "name"}, {"kernelspec", "language"}} {
		if info, ok := nb.Metadata[key[0]].(map[string]any); ok {
			if name, ok := info[key[1]].(string); ok && name != "" {
				return name
			}
		}
	}
	return ""
}

var heading = regexp.MustCompile(`(?m)^ {0,3}#{1,6}[ \t]+(.+?)[ \t]*#*[ \t]*$`)

// Title returns the title in the metadata, or the first heading of a Markdown cell, or "".
func (nb *Notebook) Title() string {
	if t, ok := nb.Metadata["title"].(string); ok && t != "" {
		return t
	}
	for _, c := range nb.Cells {
		if c.Type != Markdown {
			continue
		}
		if m := heading.FindStringSubmatch(c.Source); m != nil {
			return strings.NewReplacer("`", "", "**", "", "__", "").Replace(m[1])
		}
	}
	return ""
}

var validID = regexp.MustCompile(`^[a-zA-Z0-9_-]{1,64}$`)

// giveIDs gives an id to every cell without one, with an invalid one, or with that of an
// earlier cell. The id is computed from the cell's place and source, so a file always gets
// the same ids.
func (nb *Notebook) giveIDs() {
	taken := make(map[string]bool, len(nb.Cells))
	need := make([]bool, len(nb.Cells))
	for i, c := range nb.Cells {
		need[i] = !validID.MatchString(c.ID) || taken[c.ID]
		if !need[i] {
			taken[c.ID] = true
		}
	}
	for i, c := range nb.Cells {
		for salt := 0; need[i]; salt++ {
			h := fnv.New32a()
			fmt.Fprintf(h, "%d %d %s %s", i, salt, c.Type, c.Source)
			c.ID = fmt.Sprintf("%08x", h.Sum32())
			need[i] = taken[c.ID]
		}
		taken[c.ID] = true
	}
}

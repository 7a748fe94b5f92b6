package receipt

import (
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"strings"
)

// Receipt holds hashes of what a run of a notebook computed. It stands in the notebook's metadata, under halfnote and receipt.
type Receipt struct {
	Version int     `json:"version"` // Version
	Release string  `json:"release"` // version of halfnote
	Cells   []Entry `json:"cells"`   // the code cells that run, in order
}

// Version is the version of the form of receipts.
const Version = 1

// Entry is what a receipt holds of a cell. One whose outputs vary has no outputs, operations and charts in it.
type Entry struct {
	ID      string   `json:"id"`
	Source  string   `json:"source"`
	Outputs []string `json:"outputs,omitempty"`
	State   Cell     `json:"state"`
	Chain   string   `json:"chain"` // hash of the chain before, and of the fields above
}

// Chained returns the chain of a cell after the one before.
func (e Entry) Chained(before string) string {
	e.Chain = before
	text, _ := json.Marshal(e) // it has no values that JSON lacks
	return Hash(string(text))
}

// Hash returns the hash of a text.
func Hash(text string) string {
	sum := sha256.Sum256([]byte(text))
	return hex.EncodeToString(sum[:8])
}

// Read decodes the receipt in the metadata of a notebook, and checks that its chain is whole. It returns nil for a notebook without one.
func Read(metadata []byte) (*Receipt, error) {
	var m struct {
		Halfnote struct {
			Receipt *Receipt `json:"receipt"`
		} `json:"halfnote"`
	}
	if err := json.Unmarshal(metadata, &m); err != nil {
		return nil, fmt.Errorf("the receipt: %w", err)
	}
	r := m.Halfnote.Receipt
	if r == nil {
		return nil, nil
	}
	if r.Version != Version {
		return nil, fmt.Errorf("the receipt: its form has version %d, and this halfnote reads version %d: make it again with halfnote run --receipt", r.Version, Version)
	}
	chain := ""
	for i, e := range r.Cells {
		if chain = e.Chained(chain); chain != e.Chain {
			return nil, fmt.Errorf("the receipt has been changed: its hashes of cell %d do not fit the chain", i+1)
		}
	}
	return r, nil
}

// Magic is the beginning of a cell that compares a session with a receipt. What it shows varies.
const Magic = "%receipt"

// Compares reports whether a cell compares the session with a receipt.
func Compares(source string) bool {
	first, _, _ := strings.Cut(strings.TrimSpace(source), "\n")
	word, _, _ := strings.Cut(first, " ")
	return word == Magic
}

// Output is what a receipt covers of an output. Pictures and HTML show the same values; their bytes depend on libraries.
type Output struct {
	Name string // stdout, stderr, error, or "" for a value that is shown
	Text string // of the stream, of the error after its name and a colon, or the plain text of the value
}

// Hash returns the hash of the output.
func (o Output) Hash() string { return Hash(o.Name + "\n" + o.Text) }

// Parting returns the number of the first line, from 1, in which two texts differ, and that line of both.
func Parting(now, was string) (line int, a, b string) {
	for {
		line++
		var moreNow, moreWas bool
		a, now, moreNow = strings.Cut(now, "\n")
		b, was, moreWas = strings.Cut(was, "\n")
		if a != b || !moreNow && !moreWas {
			return line, a, b
		}
	}
}

package main

import (
	"fmt"
	"os"
	"strings"
)

// The table stands between these lines of the page.
const (
	tableBegin = "<!-- The rows are written by go generate ./internal/newgo -->\n"
	tableEnd   = "<!-- End of the rows -->\n"
)

// writePage replaces the table in a page.
func writePage(file string) error {
	b, err := os.ReadFile(file)
	if err != nil {
		return err
	}
	text, err := page(string(b))
	if err != nil {
		return fmt.Errorf("%s: %w", file, err)
	}
	return os.WriteFile(file, []byte(text), 0o666)
}

// page returns a page with the table of today's rows.
func page(text string) (string, error) {
	before, rest, ok1 := strings.Cut(text, tableBegin)
	_, after, ok2 := strings.Cut(rest, tableEnd)
	if !ok1 || !ok2 {
		return "", fmt.Errorf("the lines around the table are missing: want %q and %q", tableBegin, tableEnd)
	}
	return before + tableBegin + "\n" + table() + "\n" + tableEnd + after, nil
}

// table returns the rows in Markdown.
func table() string {
	var b strings.Builder
	b.WriteString("| row | relies on | where | tests | if they fail |\n|---|---|---|---|---|\n")
	for _, r := range rows {
		var tests []string
		for _, t := range r.tests {
			tests = append(tests, "`"+t+"`")
		}
		var files []string
		for _, f := range r.files {
			files = append(files, "`"+f+"`")
		}
		fmt.Fprintf(&b, "| %s | %s | %s | %s in `%s` | %s |\n", r.name, r.on, strings.Join(files, ", "), strings.Join(tests, ", "), r.pkg, r.mend)
	}
	return b.String()
}

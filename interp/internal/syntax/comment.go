package syntax

import (
	"go/ast"
	"strings"
)

// CommentAbove returns the text of the // lines that end above a line.
func CommentAbove(code string, line int) string {
	lines := strings.Split(code, "\n")
	if line > len(lines) {
		return "" // the session has dropped the cell's source
	}
	first := line - 1
	for first > 0 && strings.HasPrefix(strings.TrimLeft(lines[first-1], " \t"), "//") {
		first--
	}
	var group ast.CommentGroup
	for _, l := range lines[first : line-1] {
		group.List = append(group.List, &ast.Comment{Text: strings.TrimSpace(l)})
	}
	return group.Text()
}

package exports

import (
	"go/doc"
	"regexp"
	"strings"

	"halfnote/internal/text"
)

// maxSummary is the length in code points at which a summary is cut.
const maxSummary = 200

// link matches a link of a doc comment.
var link = regexp.MustCompile(`\[(\*?[\pL_][\pL\pN_.]*)\]`)

// Summary returns the first sentence of the comment of a declaration, without its name at the start and
// the full stop.
func Summary(name, comment string) string {
	first := link.ReplaceAllString(new(doc.Package).Synopsis(comment), "$1")
	first = strings.TrimPrefix(first, "Package ")
	first = strings.TrimPrefix(first, name+" ")
	return strings.TrimSuffix(text.Cut(first, maxSummary), ".")
}

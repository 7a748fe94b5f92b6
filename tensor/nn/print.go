package nn

import (
	"fmt"
	"strings"

	"halfnote/internal/text"
)

// truth and tuple print in Python's notation.
func truth(b bool) string {
	if b {
		return "True"
	}
	return "False"
}

func tuple(shape []int) string { return text.Shape(shape) }

// literal returns a truth value or number as Python prints it.
func literal(v any) string {
	switch v := v.(type) {
	case bool:
		return truth(v)
	case float64:
		return python(v)
	}
	return fmt.Sprint(v)
}

// python returns a number as Python prints it.
func python(v float64) string {
	s := fmt.Sprint(v)
	if !strings.ContainsAny(s, ".e") {
		s += ".0"
	}
	return s
}

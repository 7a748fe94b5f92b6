package nn

import (
	"fmt"
	"strings"
)

// python returns a truth value or number as Python prints it.
func python(v any) string {
	switch v := v.(type) {
	case bool:
		if v {
			return "True"
		}
		return "False"
	case float64:
		s := fmt.Sprint(v)
		if !strings.ContainsAny(s, ".e") {
			s += ".0"
		}
		return s
	}
	return fmt.Sprint(v)
}

// tuple returns sizes as Python prints a tuple.
func tuple(shape []int) string {
	text := strings.ReplaceAll(strings.Trim(fmt.Sprint(shape), "[]"), " ", ", ")
	if len(shape) == 1 {
		text += ","
	}
	return "(" + text + ")"
}

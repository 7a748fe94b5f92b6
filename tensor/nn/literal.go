package nn

import (
	"fmt"
	"strings"
)

// literal returns a truth value or number as Python prints it.
func literal(v any) string {
	switch v := v.(type) {
	case bool:
		return truth(v)
	case float64:
		s := fmt.Sprint(v)
		if !strings.ContainsAny(s, ".e") {
			s += ".0"
		}
		return s
	}
	return fmt.Sprint(v)
}

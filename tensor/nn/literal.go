package nn

import "fmt"

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

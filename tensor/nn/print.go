package nn

import (
	"fmt"
	"strings"
)

// truth and tuple print as Python does.
func truth(b bool) string {
	if b {
		return "True"
	}
	return "False"
}

func tuple(shape []int) string {
	text := strings.ReplaceAll(strings.Trim(fmt.Sprint(shape), "[]"), " ", ", ")
	if len(shape) == 1 {
		text += ","
	}
	return "(" + text + ")"
}

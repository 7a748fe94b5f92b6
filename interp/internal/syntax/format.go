package syntax

import "go/format"

// Format returns source in the format of gofmt. It returns the source as it is if gofmt would make an error of it:
// gofmt takes the parentheses from switch (T[int]{}) {.
func Format(src []byte) ([]byte, error) {
	text, err := format.Source(src)
	if err != nil {
		return nil, err
	}
	if _, err := format.Source(text); err != nil {
		return src, nil
	}
	return text, nil
}

package text

// Cut shortens a text to at most max code points. It reads no more of the text than those, since a
// variable may hold gigabytes.
func Cut(text string, max int) string {
	n, last := 0, 0
	for i := range text {
		if n == max {
			return text[:last] + "…"
		}
		n, last = n+1, i
	}
	return text
}

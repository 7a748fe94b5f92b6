package data

import (
	"strings"
	"unicode"

	"golang.org/x/text/unicode/norm"
)

// BERT's splitting of a text into words, before it looks for pieces: BasicTokenizer in
// https://github.com/google-research/bert/blob/master/tokenization.py, in the version of the
// Rust package tokenizers (normalizers/bert.rs, pre_tokenizers/bert.rs), which keeps
// unassigned characters. Marks and punctuation follow Go's version of Unicode.

// words returns the words of a text. Punctuation and Chinese characters are separate words.
func words(text string, lower bool) []string {
	text = clean(text)
	if lower {
		text = lowerCase(withoutAccents(text))
	}
	var list []string
	for _, field := range strings.Fields(text) {
		start := 0
		for i, r := range field {
			if !isPunctuation(r) {
				continue
			}
			if i > start {
				list = append(list, field[start:i])
			}
			start = i + len(string(r))
			list = append(list, field[i:start])
		}
		if start < len(field) {
			list = append(list, field[start:])
		}
	}
	return list
}

// clean drops control characters, turns all white space into spaces, and puts spaces around
// Chinese characters.
func clean(text string) string {
	var b strings.Builder
	for _, r := range text {
		switch {
		case r == '\t' || r == '\n' || r == '\r' || unicode.In(r, unicode.Z):
			b.WriteByte(' ')
		case r == 0xfffd || unicode.In(r, unicode.Cc, unicode.Cf, unicode.Co):
		case isChinese(r):
			b.WriteByte(' ')
			b.WriteRune(r)
			b.WriteByte(' ')
		default:
			b.WriteRune(r)
		}
	}
	return b.String()
}

// withoutAccents decomposes characters and drops nonspacing marks.
func withoutAccents(text string) string {
	return strings.Map(func(r rune) rune {
		if unicode.Is(unicode.Mn, r) {
			return -1
		}
		return r
	}, norm.NFD.String(text))
}

func lowerCase(text string) string { return strings.Map(unicode.ToLower, text) }

// isPunctuation is wider than Unicode's class: all ASCII except letters, digits and space
// counts, such as $ and ^.

func isPunctuation(r rune) bool {
	return r > ' ' && r < 0x7f && !(r >= '0' && r <= '9' || r >= 'A' && r <= 'Z' || r >= 'a' && r <= 'z') || unicode.Is(unicode.P, r)
}

// chinese lists the blocks that count as Chinese in the package tokenizers, which include only
// a part of extension E.
var chinese = &unicode.RangeTable{
	R16: []unicode.Range16{{0x3400, 0x4dbf, 1}, {0x4e00, 0x9fff, 1}, {0xf900, 0xfaff, 1}},
	R32: []unicode.Range32{{0x20000, 0x2a6df, 1}, {0x2a700, 0x2b73f, 1}, {0x2b740, 0x2b81f, 1}, {0x2b920, 0x2ceaf, 1}, {0x2f800, 0x2fa1f, 1}},
}

func isChinese(r rune) bool { return unicode.Is(chinese, r) }

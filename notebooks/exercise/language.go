package exercise

import (
	"embed"
	"fmt"
	"io/fs"
	"maps"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
)

// translations holds a table for each language besides English: NAME.txt, whose paragraphs are an English text
// and its translation, a line each. A line that begins with # is a comment.
//
//go:embed *.txt
var translations embed.FS

// tables are the tables by language.
var tables = sync.OnceValue(func() map[string]map[string]string {
	names, err := fs.Glob(translations, "*.txt")
	if err != nil {
		panic(err)
	}
	all := map[string]map[string]string{"en": {}}
	for _, name := range names {
		text, err := fs.ReadFile(translations, name)
		if err != nil {
			panic(err)
		}
		table := map[string]string{}
		english := ""
		for line := range strings.Lines(string(text)) {
			line = strings.TrimRight(line, "\r\n")
			switch {
			case line == "" || strings.HasPrefix(line, "#"):
				english = ""
			case english == "":
				english = line
			default:
				table[english] = line
			}
		}
		all[strings.TrimSuffix(name, ".txt")] = table
	}
	return all
})

// language is the table in use.
var language atomic.Pointer[map[string]string]

// Language sets the language of questions, hints and verdicts in this kernel: "en" for English, the default, or
// "ko" for Korean. A translated lesson calls it in its first cell. A text without a translation stays in English. Language panics for
// an unknown language.
func Language(code string) {
	table, known := tables()[code]
	if !known {
		panic(fmt.Sprintf("exercise.Language: unknown language %q; want one of %s", code, strings.Join(slices.Sorted(maps.Keys(tables())), ", ")))
	}
	language.Store(&table)
}

// tr returns a text in the language in use.
func tr(english string) string {
	if table := language.Load(); table != nil {
		if text, ok := (*table)[english]; ok {
			return text
		}
	}
	return english
}

// complain returns an error for the learner, in the language in use.
func complain(format string, args ...any) error {
	return fmt.Errorf(tr(format), args...)
}

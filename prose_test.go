package main

import (
	"os"
	"path/filepath"
	"regexp"
	"regexp/syntax"
	"slices"
	"strings"
	"testing"

	"halfnote/internal/testenv"
)

// phrases lists phrases that a native reader would rewrite, and their replacements, sorted.
// The phrases are regular expressions for text in lower case.
var phrases = [][2]string{
	{`%q in it"`, "that contains %q"},
	{`\b(?:as|where) (?:it|they) lies?\b`, "at its place, contiguous, directly"},
	{`\b(?:hereby|therewith|whereby|wherein|hence)\b`, "so, a new sentence"},
	{`\b(?:is|are) taken for\b`, "is treated as, is mistaken for"},
	{`\b(?:is|was) no (?:\w+)\b`, "is not a …"},
	{`\b(?:nobody|somebody|whoever|everybody|anybody)\b`, "a noun: no caller, a goroutine, each process"},
	{`\b(?:tells|says) whether\b`, "reports whether"},
	{`\ba (?:line|row) a \w+`, "one line per …"},
	{`\ball else\b`, "everything else"},
	{`\ban error with %q`, "an error that contains %q"},
	{`\banew\b`, "again, afresh"},
	{`\bare no (a|an|\w+s)\b`, "are not …"},
	{`\bas .{1,40} has it\b`, "in the order of, as … does"},
	{`\bat the (least|most)\b`, "at least, at most"},
	{`\bbeside (?:an?|another|it|the|them|these|this)\b`, "next to, compared with"},
	{`\bby itself (?:alone )?knows\b`, "knows"},
	{`\bby the very\b`, "by exactly the"},
	{`\bcomes? to light\b`, "is detected, is reported"},
	{`\bcomparison shows nothing\b`, "is meaningless"},
	{`\bdo(?:es)? not know (?:autocast|autograd|charts|modules|sockets|tensors|views)\b`, "does not depend on"},
	{`\bdo(?:es)? without\b`, "runs without it"},
	{`\bdoes not exist any more\b`, "no longer exists"},
	{`\bequally many\b`, "the same number of"},
	{`\bequals nothing\b|\bclose to nothing\b`, "is not equal to, is not close to any"},
	{`\bexpected (?:one|some|it), as\b`, "for example"},
	{`\bfalsif(?:y|ies)\b`, "makes wrong, invalidates"},
	{`\bgoes on(?:,| (?:from|to|with|working|while)\b)`, "continues, keeps"},
	{`\bha(?:s|ve) not got\b`, "lacks, does not support"},
	{`\bhad better\b`, "should, must"},
	{`\bheeds?\b`, "regards, takes into account"},
	{`\bif they stood\b`, "as if they were"},
	{`\bin turns\b`, "alternately"},
	{`\bis no more than it\b`, "is at most that"},
	{`\bis not there\b|\bare not there\b|\bnot be there\b`, "does not exist, is missing, has been released"},
	{`\bis said to\b`, "is told to"},
	{`\bknows? none of\b`, "lacks, does not support"},
	{`\bknows? nothing of\b`, "does not know"},
	{`\blest\b`, "so that … not"},
	{`\bmend (?:it|the|them|this)\b`, "fix, repair"},
	{`\bneeds? no care\b`, "needs no special treatment"},
	{`\bno one\b`, "a noun, as for nobody"},
	{`\bnothing but\b`, "only"},
	{`\bnow and then\b`, "from time to time"},
	{`\bof (?:its|one's|our|their) own(?: (?:and|as|for|in|of|on|that|to|which|with)\b|[.,;:)|]|$)`, "its own, a separate, a new"},
	{`\bof late\b`, "recently"},
	{`\bsays that\b`, "reports that, checks that"},
	{`\bso that nobody\b`, "a noun and its verb"},
	{`\btakes what comes\b`, "the thing that it takes"},
	{`\bthan it is worth\b`, "than it saves"},
	{`\bthereby\b`, "so, which"},
	{`\bwants to know\b`, "needs"},
	{`\bwhat becomes of\b`, "a noun: the result of"},
	{`\bwhat else has\b`, "other values with"},
	{`\bwhat says\b`, "a noun: the rule that"},
	{`\bwho(?:ever)? knows\b`, "if you know"},
	{`\bwithout a word\b`, "silently"},
}

// spared matches correct uses of the phrases: names, quotations and set expressions.
var spared = regexp.MustCompile(`(?i)everybody's rights|is no longer|was no longer|are no longer|is no more than|is no less than|is no larger|is no smaller|is no slower|is no faster|are no more than|user\W{0,3}nobody|there (?:is|are|was) no `)

// TestProse checks that the phrases of the table do not occur in any text that people read:
// code, comments, messages, pages and notebooks.
func TestProse(t *testing.T) {
	var list []*regexp.Regexp
	var parts [][]string
	for _, p := range phrases {
		list = append(list, regexp.MustCompile(p[0]))
		re, err := syntax.Parse(p[0], syntax.Perl)
		if err != nil {
			t.Fatal(err)
		}
		if len(literals(re)) == 0 {
			t.Fatalf("%s: got a phrase without a literal, want one", p[0])
		}
		parts = append(parts, literals(re))
	}
	for _, file := range texts(t) {
		text, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		for i, line := range strings.Split(strings.ToLower(string(text)), "\n") {
			if len(line) > 10_000 && strings.HasSuffix(file, ".ipynb") {
				continue // a picture
			}
			for j, re := range list {
				// Most lines have none of the literals, and the search for these is fast.
				if !slices.ContainsFunc(parts[j], func(s string) bool { return strings.Contains(line, s) }) {
					continue
				}
				if found := re.FindString(spared.ReplaceAllString(line, "")); found != "" {
					t.Errorf("%s:%d: %q; write: %s", file, i+1, found, phrases[j][1])
				}
			}
		}
	}
}

// literals returns texts of which every match of a regular expression contains at least one.
func literals(re *syntax.Regexp) (list []string) {
	switch re.Op {
	case syntax.OpLiteral:
		return []string{string(re.Rune)}
	case syntax.OpConcat:
		for _, sub := range re.Sub {
			if l := literals(sub); len(l) > 0 && (list == nil || shortest(l) > shortest(list)) {
				list = l
			}
		}
	case syntax.OpAlternate:
		for _, sub := range re.Sub {
			l := literals(sub)
			if len(l) == 0 {
				return nil
			}
			list = append(list, l...)
		}
	case syntax.OpCapture, syntax.OpPlus:
		return literals(re.Sub[0])
	}
	return list
}

// shortest returns the length of the shortest text.
func shortest(list []string) int {
	return len(slices.MinFunc(list, func(a, b string) int { return len(a) - len(b) }))
}

// texts returns the tracked files that hold prose.
func texts(t *testing.T) (files []string) {
	t.Helper()
	for _, file := range testenv.Tracked(t, ".") {
		switch filepath.Ext(file) {
		case ".go", ".md", ".ipynb", ".cu", ".cuh", ".py", ".sh", ".txtar", ".c", ".h":
		default:
			continue
		}
		generated := strings.HasPrefix(filepath.Base(file), "z_") || strings.Contains(file, "testdata/fuzz/")
		if !generated && file != "prose_test.go" && strings.HasPrefix(file, os.Getenv("HALFNOTE_PROSE")) {
			files = append(files, file)
		}
	}
	return files
}

// TestNamedTests checks that the tests that pages name exist.
func TestNamedTests(t *testing.T) {
	declared, named := regexp.MustCompile(`(?m)^func (Test\w+)\(`), regexp.MustCompile("`(Test[A-Z]\\w*)")
	exist := map[string]bool{}
	pages := map[string]string{}
	for _, file := range texts(t) {
		text, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		switch {
		case strings.HasSuffix(file, "_test.go"):
			for _, m := range declared.FindAllStringSubmatch(string(text), -1) {
				exist[m[1]] = true
			}
		case strings.HasSuffix(file, ".md"):
			pages[file] = string(text)
		}
	}
	for file, text := range pages {
		for _, m := range named.FindAllStringSubmatch(text, -1) {
			if !exist[m[1]] {
				t.Errorf("%s: there is no test %s", file, m[1])
			}
		}
	}
}

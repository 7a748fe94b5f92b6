package main

import (
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
)

// phrases lists phrases that a native reader would rewrite, and their replacements, sorted.
// The phrases are regular expressions that ignore case.
var phrases = [][2]string{
	{`%q in it"`, "that contains %q"},
	{`\ban error with %q`, "an error that contains %q"},
	{`\banew\b`, "again, afresh"},
	{`\bare no (a|an|\w+s)\b`, "are not …"},
	{`\bas .{1,40} has it\b`, "in the order of, as … does"},
	{`\bat the (least|most)\b`, "at least, at most"},
	{`\bby itself (?:alone )?knows\b`, "knows"},
	{`\bcomparison shows nothing\b`, "is meaningless"},
	{`\bcomes? to light\b`, "is detected, is reported"},
	{`\bdoes not exist any more\b`, "no longer exists"},
	{`\bdo(?:es)? without\b`, "runs without it"},
	{`\bexpected (?:one|some|it), as\b`, "for example"},
	{`\bgoes on(?:,| (?:from|to|with|working|while)\b)`, "continues, keeps"},
	{`\bhad better\b`, "should, must"},
	{`\bheeds?\b`, "regards, takes into account"},
	{`\b(?:hereby|therewith|whereby|wherein|hence)\b`, "so, a new sentence"},
	{`\bin turns\b`, "alternately"},
	{`\bis no more than it\b`, "is at most that"},
	{`\bis not there\b|\bare not there\b|\bnot be there\b`, "does not exist, is missing, has been released"},
	{`\bis said to\b`, "is told to"},
	{`\b(?:is|was) no (?:\w+)\b`, "is not a …"},
	{`\bknows? nothing of\b`, "does not know"},
	{`\bknows? none of\b`, "lacks, does not support"},
	{`\blest\b`, "so that … not"},
	{`\b(?:nobody|somebody|whoever|everybody|anybody)\b`, "a noun: no caller, a goroutine, each process"},
	{`\bnothing but\b`, "only"},
	{`\bof late\b`, "recently"},
	{`\bsays that\b`, "reports that, checks that"},
	{`\bso that nobody\b`, "a noun and its verb"},
	{`\b(?:tells|says) whether\b`, "reports whether"},
	{`\bthan it is worth\b`, "than it saves"},
	{`\bthereby\b`, "so, which"},
	{`\bwhat becomes of\b`, "a noun: the result of"},
	{`\bwhat says\b`, "a noun: the rule that"},
	{`\bwithout a word\b`, "silently"},
}

// spared matches correct uses of the phrases: names, quotations and set expressions.
var spared = regexp.MustCompile(`(?i)everybody's rights|is no longer|was no longer|are no longer|is no more than|is no less than|is no larger|is no smaller|is no slower|is no faster|are no more than|user\W{0,3}nobody|there (?:is|are|was) no `)

// TestProse checks that the phrases of the table do not occur in any text that people read:
// code, comments, messages, pages and notebooks.
func TestProse(t *testing.T) {
	var list []*regexp.Regexp
	for _, p := range phrases {
		list = append(list, regexp.MustCompile("(?i)"+p[0]))
	}
	for _, file := range texts(t) {
		text, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		for i, line := range strings.Split(string(text), "\n") {
			line = spared.ReplaceAllString(line, "")
			for j, re := range list {
				if found := re.FindString(line); found != "" {
					t.Errorf("%s:%d: %q; write: %s", file, i+1, found, phrases[j][1])
				}
			}
		}
	}
}

// texts returns the files of the repository that hold prose.
func texts(t *testing.T) (files []string) {
	t.Helper()
	out, err := exec.Command("git", "ls-files", "--cached", "--others", "--exclude-standard").Output()
	if err != nil {
		t.Skipf("needs git and a checkout: %v", err)
	}
	for file := range strings.Lines(string(out)) {
		file = strings.TrimSpace(file)
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

package interp

import (
	"encoding/json"
	"flag"
	"fmt"
	"path/filepath"
	"testing"
	"time"

	"halfnote/interp/internal/lower"
)

var (
	conditions = flag.String("conditions", "[]", "numbers of the conditions of a survey, in JSON")
	mutation   = flag.Int64("mutation", 0, "number of the condition to negate")
)

// TestSurvey runs scripts and tests, and prints for each which conditions matter to it: to a test all that it meets. It writes the outputs of scripts that are not in testdata.
func TestSurvey(t *testing.T) {
	var sample []int
	if err := json.Unmarshal([]byte(*conditions), &sample); err != nil {
		t.Fatal(err)
	}
	changed, all := map[int]int{}, map[int]int{}
	for _, n := range sample {
		all[n] = lower.Often
	}
	for _, name := range flag.Args() {
		s := &lower.Survey{Sample: sample, Met: map[int]int{}, Changed: map[int]bool{}, Before: changed}
		test := otherTests[name]
		if test != nil {
			s.Before = all
		}
		start := time.Now()
		t.Run(name, func(t *testing.T) {
			lower.Surveying.Store(s)
			*update = filepath.IsAbs(name)
			if test != nil {
				test(t)
			} else {
				runScript(t, Engines[0], name, nil, func(string, []byte) {})
			}
		})
		lower.Surveying.Store(nil)
		for _, n := range s.Note() {
			s.Changed[n] = true
		}
		for n, c := range s.Changed {
			if c {
				changed[n]++
			}
		}
		line, err := json.Marshal(surveyed{name, time.Since(start) - s.Spent, s.Met, s.Changed})
		if err != nil {
			t.Fatal(err)
		}
		fmt.Printf("\n%s%s\n", surveyLine, line)
	}
}

// TestMutant runs scripts and tests with a condition negated until one shows it.
func TestMutant(t *testing.T) {
	lower.Mutation.Store(*mutation)
	for _, name := range flag.Args() {
		fmt.Printf("\n%s%s\n", nextLine, name)
		by := survives
		ok := t.Run(name, func(t *testing.T) {
			if test := otherTests[name]; test != nil {
				test(t)
			} else {
				by = changed(t, name, func(*Session) {})
			}
		})
		if !ok && by == survives {
			by = byCrash
		}
		if by != survives {
			fmt.Printf("\n%s%s\n", foundLine, by)
			return
		}
	}
	fmt.Printf("\n%s%s\n", foundLine, survives)
}

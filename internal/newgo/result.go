package main

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os/exec"
	"slices"
	"strings"
)

// verdict is the outcome of a step or of a row.
type verdict string

const (
	pass   verdict = "pass"
	failed verdict = "FAIL"
	notRun verdict = "not run" // the tests were skipped, or do not exist
)

// result is a verdict with the words of the tests that explain it.
type result struct {
	verdict
	why string
}

var passed = result{verdict: pass}

// print writes a line with the verdict of what, and the words below it, indented.
func (r result) print(w io.Writer, what string) {
	fmt.Fprintf(w, "%-7s  %s\n", r.verdict, what)
	for line := range strings.Lines(r.why) {
		fmt.Fprintf(w, "             %s\n", strings.TrimRight(line, "\n"))
	}
}

// outcome holds what the tests of a package did, by name, and what the package printed outside tests.
type outcome struct {
	action map[string]string // pass, fail or skip
	text   map[string]string
}

// packages lists the packages of the rows in the order in which they first occur.
func packages() (list []string) {
	for _, r := range rows {
		if !slices.Contains(list, r.pkg) {
			list = append(list, r.pkg)
		}
	}
	return list
}

// test runs the tests of the rows that are in a package.
func (t toolchain) test(pkg string) (outcome, error) {
	var names []string
	for _, r := range rows {
		if r.pkg == pkg {
			names = append(names, r.tests...)
		}
	}
	cmd := t.command("test", "-json", "-vet=off", "-count=1", "-timeout", "20m", "-run", "^("+strings.Join(names, "|")+")$", "./"+pkg)
	cmd.Env = append(cmd.Env, "HALFNOTE_REQUIRE=native") // some tests of compiled cells run only on request
	out, err := cmd.Output()
	var exit *exec.ExitError
	if err != nil && !errors.As(err, &exit) {
		return outcome{}, err
	}
	return read(out)
}

// read collects what go test -json has printed.
func read(out []byte) (outcome, error) {
	o := outcome{action: map[string]string{}, text: map[string]string{}}
	for dec := json.NewDecoder(bytes.NewReader(out)); ; {
		var e struct{ Action, Test, Output string }
		switch err := dec.Decode(&e); {
		case errors.Is(err, io.EOF):
			return o, nil
		case err != nil:
			return o, fmt.Errorf("go test -json: %w", err)
		}
		switch test, _, _ := strings.Cut(e.Test, "/"); e.Action {
		case "output", "build-output":
			if !strings.HasPrefix(strings.TrimSpace(e.Output), "=== ") {
				o.text[test] += e.Output
			}
		case "pass", "fail", "skip":
			if test == e.Test { // not a part of a test
				o.action[test] = e.Action
			}
		}
	}
}

// of returns the result of a row: it passes if each of its tests ran and passed.
func (o outcome) of(r row) result {
	rr := passed
	for _, test := range r.tests {
		switch o.action[test] {
		case "pass":
		case "skip":
			if rr.verdict == pass {
				rr = result{notRun, lastLines(o.text[test], 3)}
			}
		case "":
			return result{failed, strings.TrimSpace(test + " did not run\n" + lastLines(o.text[""], 10))}
		default:
			return result{failed, lastLines(o.text[test], 10)}
		}
	}
	return rr
}

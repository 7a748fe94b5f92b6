// Package testenv says what a run of the tests must include. It reads HALFNOTE_REQUIRE,
// a list of names separated by commas: a test that needs something on the machine skips
// where it is missing, and fails if the list names it.
package testenv

import (
	"os"
	"slices"
	"strings"
	"testing"
)

// Requires reports whether HALFNOTE_REQUIRE lists name.
func Requires(name string) bool {
	return slices.Contains(strings.Split(os.Getenv("HALFNOTE_REQUIRE"), ","), name)
}

// Missing ends a test that lacks something, which the message describes. The test fails
// if HALFNOTE_REQUIRE lists name, and skips otherwise.
func Missing(t testing.TB, name string, message ...any) {
	t.Helper()
	if Requires(name) {
		t.Fatal(message...)
	}
	t.Skip(message...)
}

// Share returns n, the share of a long test's cases that a default run includes: one
// in n. It returns 1 if HALFNOTE_REQUIRE lists long.
func Share(t testing.TB, n int) int {
	t.Helper()
	if Requires("long") {
		return 1
	}
	t.Logf("one case in %d; HALFNOTE_REQUIRE=long runs all", n)
	return n
}

// Long skips a test that takes long, unless HALFNOTE_REQUIRE lists long.
func Long(t testing.TB) {
	t.Helper()
	if !Requires("long") {
		t.Skip("takes long; HALFNOTE_REQUIRE=long runs it")
	}
}

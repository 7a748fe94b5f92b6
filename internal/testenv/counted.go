package testenv

import (
	"bufio"
	"cmp"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
)

// inputVar is the environment variable that gives a child process of [Counter.Growth] its input.
const inputVar = "HALFNOTE_TEST_COUNTED"

// A Counter counts the statements that a test executes.
type Counter struct {
	binary, test string
	others       []string
}

// NewCounter builds the tests of the package in the working directory again, with counters in packages, which are separated by commas. Test is the
// one that its child processes run; it has the input that [CountedInput] returns. The statements of others, which begin with one of these
// paths, are counted apart. It skips the calling test unless HALFNOTE_REQUIRE lists long.
func NewCounter(t *testing.T, packages, test string, others ...string) *Counter {
	t.Helper()
	if !Requires("long") {
		t.Skip("compiles the tests again, with counters: HALFNOTE_REQUIRE=long runs it")
	}
	c := &Counter{filepath.Join(t.TempDir(), "counted.test"), test, others}
	if out, err := exec.Command("go", "test", "-c", "-vet=off", "-covermode=atomic", "-coverpkg="+packages, "-o", c.binary, ".").CombinedOutput(); err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	return c
}

// CountedInput reads the input of a child process into places, as fmt.Sscan does, and skips the test elsewhere.
func CountedInput(t *testing.T, places ...any) {
	t.Helper()
	if n, _ := fmt.Sscan(os.Getenv(inputVar), places...); n < len(places) {
		t.Skip("runs only as a child process")
	}
}

// Growth runs the test with the inputs that input returns for n, 2n and 4n, and logs how many statements it executes. It fails unless the second
// doubling adds at least as many as the first, otherwise the larger inputs are refused, and at most three times as many: twice
// is linear growth, four times quadratic.
func (c *Counter) Growth(t *testing.T, n int, input func(n int) string) {
	t.Helper()
	var own, others [3]int
	var where string
	for i := range own {
		own[i], others[i], where = c.count(t, input(n<<i))
	}
	t.Logf("%d, %d, %d statements for %d, twice and four times that, and %d, %d, %d of others", own[0], own[1], own[2], n, others[0], others[1], others[2])
	switch first, second := own[1]-own[0], own[2]-own[1]; {
	case second > 3*first:
		t.Errorf("got %d, %d and %d statements for sizes of %d, twice and four times that; want linear growth. Most were in %s", own[0], own[1], own[2], n, where)
	case second < first:
		t.Errorf("got %d, %d and %d statements for sizes of %d, twice and four times that; want sizes that are accepted", own[0], own[1], own[2], n)
	}
}

// count returns the number of statements that the test executes with an input, those of others apart, and the block of code that executes most.
func (c *Counter) count(t *testing.T, input string) (own, others int, where string) {
	t.Helper()
	profile := filepath.Join(t.TempDir(), "profile")
	cmd := exec.CommandContext(t.Context(), c.binary, "-test.run=^"+c.test+"$", "-test.coverprofile="+profile)
	cmd.Env = append(os.Environ(), inputVar+"="+input)
	if out, err := cmd.CombinedOutput(); err != nil {
		t.Fatalf("%s: %v\n%s", input, err, out)
	}
	f, err := os.Open(profile)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	most := 0
	for in := bufio.NewScanner(f); in.Scan(); { // lines such as go/ast/walk.go:33.33,34.33 1 4711
		words := strings.Fields(in.Text())
		if len(words) != 3 || words[2] == "0" {
			continue
		}
		statements, err := strconv.Atoi(words[1])
		times, err2 := strconv.Atoi(words[2])
		if err := cmp.Or(err, err2); err != nil {
			t.Fatal(err)
		}
		n := statements * times
		if c.isOther(words[0]) {
			others += n
			continue
		}
		if own += n; n > most {
			most, where = n, words[0]
		}
	}
	return own, others, where
}

func (c *Counter) isOther(place string) bool {
	for _, path := range c.others {
		if strings.HasPrefix(place, path+"/") {
			return true
		}
	}
	return false
}

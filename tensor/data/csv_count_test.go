package data_test

import (
	"fmt"
	"strings"
	"testing"

	"halfnote/internal/testenv"
	"halfnote/tensor/data"
)

// csvShapes are tables of any size.
var csvShapes = []struct {
	name  string
	least int
	text  func(n int) string
}{
	{"empty names", 2000, func(n int) string { return strings.Repeat(",", n) + "\n" + strings.Repeat("1,", n) + "1\n" }},
	{"equal names", 2000, func(n int) string { return strings.Repeat("a,", n) + "a\n" + strings.Repeat("1,", n) + "1\n" }},
	{"names that others may get", 1000, func(n int) string {
		var b strings.Builder
		for i := range n {
			fmt.Fprintf(&b, "a,a.%d,", i)
		}
		return b.String() + "a\n"
	}},
	{"rows", 2000, func(n int) string { return "a,b\n" + strings.Repeat("1,x\n", n) }},
	{"texts", 2000, func(n int) string { return "a,b\n" + strings.Repeat("x,\"y \"\"z\"\"\"\n", n) }},
	{"a long field", 20000, func(n int) string { return "a\n\"" + strings.Repeat("b\n", n) + "\"\n" }},
	{"comments", 2000, func(n int) string { return strings.Repeat("# c\n", n) + "a\n1\n" }},
	{"carriage returns", 2000, func(n int) string { return "a,b\r" + strings.Repeat("1,x\r", n) }},
}

// TestStatementsOfCSV counts the statements that are executed for tables of the sizes n, 2n and 4n.
func TestStatementsOfCSV(t *testing.T) {
	c := testenv.NewCounter(t, "halfnote/tensor/data,encoding/csv", "TestCounted")
	for i, shape := range csvShapes {
		t.Run(shape.name, func(t *testing.T) {
			t.Parallel()
			c.Growth(t, shape.least, func(n int) string { return fmt.Sprint(i, n) })
		})
	}
}

// TestCounted is the child process of TestStatementsOfCSV.
func TestCounted(t *testing.T) {
	var i, n int
	testenv.CountedInput(t, &i, &n)
	tab := table(t, csvShapes[i].text(n), data.CSVOptions{Comment: '#'})
	_ = tab.HTML()
	_ = tab.Describe()
}

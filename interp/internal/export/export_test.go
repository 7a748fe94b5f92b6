package export

import (
	"strings"
	"testing"

	"halfnote/interp/internal/history"
)

// runs tells the magics of the tests that run their code once.
func runs(magic string) bool { return magic == "%%time" || magic == "%time" }

// TestProgram compares the program that cells become, from its imports on.
func TestProgram(t *testing.T) {
	for _, tt := range []struct {
		name  string
		cells []history.Cell
		want  string
	}{
		{"statements", []history.Cell{{Code: "x := 1\nfmt.Println(x)"}}, `
import (
	"fmt"
)

// In[1]

var x int

func cell1() {
	x = 1
	fmt.Println(x)
}

func main() {
	cell1()
}
`},
		{"a package without an import", []history.Cell{{Code: "var wg sync.WaitGroup\nwg.Wait()"}}, `
import (
	"sync"
)

// In[1]

var wg sync.WaitGroup

func cell1() {
	wg.Wait()
}

func main() {
	cell1()
}
`},
		{"shown value", []history.Cell{{Code: "1 + 2", Shown: true}}, `
import (
	"halfnote/display"
)

// In[1]

func cell1() {
	display.Show(1 + 2)
}

func main() {
	cell1()
}
`},
		{"shown string", []history.Cell{{Code: `s := "a"`}, {Code: "s", Shown: true}}, `
import (
	"halfnote/display"
)

// In[1]

var s string

func cell1() {
	s = "a"
}

// In[2]

func cell2() {
	display.Show(s)
}

func main() {
	cell1()
	cell2()
}
`},
		{"declarations", []history.Cell{{Code: "type T struct{ n int }\n\n// M is a method.\nfunc (t T) M() int { return t.n }\nT{1}.M();"}}, `
// In[1]

type T struct{ n int }

// M is a method.
func (t T) M() int { return t.n }

func cell1() {
	T{1}.M()
}

func main() {
	cell1()
}
`},
		{"redeclared variable", []history.Cell{{Code: "x := 1"}, {Code: "x := \"a\"\nfmt.Println(x)"}}, `
import (
	"fmt"
)

// In[1]

var x int

func cell1() {
	x = 1
}

// In[2]

var x2 string

func cell2() {
	x2 = "a"
	fmt.Println(x2)
}

func main() {
	cell1()
	cell2()
}
`},
		{"same type again", []history.Cell{{Code: "x := 1"}, {Code: "x := 2\nfmt.Println(x)"}}, `
import (
	"fmt"
)

// In[1]

var x int

func cell1() {
	x = 1
}

// In[2]

func cell2() {
	x = 2
	fmt.Println(x)
}

func main() {
	cell1()
	cell2()
}
`},
		{"redeclared function", []history.Cell{{Code: "func f() int { return 1 }\nfunc g() int { return f() }"}, {Code: "func f() int { return 2 }"}, {Code: "fmt.Println(g())"}}, `
import (
	"fmt"
)

// In[1]

func f() int { return 1 }

func g() int { return f() }

// In[2]

func f2() int { return 2 }

func g2() int { return f2() }

// In[3]

func cell3() {
	fmt.Println(g2())
}

func main() {
	cell3()
}
`},
		{"earlier value", []history.Cell{{Code: "7 * 6", Shown: true}, {Code: "fmt.Println(Out[1] + 1)"}}, `
import (
	"fmt"

	"halfnote/display"
)

// In[1]

func cell1() {
	out1 = 7 * 6
	display.Show(out1)
}

// In[2]

func cell2() {
	fmt.Println(out1 + 1)
}

var out1 int

func main() {
	cell1()
	cell2()
}
`},
		{"comments", []history.Cell{{Code: "// why\nx := 1 // how\n_ = x"}}, `
// In[1]

var x int

func cell1() {
	// why
	x = 1 // how
	_ = x
}

func main() {
	cell1()
}
`},
		{"unused variable in a function", []history.Cell{{Code: "func f() { x := 1 }"}}, `
// In[1]

func f() {
	x := 1
	_ = x
}

func main() {
}
`},
		{"cell that does not compile", []history.Cell{{Code: "x := y", Failed: "CompileError"}}, `
// In[1] is left out, because it is not valid: undefined: y
//	x := y

func main() {
}
`},
		{"cell that panicked", []history.Cell{{Code: "func f() {}\npanic(1)", Failed: "Panic"}}, `
// In[1] ended with Panic: its declarations are kept, its statements are left out.
//	func f() {}
//	panic(1)

func f() {}

func main() {
}
`},
		{"magic", []history.Cell{{Code: "%who\nfmt.Println(1)"}}, `
import (
	"fmt"
)

// In[1] has a magic with no meaning in a program: %who

// In[1]

func cell1() {
	fmt.Println(1)
}

func main() {
	cell1()
}
`},
		{"timed", []history.Cell{{Code: "%%time\nfmt.Println(1)"}}, `
import (
	"fmt"
	"time"
)

// In[1]

func cell1() {
	fmt.Println(1)
}

func main() {
	timed(cell1)
}

// timed runs a cell and prints how long it took.
func timed(cell func()) {
	start := time.Now()
	cell()
	fmt.Println("time:", time.Since(start).Round(time.Microsecond))
}
`},
		{"question", []history.Cell{{Code: "fmt?"}}, `
// In[1] asked for help: fmt?

func main() {
}
`},
		{"inputs", []history.Cell{{Code: "In"}}, `
// In[1] is left out, because a program has no In:
//	In

func main() {
}
`},
		{"import", []history.Cell{{Code: "import \"os\"\nfmt.Println(len(os.Args))"}}, `
import (
	"fmt"
	"os"
)

// In[1]

func cell1() {
	fmt.Println(len(os.Args))
}

func main() {
	cell1()
}
`},
		{"name of a package", []history.Cell{{Code: "fmt.Println(1)\nfmt := 2\n_ = fmt"}}, `
import (
	fmt2 "fmt"
)

// In[1]

var fmt int

func cell1() {
	fmt2.Println(1)
	fmt = 2
	_ = fmt
}

func main() {
	cell1()
}
`},
	} {
		t.Run(tt.name, func(t *testing.T) {
			for i := range tt.cells {
				tt.cells[i].Count = i + 1
			}
			src, err := Program(tt.cells, runs)
			if err != nil {
				t.Fatalf("%v\n%s", err, src)
			}
			head, got, _ := strings.Cut(string(src), "package main\n")
			if head != "// This program was exported from a notebook. It runs the cells in order.\n" {
				t.Errorf("got the head %q", head)
			}
			if strings.TrimSpace(got) != strings.TrimSpace(tt.want) {
				t.Errorf("got\n%s\nwant\n%s", got, tt.want)
			}
		})
	}
}

// TestProgramErrors names what keeps cells from becoming a program.
func TestProgramErrors(t *testing.T) {
	for _, tt := range []struct{ code, want string }{
		{"%run nowhere/none.go", "interp: export: In[1]: %run nowhere/none.go: "},
	} {
		if src, err := Program([]history.Cell{{Code: tt.code, Count: 1}}, runs); err == nil || !strings.HasPrefix(err.Error(), tt.want) {
			t.Errorf("%s: got %v, want %s…\n%s", tt.code, err, tt.want, src)
		}
	}
}

// TestTexts checks the edits of texts and the comments around a line.
func TestTexts(t *testing.T) {
	if got := apply("abcdef", 1, 5, []edit{{3, 4, "X"}, {1, 2, ""}, {0, 1, "before"}, {3, 5, "overlaps"}}); got != "cXe" {
		t.Errorf("got %q, want cXe", got)
	}
	code := "x := 1\n\n// a\n\t// b\ny := 2"
	for _, tt := range []struct {
		line  int
		blank bool
		want  string
	}{
		{1, true, ""}, {5, false, "// a\n\t// b\n"}, {5, true, "\n// a\n\t// b\n"}, {9, true, ""},
	} {
		if got := leading(code, tt.line, tt.blank); got != tt.want {
			t.Errorf("above line %d: got %q, want %q", tt.line, got, tt.want)
		}
	}
}

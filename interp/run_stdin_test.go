package interp

import (
	"context"
	"errors"
	"fmt"
	"io"
	"strings"
	"testing"
	"time"

	"halfnote/interp/internal/stdio"
	"halfnote/kernel/eval"
)

// asker is an Output that answers each prompt with the next line of answers. After the last
// line it waits until the cell is interrupted.
type asker struct {
	recorder
	answers []string
}

func (a *asker) Input(ctx context.Context, prompt string, password bool) (string, error) {
	if len(a.answers) == 0 {
		<-ctx.Done()
		return "", ctx.Err()
	}
	line := a.answers[0]
	a.answers = a.answers[1:]
	fmt.Fprintf(a.Stdout(), "[%s|%s]\n", prompt, line)
	return line, nil
}

// TestStdin checks that functions which read standard input ask the front end for lines.
func TestStdin(t *testing.T) {
	s := newSession(t)
	evalFor(t, s, 1, "import (\n\"bufio\"\n\"io\"\n\"os\"\n\"os/exec\"\n)", "")
	for i, c := range []struct {
		code    string
		answers string // separated by semicolons
		want    string
	}{
		{"var name string\nfmt.Print(\"Your name: \")\nn, err := fmt.Scanln(&name)\nfmt.Println(name, n, err)", "Ada",
			"Your name: [Your name: |Ada]\nAda 1 <nil>\n"},
		{"var a, b int\nfmt.Println(\"two numbers\")\nfmt.Scan(&a, &b)\na + b", "3;4",
			"two numbers\n[|3]\n[|4]\n= 7\n"},
		{"fmt.Scan(&a)\nfmt.Scanln(&b)\na * b", "5;6", "[|5]\n[|6]\n= 30\n"}, // like on a terminal
		{"fmt.Print(\"n? \")\nk, err := fmt.Scanf(\"%d-%d\\n\", &a, &b)\nfmt.Println(a, b, k, err)", "7-8", "n? [n? |7-8]\n7 8 2 <nil>\n"},
		{"_, err = fmt.Sscan(\"x\", &a)\nm, err2 := fmt.Scan(&a)\nfmt.Println(m, err2)", "no number", "[|no number]\n0 expected integer\n"},
		{"r := bufio.NewReader(os.Stdin)\nline, err := r.ReadString('\\n')\nfmt.Printf(\"%q %v\\n\", line, err)", "a line",
			"[|a line]\n\"a line\\n\" <nil>\n"},
		// Input is per cell: a reader of an earlier cell asks for the running one.
		{"line, err = r.ReadString('\\n')\nline", "another", "[|another]\n= another\n\n"},
		{"sc := bufio.NewScanner(os.Stdin)\nfor sc.Scan() {\n\tfmt.Println(\"got\", sc.Text())\n}\nsc.Err()", "one;two words;\x04",
			"[|one]\ngot one\n[|two words]\ngot two words\n[|\x04]\n"},
		{"buf := make([]byte, 4)\nfor range 3 {\n\tn, err := os.Stdin.Read(buf)\n\tfmt.Printf(\"%q %v\\n\", buf[:n], err)\n}", "abcdef;gh",
			"[|abcdef]\n\"abcd\" <nil>\n\"ef\\n\" <nil>\n[|gh]\n\"gh\\n\" <nil>\n"},
		// The next cell does not see the input that the last one left unread.
		{"os.Stdin.Read(buf[:1])\nfmt.Println(string(buf[:1]))", "xyz", "[|xyz]\nx\n"},
		{"os.Stdin.Read(buf[:1])\nfmt.Println(string(buf[:1]))", "uvw", "[|uvw]\nu\n"},
		{"data, err := io.ReadAll(os.Stdin)\nfmt.Printf(\"%q %v\\n\", data, err)", "a;b;\x04", "[|a]\n[|b]\n[|\x04]\n\"a\\nb\\n\" <nil>\n"},
		{"fmt.Fscan(os.Stdin, &a)\na", "12", "[|12]\n= 12\n"},
		{"done := make(chan bool)\ngo func() { fmt.Print(\"in a goroutine: \"); fmt.Scan(&a); done <- true }()\n<-done\na", "13",
			"in a goroutine: [in a goroutine: |13]\n= 13\n"},
		{"io.Copy(os.Stdout, os.Stdin)", "to copy;\x04", "[|to copy]\nto copy\n[|\x04]\n= 8, <nil>\n"},
		{"cmd := exec.Command(\"cat\")\ncmd.Stdin, cmd.Stdout = os.Stdin, os.Stdout\ncmd.Run()", "not asked", ""},
		{"f := os.Stdin\nf.Read(buf)", "not asked", "= 0, EOF\n"},
	} {
		out := &asker{answers: strings.Split(c.answers, ";")}
		ctx, cancel := context.WithTimeout(context.Background(), patience)
		r := s.Eval(ctx, eval.Cell{Code: c.code, Count: i + 2}, out)
		cancel()
		if got := out.text(r); got != c.want {
			t.Errorf("%s\ngot  %q\nwant %q", c.code, got, c.want)
		}
	}
}

// TestStdinWithoutReader checks that standard input is at its end if there is no front end,
// and that a note gives the reason.
func TestStdinWithoutReader(t *testing.T) {
	s := newSession(t)
	want := "stderr: note: standard input is at its end: there is no front end\n0 EOF\n0 EOF\n"
	if got := evalFor(t, s, 1, "var a int\nfor range 2 {\n\tn, err := fmt.Scan(&a)\n\tfmt.Println(n, err)\n}", ""); got != want {
		t.Errorf("got %q, want %q", got, want)
	}
	out := &refuser{}
	if got := out.text(s.Eval(t.Context(), eval.Cell{Code: "_, err := fmt.Scan(&a)\nerr", Count: 2}, out)); got != "stderr: note: standard input is at its end: not allowed\n= EOF\n" {
		t.Errorf("got %q", got)
	}
}

type refuser struct{ recorder }

func (*refuser) Input(context.Context, string, bool) (string, error) {
	return "", errors.New("not allowed")
}

// TestStdinInterrupted checks that an interrupt ends the wait for an answer, in the
// cell and in its goroutines.
func TestStdinInterrupted(t *testing.T) {
	s := newSession(t)
	for i, code := range []string{
		"var a int\nfmt.Scan(&a)",
		"import (\"bufio\"; \"os\")\nbufio.NewReader(os.Stdin).ReadString(' ')",
		"go fmt.Scan(&a)\ntime.Sleep(time.Millisecond)\nfmt.Scan(&a)",
	} {
		ctx, cancel := context.WithCancel(context.Background())
		out := &asker{}
		r := s.Eval(interruptAfter(ctx, s, &out.recorder, 50*time.Millisecond), eval.Cell{Code: code, Count: i + 1}, out)
		cancel()
		if r.Err == nil || r.Err.Name != "Interrupted" {
			t.Errorf("%s: got %+v, want an interrupt", code, r.Err)
		}
	}
	// The next cell asks again.
	out := &asker{answers: []string{"4"}}
	if got := out.text(s.Eval(t.Context(), eval.Cell{Code: "fmt.Scan(&a)\na", Count: 9}, out)); got != "[|4]\n= 4\n" {
		t.Errorf("got %q", got)
	}
}

// TestStdinAfterTheCell checks that a goroutine that outlives its cell finds the input
// at its end, and does not keep other cells from reading.
func TestStdinAfterTheCell(t *testing.T) {
	s := newSession(t)
	first := &asker{answers: nil}
	s.Eval(t.Context(), eval.Cell{Code: "result := make(chan error, 1)\nvar a int\ngo func() { _, err := fmt.Scan(&a); result <- err }()", Count: 1}, first)
	out := &asker{answers: []string{"5"}}
	if got := out.text(s.Eval(t.Context(), eval.Cell{Code: "fmt.Println(<-result)\nfmt.Scan(&a)\na", Count: 2}, out)); got != "EOF\n[|5]\n= 5\n" {
		t.Errorf("got %q", got)
	}
}

// TestStreamsAfterTheCell checks that a goroutine that outlives its cell prints to that
// cell by every means, and that logs of compiled code go to the calling cell.
func TestStreamsAfterTheCell(t *testing.T) {
	s := newSession(t)
	restore, err := CaptureProcessOutput(s)
	if err != nil {
		t.Fatal(err)
	}
	defer restore()
	evaluate := func(n int, code string) *recorder {
		t.Helper()
		rec := &recorder{}
		if r := s.Eval(context.Background(), eval.Cell{Code: code, Count: n}, rec); r.Err != nil {
			t.Fatal(r.Err)
		}
		return rec
	}
	evaluate(1, `import ("bufio"; "log"; "log/slog"; "os"; "os/exec"; "go/ast"; "go/token")
log.SetFlags(0)
logger := log.New(os.Stdout, "log.New ", 0)`)
	first := evaluate(2, `next, done := make(chan bool), make(chan bool)
go func() {
	<-next
	fmt.Println("fmt")
	fmt.Fprintln(os.Stdout, "os.Stdout")
	println("println")
	w := bufio.NewWriter(os.Stdout)
	fmt.Fprintln(w, "bufio")
	w.Flush()
	logger.Print("of the first cell")
	fmt.Fprintln(os.Stderr, "os.Stderr")
	log.Print("log")
	slog.Warn("slog")
	cmd := exec.Command("echo", "command")
	cmd.Stdout = os.Stdout
	cmd.Run()
	done <- true
}()`)
	second := evaluate(3, `fmt.Println("before")
next <- true
<-done
logger.Print("of the second cell")
ast.Print(token.NewFileSet(), 7) // compiled code that writes to the process's stream
slog.Info("of the second")`)
	got := first.text(eval.Result{})
	if i := strings.Index(got, "stderr: 20"); i >= 0 && len(got) > i+28 { // cuts off slog's time
		got = got[:i+8] + got[i+28:]
	}
	want := "fmt\nos.Stdout\nprintln\nbufio\nlog.New of the first cell\nstderr: os.Stderr\nstderr: log\nstderr: WARN slog\ncommand\n"
	if got != want {
		t.Errorf("first cell:\ngot  %q\nwant %q", got, want)
	}
	got = second.text(eval.Result{})
	for _, want := range []string{"before\nlog.New of the second cell\n", "     0  7\n", "INFO of the second\n"} {
		if strings.Count(got, want) != 1 {
			t.Errorf("second cell: got %q, want %q in it once", got, want)
		}
	}
}

var _ io.Reader = (*stdio.File)(nil)

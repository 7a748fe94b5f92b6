package exercise

import (
	"fmt"
	"math"
	"slices"
	"strings"
	"testing"

	"halfnote/tensor"
)

// TestLessons checks the form of every key: ids, texts, hints, and a mistake for each exercise.
func TestLessons(t *testing.T) {
	for i, l := range lessons {
		if i > 0 && lessons[i-1].number >= l.number {
			t.Errorf("lesson %s: want the table in order", l.number)
		}
		if len(l.number) != 2 || l.title == "" || len(l.predictions) == 0 || len(l.exercises) < 3 {
			t.Errorf("lesson %s: want a number of two digits, a title, a prediction and three exercises", l.number)
		}
		for _, p := range l.predictions {
			if !strings.HasPrefix(p.id, l.number) || !strings.HasSuffix(p.question, "?") || p.guess == nil || p.guess.form() == "" {
				t.Errorf("prediction %s: want an id that begins with %s, a question and a form", p.id, l.number)
			}
		}
		var kinds []kind
		for j, e := range l.exercises {
			kinds = append(kinds, e.kind)
			if want := fmt.Sprintf("%s.%d", l.number, j+1); e.id != want {
				t.Errorf("exercise %s: want the id %s", e.id, want)
			}
			if e.task == "" || e.accept == nil || e.why == "" || len(e.hints) == 0 || len(e.mistakes) == 0 {
				t.Errorf("exercise %s: want a task, an answer, an explanation, hints and a mistake", e.id)
			}
			for _, text := range append([]string{e.why}, e.hints...) {
				if !strings.HasSuffix(text, ".") && !strings.HasSuffix(text, "?") {
					t.Errorf("exercise %s: want a sentence: %s", e.id, text)
				}
			}
		}
		if len(kinds) >= 3 && !slices.Equal(kinds[:3], []kind{warmUp, change, design}) {
			t.Errorf("lesson %s: got exercises %v, want a warm-up, a change and a design first", l.number, kinds)
		}
	}
}

func TestAnswerForms(t *testing.T) {
	for _, c := range []struct {
		accept answer
		given  any
		want   string // error; "" for an accepted answer
	}{
		{number(2048), 2048, ""},
		{number(2048), uint8(8), "wrong"},
		{number(2048), float32(2048), ""},
		{number(2048), "2^11", ""},
		{number(2048), 0, "wrong"},
		{number(0.5), 0.0, "wrong"},
		{number(0.5), 0, `in Go a quotient of whole numbers is a whole number: 1/2 is 0; write 1.0/2, or the text "1/2"`},
		{number(1.0 / 3), 0.33333, ""},
		{number(1.0 / 3), 0.333, "wrong"},
		{number(1), "one", `cannot read "one" as a number: unknown name "one"`},
		{number(1), []int{1}, "want a number, not []int"},
		{number(1), kindOfNumber(1), "want a number, not kind"},
		{number(math.Inf(1)), "inf", ""},
		{number(math.Inf(1)), 65504, "wrong"},
		{exact(0.1), 0.1000001, "wrong"},
		{near(100, 0.1), 95, ""},
		{formula("2^(1-n)", "n"), "2/2^n", ""},
		{formula("2^(1-n)", "n"), "2^-n", "wrong"},
		{formula("a*b", "a", "b"), "b*a", ""},
		{formula("n", "n"), "m", `cannot read "m" as a number: unknown name "m"`},
		{formula("n", "n"), 3, "wrong"},
		{text("float16", "half"), "  Half ", ""},
		{text("float16"), "float32", "wrong"},
		{text("kind"), kindOfNumber(2), ""},
		{truth(true), true, ""},
		{truth(true), false, "wrong"},
		{truth(true), 1, "want true or false, not int"},
		{list(text("a"), number(2)), []any{"A", 2}, ""},
		{list(text("a"), number(2)), [2]any{"b", 2}, "1 of 2 are right; not right yet: 1 (counted from 1)"},
		{list(number(1), number(2)), []int{1}, "want a list of 2, not of 1"},
		{list(number(1)), 1, "want a list of 1, not int"},
		{function(nil), tensor.Ones(1), "that is the result of a call; give the function itself, by its name without parentheses"},
		{function(nil), "sum", "that is a text; give the function by its name without quotation marks"},
		{function(nil), 1, "want a func(x *tensor.Tensor) *tensor.Tensor, not int"},
		{formula("2*k", "k"), "2k", `cannot read "2k" as a number: want an operator, such as *, before "k"`},
		{number(0.5), "0.5(1)", `cannot read "0.5(1)" as a number: want an operator, such as *, before "(1)"`},
	} {
		got := ""
		if err := c.accept.check(c.given); err != nil {
			got = err.Error()
		}
		if got != c.want {
			t.Errorf("%+v, given %v: got %q, want %q", c.accept, c.given, got, c.want)
		}
	}
}

// kindOfNumber is a number for the compiler but not for a reader, as a dtype is.
type kindOfNumber int

func (kindOfNumber) String() string { return "kind" }

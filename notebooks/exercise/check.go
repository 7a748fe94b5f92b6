package exercise

import (
	"fmt"
	"strings"
	"unicode"
	"unicode/utf8"
)

// Verdict is the result of checking an answer.
type Verdict struct {
	ID       string
	Answered bool   // false for a nil answer
	Right    bool   // whether the exercise accepts the answer
	Message  string // explanation, hint, or task, in Markdown
}

// Check checks the answer to the exercise with the given id, such as "05.1". A nil answer shows the task. A
// wrong answer shows a hint: one for this mistake if it is a common one, otherwise the next of the exercise. It
// panics for an unknown id.
func Check(id string, answer any) *Verdict {
	e := find(id)
	if answer == nil {
		return &Verdict{ID: id, Message: fmt.Sprintf(tr("Replace `nil` with your answer: %s (%s)."), tr(e.task), e.accept.form())}
	}
	v := &Verdict{ID: id, Answered: true}
	err := e.accept.check(answer)
	if err == nil {
		v.Right, v.Message = true, tr(e.why)
		book.solve(id)
		return v
	}
	for _, m := range e.mistakes {
		if m.when.check(answer) == nil {
			v.Message = tr(m.hint) // the hints of the exercise are kept for other answers
			return v
		}
	}
	tries := book.try(id, answer)
	var parts []string
	if err != errWrong {
		parts = append(parts, sentence(err.Error()))
	}
	if n := min(tries, len(e.hints)); n > 0 {
		parts = append(parts, fmt.Sprintf(tr("Hint %d of %d: %s"), n, len(e.hints), tr(e.hints[n-1])))
	}
	v.Message = strings.Join(parts, " ")
	return v
}

// Must panics unless the answer is right. It ends a test cell of a graded notebook.
func (v *Verdict) Must() {
	if !v.Right {
		panic(v.String())
	}
}

func (v *Verdict) state() string {
	switch {
	case v.Right:
		return fmt.Sprintf(tr("✓ %s is right."), v.ID)
	case v.Answered:
		return fmt.Sprintf(tr("✗ %s is not right yet."), v.ID)
	}
	return fmt.Sprintf(tr("%s is open."), v.ID)
}

// String returns the verdict as text.
func (v *Verdict) String() string { return strings.TrimSpace(v.state() + " " + plain(v.Message)) }

// Markdown returns the verdict for a notebook.
func (v *Verdict) Markdown() string {
	return strings.TrimSpace("**" + v.state() + "** " + v.Message)
}

// plain removes the marks of code and emphasis.
func plain(markdown string) string { return strings.NewReplacer("`", "", "**", "").Replace(markdown) }

// sentence returns text with a capital letter and a full stop.
func sentence(text string) string {
	first, n := utf8.DecodeRuneInString(text)
	text = string(unicode.ToUpper(first)) + text[n:]
	if !strings.HasSuffix(text, ".") {
		text += "."
	}
	return text
}

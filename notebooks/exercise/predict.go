package exercise

import (
	"fmt"
	"reflect"
	"strings"
)

// Prediction is a guess that was asked for.
type Prediction struct {
	ID      string
	Kept    bool   // false for a nil guess and for one that the question does not take
	Message string // Markdown
}

// Predict keeps a guess before an experiment is run. A guess is a number, a text, or a list of these, as the question says;
// another one is refused, and the message says which there are. A nil guess shows the question and keeps nothing. It panics for an
// unknown id.
func Predict(id string, guess any) *Prediction {
	p := findPrediction("Predict", id)
	if guess == nil {
		return &Prediction{ID: id, Message: fmt.Sprintf(tr("**%s** Replace `nil` with your guess: %s."), tr(p.question), p.guess.form())}
	}
	text, err := p.guess.read(guess)
	if err != nil {
		return &Prediction{ID: id, Message: fmt.Sprintf(tr("✗ No guess is kept. %s Guess %s."), sentence(err.Error()), p.guess.form())}
	}
	book.guess(id, text)
	return &Prediction{id, true, fmt.Sprintf(tr("Your guess is kept: **%s**. Now run the experiment."), text)}
}

// String returns the prediction as text.
func (p *Prediction) String() string { return plain(p.Message) }

// Markdown returns the prediction for a notebook.
func (p *Prediction) Markdown() string { return p.Message }

// Comparison shows a guess next to the result of the experiment.
type Comparison struct {
	ID              string
	Guess, Measured string // Guess is empty if none was made
	Right           bool
	Message         string // Markdown
}

// Compare reports whether the kept guess of a prediction is right, and shows it next to the result of the experiment. A guess of a
// measured size is right if it is near. It panics for an unknown id.
func Compare(id string, measured any) *Comparison {
	p := findPrediction("Compare", id)
	c := &Comparison{ID: id, Guess: book.guessed(id), Measured: p.guess.result(measured)}
	if c.Guess == "" {
		c.Message = fmt.Sprintf(tr("%s It is **%s**. You made no guess."), tr(p.question), c.Measured)
		return c
	}
	right, apart := p.guess.compare(c.Guess, c.Measured)
	c.Right = right
	switch {
	case right && strings.EqualFold(c.Guess, c.Measured):
		c.Message = fmt.Sprintf(tr("✓ **Right:** it is **%s**."), c.Measured)
	case right:
		c.Message = fmt.Sprintf(tr("✓ **Right:** you guessed **%s**, and it is **%s**."), c.Guess, c.Measured)
	default:
		c.Message = fmt.Sprintf(tr("✗ **Not quite:** you guessed **%s**. It is **%s**%s."), c.Guess, c.Measured, apart)
	}
	return c
}

// String returns the comparison as text.
func (c *Comparison) String() string { return plain(c.Message) }

// Markdown returns the comparison for a notebook.
func (c *Comparison) Markdown() string { return c.Message }

// show returns a guess or result as text. The elements of a list are separated by commas.
func show(v any) string {
	if text, ok := v.(string); ok {
		return text
	}
	if number, err := value(v); err == nil {
		return fmt.Sprintf("%.9g", number)
	}
	if s, ok := v.(fmt.Stringer); ok {
		return s.String()
	}
	list := reflect.ValueOf(v)
	if list.Kind() != reflect.Slice && list.Kind() != reflect.Array {
		return fmt.Sprint(v)
	}
	var texts []string
	for i := range list.Len() {
		texts = append(texts, show(list.Index(i).Interface()))
	}
	return strings.Join(texts, ", ")
}

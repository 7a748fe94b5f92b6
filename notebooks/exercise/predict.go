package exercise

import (
	"fmt"
	"math"
	"reflect"
	"strings"
)

// Prediction is a guess that was asked for.
type Prediction struct {
	ID      string
	Message string // Markdown
}

// Predict keeps a guess before an experiment is run. A guess is a number, a text, a truth value, or a list of
// these. A nil guess shows the question and keeps nothing. It panics for an unknown id.
func Predict(id string, guess any) *Prediction {
	p := findPrediction("Predict", id)
	if guess == nil {
		return &Prediction{id, fmt.Sprintf("**%s** Replace `nil` by your guess: %s.", p.question, p.form)}
	}
	text := show(guess)
	book.guess(id, text)
	return &Prediction{id, fmt.Sprintf("Your guess is kept: **%s**. Now run the experiment.", text)}
}

// String returns the prediction as text.
func (p *Prediction) String() string { return plain(p.Message) }

// Markdown returns the prediction for a notebook.
func (p *Prediction) Markdown() string { return p.Message }

// Comparison shows a guess next to the result of the experiment.
type Comparison struct {
	ID              string
	Guess, Measured string // Guess is empty if none was made
	Message         string // Markdown
}

// Compare shows the kept guess of a prediction next to the result of the experiment. Numbers that differ are
// compared by their ratio. It panics for an unknown id.
func Compare(id string, measured any) *Comparison {
	p := findPrediction("Compare", id)
	c := &Comparison{ID: id, Guess: book.guessed(id), Measured: show(measured)}
	switch {
	case c.Guess == "":
		c.Message = fmt.Sprintf("%s It is **%s**. You made no guess.", p.question, c.Measured)
	case strings.EqualFold(c.Guess, c.Measured):
		c.Message = fmt.Sprintf("You guessed **%s**, and it is **%s**.", c.Guess, c.Measured)
	default:
		c.Message = fmt.Sprintf("You guessed **%s**. It is **%s**%s.", c.Guess, c.Measured, apart(c.Guess, c.Measured))
	}
	return c
}

// String returns the comparison as text.
func (c *Comparison) String() string { return plain(c.Message) }

// Markdown returns the comparison for a notebook.
func (c *Comparison) Markdown() string { return c.Message }

// apart says how far two texts are apart if both are positive numbers.
func apart(guess, measured string) string {
	g, err1 := value(guess)
	m, err2 := value(measured)
	if err1 != nil || err2 != nil || !(g > 0 && m > 0) || math.IsInf(g/m, 0) || math.IsInf(m/g, 0) {
		return ""
	}
	if ratio := max(g/m, m/g); ratio >= 1.005 {
		return fmt.Sprintf(", which differs by a factor of %.3g", ratio)
	}
	return ""
}

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

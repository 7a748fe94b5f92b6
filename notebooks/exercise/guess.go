package exercise

import (
	"fmt"
	"math"
	"slices"
	"strings"
)

// guess is the form that the guesses of a prediction have.
type guess interface {
	// form describes a guess: "a number".
	form() string
	// read returns a guess as text, or an error that says which guesses there are.
	read(given any) (string, error)
	// result returns the result of the experiment as text, with the digits that matter.
	result(measured any) string
	// compare reports whether a guess is right. For a wrong one it says how far it is from the result, or nothing.
	compare(guess, result string) (right bool, apart string)
}

// numberGuess takes the numbers from low to high.
type numberGuess struct {
	low, high float64
	whole     bool
	near      float64 // share of the result by which a right guess may differ
	ratio     bool    // whether a wrong guess is compared by its ratio to the result
}

// anyNumber takes every number. Only the result is right.
func anyNumber() guess { return numberGuess{low: math.Inf(-1), high: math.Inf(1)} }

// size takes every number. One is right if it differs from the result by at most a share of it.
func size(share float64) guess {
	return numberGuess{low: math.Inf(-1), high: math.Inf(1), near: share, ratio: true}
}

// count takes the whole numbers from low to high.
func count(low, high int) guess {
	return numberGuess{low: float64(low), high: float64(high), whole: true}
}

// percentage takes the numbers from 0 to 100. One is right if it differs from the result by at most a share of it.
func percentage(share float64) guess { return numberGuess{high: 100, near: share} }

func (n numberGuess) form() string {
	switch {
	case n.whole:
		return fmt.Sprintf(tr("a whole number from %g to %g"), n.low, n.high)
	case n.high < math.Inf(1):
		return fmt.Sprintf(tr("a number from %g to %g"), n.low, n.high)
	}
	return tr("a number")
}

func (n numberGuess) read(given any) (string, error) {
	v, err := value(given)
	switch {
	case err != nil:
		return "", err
	case math.IsNaN(v):
		return "", complain("NaN cannot be compared")
	case !(v >= n.low && v <= n.high) || n.whole && v != math.Trunc(v):
		return "", complain("%.9g is not %s", v, n.form())
	}
	return fmt.Sprintf("%.9g", v), nil
}

func (n numberGuess) result(measured any) string {
	v, err := value(measured)
	if err != nil || n.near == 0 {
		return show(measured)
	}
	return fmt.Sprintf("%.4g", v)
}

func (n numberGuess) compare(guess, result string) (right bool, apart string) {
	g, err1 := value(guess)
	r, err2 := value(result)
	switch {
	case err1 != nil || err2 != nil:
		return guess == result, ""
	case g == r || math.Abs(g-r) <= n.near*math.Abs(r):
		return true, ""
	case !n.ratio || !(g > 0 && r > 0) || math.IsInf(g/r, 0) || math.IsInf(r/g, 0):
		return false, ""
	}
	return false, fmt.Sprintf(tr(", which differs by a factor of %.3g"), max(g/r, r/g))
}

// choiceGuess takes one of several texts or numbers.
type choiceGuess []string

// choice takes the given texts or numbers, in any case.
func choice(texts ...string) guess { return choiceGuess(texts) }

func (c choiceGuess) form() string {
	quoted := make([]string, len(c))
	for i, text := range c {
		if _, err := value(text); err == nil {
			quoted[i] = text
		} else {
			quoted[i] = fmt.Sprintf("%q", text)
		}
	}
	last := len(quoted) - 1
	return fmt.Sprintf(tr("%s or %s"), strings.Join(quoted[:last], ", "), quoted[last])
}

func (c choiceGuess) read(given any) (string, error) {
	text := strings.Join(strings.Fields(show(given)), " ")
	if i := slices.IndexFunc(c, func(t string) bool { return strings.EqualFold(t, text) }); i >= 0 {
		return c[i], nil
	}
	return "", complain("%q is not one of the choices", text)
}

func (c choiceGuess) result(measured any) string { return show(measured) }

func (c choiceGuess) compare(guess, result string) (right bool, apart string) {
	return strings.EqualFold(guess, result), ""
}

// listGuess takes a list of guesses.
type listGuess []guess

// each takes a slice or array with one guess for each element, in order.
func each(elements ...guess) guess { return listGuess(elements) }

func (l listGuess) form() string {
	return fmt.Sprintf(tr("a list of %d, in order, each %s"), len(l), l[0].form())
}

func (l listGuess) read(given any) (string, error) {
	list, err := elements(given, len(l))
	if err != nil {
		return "", err
	}
	texts := make([]string, len(l))
	for i, g := range l {
		if texts[i], err = g.read(list[i]); err != nil {
			return "", err
		}
	}
	return strings.Join(texts, ", "), nil
}

func (l listGuess) result(measured any) string {
	list, err := elements(measured, len(l))
	if err != nil {
		return show(measured)
	}
	texts := make([]string, len(l))
	for i, g := range l {
		texts[i] = g.result(list[i])
	}
	return strings.Join(texts, ", ")
}

func (l listGuess) compare(guess, result string) (right bool, apart string) {
	a, b := strings.Split(guess, ", "), strings.Split(result, ", ")
	if len(a) != len(l) || len(b) != len(l) {
		return guess == result, ""
	}
	n := 0
	for i, g := range l {
		if right, _ := g.compare(a[i], b[i]); right {
			n++
		}
	}
	if n == len(l) {
		return true, ""
	}
	return false, fmt.Sprintf(tr(": %d of %d are right"), n, len(l))
}

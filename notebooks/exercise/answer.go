package exercise

import (
	"errors"
	"fmt"
	"math"
	"reflect"
	"slices"
	"strings"

	"halfnote/tensor"
)

// answer is a set of accepted answers.
type answer interface {
	// check returns nil for an accepted answer, errWrong for another one, or an error that says more, such as
	// that the answer has the wrong form.
	check(given any) error
	// form describes the form of an answer: "a number".
	form() string
}

// errWrong is the error of an answer that has the right form but is wrong.
var errWrong = errors.New("wrong")

// numberAnswer accepts numbers near one.
type numberAnswer struct{ want, relative float64 }

// number accepts want, up to the digits that people type.
func number(want float64) answer { return near(want, 1e-4) }

// exact accepts only want.
func exact(want float64) answer { return near(want, 0) }

// near accepts numbers that differ from want by at most a share of it.
func near(want, relative float64) answer { return numberAnswer{want, relative} }

func (a numberAnswer) form() string { return tr(`a number, or a text such as "2^-10"`) }

func (a numberAnswer) check(given any) error {
	got, err := value(given)
	switch {
	case err != nil:
		return err
	case got == a.want, math.IsNaN(got) && math.IsNaN(a.want), !math.IsInf(a.want, 0) && math.Abs(got-a.want) <= a.relative*math.Abs(a.want):
		return nil
	case got == 0 && reflect.ValueOf(given).CanInt() && math.Abs(a.want) < 1:
		return complain(`in Go a quotient of whole numbers is a whole number: 1/2 is 0; write 1.0/2, or the text "1/2"`)
	}
	return errWrong
}

// value returns the number that an answer stands for: a Go number, a tensor of one element, or an expression.
func value(given any) (float64, error) {
	switch v := given.(type) {
	case string:
		return evaluate(v, nil)
	case *tensor.Tensor:
		if v.Numel() != 1 {
			return 0, complain("want a number, not a tensor of shape %v", v.Shape())
		}
		return v.Item(), nil
	case fmt.Stringer: // a dtype, for example, is not a number
		return 0, complain("want a number, not %v", v)
	}
	switch v := reflect.ValueOf(given); {
	case v.CanInt():
		return float64(v.Int()), nil
	case v.CanUint():
		return float64(v.Uint()), nil
	case v.CanFloat():
		return v.Float(), nil
	}
	return 0, complain("want a number, not %T", given)
}

// formulaAnswer accepts expressions that are equal to one for every value of its variables.
type formulaAnswer struct {
	expression string
	variables  []string
}

// formula accepts expressions in the given variables that are equal to one: for "n/2", also "0.5*n".
func formula(expression string, variables ...string) answer {
	return formulaAnswer{expression, variables}
}

func (a formulaAnswer) form() string {
	return fmt.Sprintf(tr("an expression of %s as a text"), strings.Join(a.variables, ", "))
}

func (a formulaAnswer) check(given any) error {
	text, ok := given.(string)
	if !ok {
		text = show(given)
	}
	for _, base := range []float64{2, 3, 5.5, 8} {
		variables := map[string]float64{}
		for i, name := range a.variables {
			variables[name] = base + 1.25*float64(i)
		}
		want, err := evaluate(a.expression, variables)
		if err != nil {
			panic(err)
		}
		got, err := evaluate(text, variables)
		if err != nil {
			return err
		}
		if !(math.Abs(got-want) <= 1e-9*max(math.Abs(got), math.Abs(want))) {
			return errWrong
		}
	}
	return nil
}

// textAnswer accepts one of several texts.
type textAnswer []string

// text accepts the given texts, in any case, and values that print as them, such as dtypes.
func text(accepted ...string) answer { return textAnswer(accepted) }

func (a textAnswer) form() string { return tr("a text") }

func (a textAnswer) check(given any) error {
	got := strings.ToLower(strings.Join(strings.Fields(show(given)), " "))
	if slices.ContainsFunc(a, func(want string) bool { return strings.EqualFold(got, want) }) {
		return nil
	}
	return errWrong
}

// truthAnswer accepts one truth value.
type truthAnswer bool

// truth accepts want.
func truth(want bool) answer { return truthAnswer(want) }

func (a truthAnswer) form() string { return tr("true or false") }

func (a truthAnswer) check(given any) error {
	got, ok := given.(bool)
	switch {
	case !ok:
		return complain("want true or false, not %T", given)
	case got != bool(a):
		return errWrong
	}
	return nil
}

// listAnswer accepts lists whose elements are accepted.
type listAnswer []answer

// list accepts a slice or array with one element for each answer, in order.
func list(elements ...answer) answer { return listAnswer(elements) }

func (a listAnswer) form() string { return fmt.Sprintf(tr("a list of %d, in order"), len(a)) }

func (a listAnswer) check(given any) error {
	list, err := elements(given, len(a))
	if err != nil {
		return err
	}
	var wrong []string
	for i, element := range a {
		if element.check(list[i]) != nil {
			wrong = append(wrong, fmt.Sprint(i+1))
		}
	}
	if len(wrong) > 0 {
		return complain("%d of %d are right; not right yet: %s (counted from 1)", len(a)-len(wrong), len(a), strings.Join(wrong, ", "))
	}
	return nil
}

// elements returns the n elements of a slice or array.
func elements(given any, n int) ([]any, error) {
	v := reflect.ValueOf(given)
	if v.Kind() != reflect.Slice && v.Kind() != reflect.Array {
		return nil, complain("want a list of %d, not %T", n, given)
	}
	if v.Len() != n {
		return nil, complain("want a list of %d, not of %d", n, v.Len())
	}
	list := make([]any, n)
	for i := range list {
		list[i] = v.Index(i).Interface()
	}
	return list, nil
}

// satisfyingAnswer accepts what a function accepts.
type satisfyingAnswer struct {
	describe string
	f        func(given any) error
}

// satisfies accepts the answers for which f returns nil. The error of f tells the learner what is wrong.
func satisfies(describe string, f func(given any) error) answer { return satisfyingAnswer{describe, f} }

func (a satisfyingAnswer) form() string          { return tr(a.describe) }
func (a satisfyingAnswer) check(given any) error { return a.f(given) }

// function accepts the functions of one tensor for which test returns nil.
func function(test func(f func(x *tensor.Tensor) *tensor.Tensor) error) answer {
	return satisfies("a func(x *tensor.Tensor) *tensor.Tensor", func(given any) error {
		switch f := given.(type) {
		case func(*tensor.Tensor) *tensor.Tensor:
			return test(f)
		case *tensor.Tensor:
			return complain("that is the result of a call; give the function itself, by its name without parentheses")
		case string:
			return complain("that is a text; give the function by its name without quotation marks")
		}
		return complain("want a func(x *tensor.Tensor) *tensor.Tensor, not %T", given)
	})
}

package amp

import "fmt"

// Error reports a call that autocast or a scaler cannot serve: the panic value of
// such calls. Code is short and stable, for example "already_stepped".
type Error struct {
	Code string
	Call string // function or method
	Why  string // reason: the values found
	Cure string // advice
}

// need panics unless the argument called name is present; want describes the expected value.
func need(call, name string, there bool, want string) {
	if !there {
		panic(&Error{Code: "nil_argument", Call: call, Why: name + " is nil", Cure: "want " + want})
	}
}

func (e *Error) Error() string {
	return fmt.Sprintf("amp: %s: %s; %s", e.Call, e.Why, e.Cure)
}

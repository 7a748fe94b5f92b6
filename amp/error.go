package amp

import "fmt"

// Error reports a call that autocast or a scaler cannot serve: the panic value of
// such calls. Code is short and stable, as "already_stepped".
type Error struct {
	Code string
	Call string // the function or method
	Why  string // what was found
	Cure string // what to do
}

func (e *Error) Error() string {
	return fmt.Sprintf("amp: %s: %s; %s", e.Call, e.Why, e.Cure)
}

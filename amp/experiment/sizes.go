package experiment

import "fmt"

// Most layers, steps and batches of an experiment: a number mistyped by some zeros is refused
// before anything is made.
const (
	mostLayers  = 10_000
	mostSteps   = 10_000_000
	mostBatches = 1_000_000
)

// within panics unless n, which a call names so, is from least to most.
func within(call, name string, n, least, most int) {
	if n < least || n > most {
		panic(fmt.Sprintf("experiment: %s: %s is %d; expected %d to %d", call, name, n, least, most))
	}
}

// needed panics unless an argument is there, which is called name and should be want.
func needed(call, name string, there bool, want string) {
	if !there {
		panic(fmt.Sprintf("experiment: %s: %s is nil; expected %s", call, name, want))
	}
}

package experiment

import "fmt"

// Largest numbers of layers, steps and batches of an experiment. A number with some zeros too many is
// rejected before memory is allocated.
const (
	mostLayers  = 10_000
	mostSteps   = 10_000_000
	mostBatches = 1_000_000
)

// within panics unless the argument n, called name, is from least to most.
func within(call, name string, n, least, most int) {
	if n < least || n > most {
		panic(fmt.Sprintf("experiment: %s: %s is %d; want %d to %d", call, name, n, least, most))
	}
}

// needed panics unless the argument called name is present; want describes the expected value.
func needed(call, name string, there bool, want string) {
	if !there {
		panic(fmt.Sprintf("experiment: %s: %s is nil; want %s", call, name, want))
	}
}

package testenv

import (
	"os"
	"slices"
	"strings"
)

// Emulated returns the environment of a Go program that qemu-user runs, with more variables. The program's threads are not
// interrupted by signals to schedule its goroutines, which qemu-user does not survive: see golang.org/issue/36981.
func Emulated(more ...string) []string {
	return slices.Concat(os.Environ(), []string{"GODEBUG=asyncpreemptoff=1"}, more)
}

// EmulatorFailed reports whether the output of a Go program without cgo holds a message of the C library, which only the
// emulator has: it failed, not the program.
func EmulatorFailed(output []byte) bool {
	return strings.Contains(string(output), "malloc(): ") || strings.Contains(string(output), "corrupted double-linked list")
}

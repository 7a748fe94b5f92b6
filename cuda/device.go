// Package cuda tells of NVIDIA GPUs. A build without the tag cuda has no backend for
// them, and says so: absent hardware is an absent backend, not a pretended one. A build
// with the tag looks for the driver when it is first asked for a GPU, and runs without.
package cuda

import "halfnote/tensor/driver"

// Available reports whether tensors can live on a GPU here. It is
// torch.cuda.is_available.
func Available() bool { return driver.Lookup("cuda") != nil }

// Why says why [Available] is false, in one sentence; it is empty when a GPU can
// be used.
func Why() string {
	if _, err := driver.Open("cuda"); err != nil {
		return "tensors and autocast run on the CPU: " + err.Error()
	}
	return ""
}

// Synchronize waits until the first GPU has finished all that it was given, and
// returns at once without one. It is torch.cuda.synchronize.
func Synchronize() {
	if b := driver.Lookup("cuda"); b != nil {
		b.Synchronize()
	}
}

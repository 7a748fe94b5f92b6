// Package cuda is the backend for NVIDIA GPUs. A build without the tag cuda holds
// only what tells that there is no device: absent hardware is an absent
// backend, not a pretended one.
package cuda

import "halfnote/tensor/driver"

// Available reports whether tensors can live on a GPU here. It is
// torch.cuda.is_available.
func Available() bool { return driver.Lookup("cuda") != nil }

// Why says why [Available] is false, in one sentence; it is empty when a GPU can
// be used.
func Why() string {
	if Available() {
		return ""
	}
	return "this build of halfnote has no GPU backend: tensors and autocast run on the CPU"
}

// Synchronize waits until the device has finished all that it was given, and
// returns at once without one. It is torch.cuda.synchronize.
func Synchronize() {
	if b := driver.Lookup("cuda"); b != nil {
		b.Synchronize()
	}
}

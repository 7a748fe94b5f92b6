package exercise

import (
	"fmt"
	"time"

	"halfnote/tensor"
)

// Resources are what this process used so far.
type Resources struct {
	CPU     time.Duration // processor time of all threads, 0 if unknown
	Memory  int64         // largest resident memory in bytes, 0 if unknown
	Tensors int64         // largest memory of tensors on the default device in bytes
}

// Cost returns the processor time and the largest memory of this kernel since it started.
func Cost() Resources {
	r := used()
	r.Tensors = int64(tensor.DefaultDevice().Memory().Peak)
	return r
}

// String returns the resources as a sentence.
func (r Resources) String() string {
	memory := ""
	if r.Memory > 0 {
		memory = fmt.Sprintf(tr(", %s of memory at most"), megabytes(r.Memory))
	}
	processor := tr("an unknown processor time")
	if r.CPU > 0 {
		processor = fmt.Sprintf(tr("%.1f s of processor time"), r.CPU.Seconds())
	}
	return fmt.Sprintf(tr("%s%s, tensors %s"), processor, memory, megabytes(r.Tensors))
}

func megabytes(bytes int64) string { return fmt.Sprintf("%.0f MB", float64(bytes)/1e6) }

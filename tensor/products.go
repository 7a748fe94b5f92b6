package tensor

import "halfnote/tensor/internal/asm"

// CPUProducts returns a line about matrix products on this processor: the kernels that they use,
// how fast bfloat16 is next to float32, and why.
func CPUProducts() string { return asm.About() }

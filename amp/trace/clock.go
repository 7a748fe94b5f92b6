package trace

import (
	"halfnote/tensor"
)

// clock assigns operations to training steps. A step begins with the first forward operation on
// a tensor that requires a gradient after an optimizer has changed parameters, or, until one has,
// after a backward pass.
type clock struct {
	step     int
	backward bool // backward has run in this step
	stepped  bool // an optimizer has stepped in this step
	ever     bool // an optimizer has stepped before
}

// tick advances to e's step and returns its number. restart reports that the steps before were
// a single one: they were backward passes before the first step of an optimizer.
func (c *clock) tick(e *tensor.Event) (step int, restart bool) {
	switch {
	case e.Backward:
		c.backward = true
	case e.InPlace:
		if c.backward && isParameter(e.Operands[0]) {
			restart = c.optimized()
		}
	case c.backward && (c.stepped || !c.ever) && tensor.IsGradEnabled() && requireGrad(e.Operands):
		c.step++
		c.backward, c.stepped = false, false
	}
	return c.step, restart
}

// lost advances to the step of a loss whose operations are unknown, and reports whether it is a new one.
func (c *clock) lost() (begins bool) {
	if begins = c.backward && (c.stepped || !c.ever); begins {
		c.step++
		c.backward, c.stepped = false, false
	}
	return begins
}

// optimized records that an optimizer stepped or skipped its step.
func (c *clock) optimized() (restart bool) {
	restart = !c.ever && c.step > 0
	if restart {
		c.step = 0
	}
	c.ever, c.stepped = true, true
	return restart
}

func isParameter(t *tensor.Tensor) bool { return t.RequiresGrad() && t.IsLeaf() }

func requireGrad(ts []*tensor.Tensor) bool {
	for _, t := range ts {
		if t.RequiresGrad() {
			return true
		}
	}
	return false
}

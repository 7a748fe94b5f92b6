package nn

import (
	"fmt"
	"strconv"
	"strings"

	"halfnote/tensor"
)

// Module maps a tensor to a tensor. It is torch.nn.Module.
type Module interface {
	Forward(x *tensor.Tensor) *tensor.Tensor
}

// Chain calls modules in turn. It is torch.nn.Sequential.
type Chain struct{ Modules []Module }

// Sequential returns the modules as one that calls them in turn. It panics if one
// is nil. It is torch.nn.Sequential.
func Sequential(modules ...Module) *Chain {
	for i, m := range modules {
		if m == nil {
			panic(&tensor.Error{Op: "sequential", Why: fmt.Sprintf("module %d is nil", i)})
		}
	}
	return &Chain{modules}
}

// Append adds a module at the end and returns the chain. It is
// torch.nn.Sequential.append.
func (c *Chain) Append(m Module) *Chain {
	c.Modules = append(c.Modules, m)
	return c
}

// Forward hands x through all modules.
func (c *Chain) Forward(x *tensor.Tensor) *tensor.Tensor {
	for i, m := range c.Modules {
		tensor.InModule(strconv.Itoa(i), func() { x = m.Forward(x) })
	}
	return x
}

// String lists the modules, one a line, as torch prints them.
func (c *Chain) String() string {
	var b strings.Builder
	b.WriteString("Sequential(\n")
	for i, m := range c.Modules {
		fmt.Fprintf(&b, "  (%d): %s\n", i, strings.ReplaceAll(describe(m), "\n", "\n  "))
	}
	return b.String() + ")"
}

package nn

import (
	"fmt"
	"slices"
	"strconv"
	"strings"

	"halfnote/tensor"
)

// Module maps a tensor to a tensor. It is torch.nn.Module.
type Module interface {
	Forward(x *tensor.Tensor) *tensor.Tensor
}

// Sequential calls modules in turn. It is torch.nn.Sequential.
type Sequential struct{ Modules []Module }

// NewSequential returns a chain that calls the modules in turn. It panics if one is nil. It is
// torch.nn.Sequential.
func NewSequential(modules ...Module) *Sequential {
	checkModules(modules)
	return &Sequential{modules}
}

// Append adds modules at the end and returns the chain. It panics if one is nil, or if the chain
// would contain itself. It is torch.nn.Sequential.append.
func (c *Sequential) Append(modules ...Module) *Sequential {
	checkModules(modules)
	for _, m := range modules {
		if inner, ok := m.(*Sequential); ok && inner != nil && inner.loops(c) {
			panic(&tensor.Error{Op: "sequential", Why: "the appended chain contains the chain it is appended to; append a new chain"})
		}
	}
	c.Modules = append(c.Modules, modules...)
	return c
}

// checkModules panics if a module is nil.
func checkModules(modules []Module) {
	for i, m := range modules {
		if m == nil {
			panic(&tensor.Error{Op: "sequential", Why: fmt.Sprintf("module %d is nil; want a module", i)})
		}
	}
}

// loops reports whether the chain is part of itself or one of the enclosing chains.
func (c *Sequential) loops(around ...*Sequential) bool {
	if slices.Contains(around, c) {
		return true
	}
	around = append(around, c)
	return slices.ContainsFunc(c.Modules, func(m Module) bool {
		inner, ok := m.(*Sequential)
		return ok && inner != nil && inner.loops(around...)
	})
}

// refuseLoop panics if the chain contains itself: a call would recurse forever.
func (c *Sequential) refuseLoop() {
	if c.loops() {
		panic(&tensor.Error{Op: "sequential", Why: "the chain contains itself; take it out of its Modules"})
	}
}

// Forward passes x through all modules. It panics if the chain contains itself.
func (c *Sequential) Forward(x *tensor.Tensor) *tensor.Tensor {
	c.refuseLoop()
	for i, m := range c.Modules {
		modules.In(strconv.Itoa(i), m, func() { x = m.Forward(x) })
	}
	return x
}

// String lists the modules, one per line, as torch does.
func (c *Sequential) String() string {
	if c.loops() {
		return "Sequential(contains itself)"
	}
	var b strings.Builder
	b.WriteString("Sequential(\n")
	for i, m := range c.Modules {
		fmt.Fprintf(&b, "  (%d): %s\n", i, strings.ReplaceAll(describe(m), "\n", "\n  "))
	}
	return b.String() + ")"
}

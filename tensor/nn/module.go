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
		text := fmt.Sprintf("%T", m)
		if s, ok := m.(fmt.Stringer); ok {
			text = s.String()
		}
		fmt.Fprintf(&b, "  (%d): %s\n", i, strings.ReplaceAll(text, "\n", "\n  "))
	}
	return b.String() + ")"
}

// Activation is a module without parameters.
type Activation struct {
	name string
	f    func(*tensor.Tensor) *tensor.Tensor
}

// Forward applies the function to x.
func (a *Activation) Forward(x *tensor.Tensor) *tensor.Tensor { return a.f(x) }

// String returns torch's name of the module.
func (a *Activation) String() string { return a.name }

// ReLU returns max(x, 0) as a module. It is torch.nn.ReLU.
func ReLU() *Activation { return &Activation{"ReLU()", (*tensor.Tensor).ReLU} }

// Tanh returns the hyperbolic tangent as a module. It is torch.nn.Tanh.
func Tanh() *Activation { return &Activation{"Tanh()", (*tensor.Tensor).Tanh} }

// Sigmoid returns 1/(1+exp(-x)) as a module. It is torch.nn.Sigmoid.
func Sigmoid() *Activation { return &Activation{"Sigmoid()", (*tensor.Tensor).Sigmoid} }

// GELU returns x Φ(x) as a module. It is torch.nn.GELU.
func GELU() *Activation { return &Activation{"GELU()", (*tensor.Tensor).GELU} }

// Flatten returns a module that makes all dimensions but the first one. It is
// torch.nn.Flatten.
func Flatten() *Activation {
	return &Activation{"Flatten()", func(x *tensor.Tensor) *tensor.Tensor { return x.Flatten(1) }}
}

// Softmax returns the softmax along dim as a module. It is torch.nn.Softmax.
func Softmax(dim int) *Activation {
	return &Activation{fmt.Sprintf("Softmax(dim=%d)", dim), func(x *tensor.Tensor) *tensor.Tensor { return x.Softmax(dim) }}
}

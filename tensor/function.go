package tensor

// Function is a user-defined operation: its forward computation and its derivative. It is
// torch.autograd.Function.
//
//	square := tensor.Function{
//		Name: "square",
//		Forward: func(c *tensor.Context, in []*tensor.Tensor) *tensor.Tensor {
//			c.Save(in[0])
//			return in[0].Mul(in[0])
//		},
//		Backward: func(c *tensor.Context, dy *tensor.Tensor) []*tensor.Tensor {
//			x := c.Saved()[0]
//			return []*tensor.Tensor{dy.Mul(x).MulScalar(2)}
//		},
//	}
//	y := square.Apply(x)
//
// Forward is not recorded. Backward is, so it can be differentiated again if it is made of
// operations on dy and on saved operands and results. It returns one gradient per operand, or
// nil for an operand without one.
//
// Under autocast, operations of Forward are cast and those of Backward are not, as in torch;
// amp.CustomFwd and amp.CustomBwd change that.
type Function struct {
	Name     string // name in events and messages; default "function"
	Forward  func(c *Context, in []*Tensor) *Tensor
	Backward func(c *Context, dy *Tensor) []*Tensor
}

// Apply returns the recorded result of the function for in.
func (f Function) Apply(in ...*Tensor) *Tensor {
	name := f.Name
	if name == "" {
		name = "function"
	}
	if len(in) == 0 || f.Forward == nil || f.Backward == nil {
		fail(name, in, "%d operands, Forward set: %v, Backward set: %v; want at least one operand and both functions", len(in), f.Forward != nil, f.Backward != nil)
	}
	return apply(custom{&called{f, name, &Context{in: in}}, true}, in...)
}

// Context carries values from Forward to Backward.
type Context struct {
	in    []*Tensor
	y     *Tensor // result as Forward returned it
	out   *Tensor // result on the tape
	saved []*Tensor
	attrs map[string]any
}

// SetAttr stores a value under name for Backward, like an attribute of torch's ctx.
func (c *Context) SetAttr(name string, value any) {
	if c.attrs == nil {
		c.attrs = map[string]any{}
	}
	c.attrs[name] = value
}

// Attr returns the value that SetAttr stored under name, or nil.
func (c *Context) Attr(name string) any { return c.attrs[name] }

// Save stores tensors for Backward: operands, the result, or others. Use SetAttr for other
// values. It is save_for_backward.
func (c *Context) Save(ts ...*Tensor) { c.saved = append(c.saved, ts...) }

// Saved returns the tensors passed to Save, in order.
func (c *Context) Saved() []*Tensor {
	out := make([]*Tensor, len(c.saved))
	for i, t := range c.saved {
		if out[i] = t; t == c.y {
			out[i] = c.out
		}
	}
	return out
}

// NeedsGrad reports whether operand i requires a gradient, so that Backward can skip work. It
// is needs_input_grad.
func (c *Context) NeedsGrad(i int) bool { return c.in[i].RequiresGrad() }

// called is one call of a Function.
type called struct {
	f    Function
	name string
	c    *Context
}

func (o *called) Info() Info { return info(o.name, "torch.autograd.Function", SavesAll) }
func (o *called) Forward(in []*Tensor) *Tensor {
	o.c.y = o.f.Forward(o.c, in)
	if o.c.y == nil {
		fail(o.name, in, "Forward returned nil; want a tensor")
	}
	return o.c.y
}
func (o *called) VJP(dy, y *Tensor, in []*Tensor) []*Tensor {
	o.c.out = y
	grads := o.f.Backward(o.c, dy)
	if len(grads) != len(in) {
		fail(o.name, in, "Backward returned %d gradients; want %d, with nil for an operand without a gradient", len(grads), len(in))
	}
	return grads
}

package tensor

// Function is an operation of one's own: what it computes and its derivative. It is
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
//			return []*tensor.Tensor{dy.Mul(x).Scale(2)}
//		},
//	}
//	y := square.Apply(x)
//
// Forward is not recorded. Backward is, so if it is made of operations on dy and on
// what was saved of operands and result, it can be differentiated again. It returns a
// gradient for each operand, nil for none.
//
// Under autocast the operations of Forward are cast, and those of Backward are not, as in
// torch: amp.CustomFwd and amp.CustomBwd choose otherwise.
type Function struct {
	Name     string // in events and messages; "function" if empty
	Forward  func(c *Context, in []*Tensor) *Tensor
	Backward func(c *Context, dy *Tensor) []*Tensor
}

// Apply returns the function's result for in, recorded.
func (f Function) Apply(in ...*Tensor) *Tensor {
	name := f.Name
	if name == "" {
		name = "function"
	}
	if len(in) == 0 || f.Forward == nil || f.Backward == nil {
		fail(name, in, "%d operands, Forward given: %v, Backward given: %v; expected operands and both", len(in), f.Forward != nil, f.Backward != nil)
	}
	return apply(custom{&called{f, name, &Context{in: in}}, true}, in...)
}

// Context carries what Forward saves to Backward.
type Context struct {
	in    []*Tensor
	y     *Tensor // the result as Forward returned it
	out   *Tensor // the result on the tape
	saved []*Tensor
	attrs map[string]any
}

// SetAttr keeps a value of this call under a name, for Backward: an attribute of torch's
// ctx.
func (c *Context) SetAttr(name string, value any) {
	if c.attrs == nil {
		c.attrs = map[string]any{}
	}
	c.attrs[name] = value
}

// Attr returns what SetAttr has kept under name, nil if nothing.
func (c *Context) Attr(name string) any { return c.attrs[name] }

// Save keeps tensors for Backward: operands, the result, or others; SetAttr keeps other
// values. It is save_for_backward.
func (c *Context) Save(ts ...*Tensor) { c.saved = append(c.saved, ts...) }

// Saved returns what Save was given, in that order.
func (c *Context) Saved() []*Tensor {
	out := make([]*Tensor, len(c.saved))
	for i, t := range c.saved {
		if out[i] = t; t == c.y {
			out[i] = c.out
		}
	}
	return out
}

// NeedsGrad reports whether operand i requires a gradient, so that Backward can spare
// work. It is needs_input_grad.
func (c *Context) NeedsGrad(i int) bool { return c.in[i].RequiresGrad() }

// called is one call of a Function.
type called struct {
	f    Function
	name string
	c    *Context
}

func (o *called) Info() Info { return Info{o.name, "torch.autograd.Function", Keep, ReadsAll} }
func (o *called) Forward(in []*Tensor) *Tensor {
	o.c.y = o.f.Forward(o.c, in)
	if o.c.y == nil {
		fail(o.name, in, "Forward returned no tensor; expected one")
	}
	return o.c.y
}
func (o *called) VJP(dy, y *Tensor, in []*Tensor) []*Tensor {
	o.c.out = y
	grads := o.f.Backward(o.c, dy)
	if len(grads) != len(in) {
		fail(o.name, in, "Backward returned %d gradients; expected %d, nil for an operand without one", len(grads), len(in))
	}
	return grads
}

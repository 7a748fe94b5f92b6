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
	return Apply(&called{f, name, &Context{in: in}}, in...)
}

// Context carries what Forward saves to Backward.
type Context struct {
	in    []*Tensor
	y     *Tensor // the result as Forward returned it
	out   *Tensor // the result on the tape
	saved []*Tensor
}

// Save keeps tensors for Backward: operands, the result, or others. Numbers need no
// saving: use variables that both functions see. It is save_for_backward.
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

package nn_test

import (
	"fmt"
	"math"
	"reflect"
	"slices"
	"strings"
	"testing"

	"halfnote/tensor"
	"halfnote/tensor/nn"
)

// block is a user's module with unexported fields, a nested module, a tensor shared between
// two fields, and fields that do not hold tensors.
type block struct {
	in, out *nn.Linear
	Scale   *tensor.Tensor
	again   *tensor.Tensor
	buffer  *tensor.Tensor // requires no gradient
	layers  []nn.Module
	byName  map[string]*nn.Linear
	Missing *nn.Linear
	Numbers []float64
	self    *block
}

func newBlock() *block {
	b := &block{
		in: nn.NewLinear(2, 3), out: nn.NewLinear(3, 1, nn.Bias(false)), Scale: tensor.Ones(1).RequireGrad(), buffer: tensor.Zeros(4),
		layers: []nn.Module{nn.NewReLU(), nn.NewSequential(nn.NewLinear(1, 1, nn.Bias(false)))},
		byName: map[string]*nn.Linear{"b": nn.NewLinear(1, 1, nn.Bias(false)), "a": nn.NewLinear(1, 1, nn.Bias(false))},
	}
	b.again, b.self = b.Scale, b
	return b
}

func (b *block) Forward(x *tensor.Tensor) *tensor.Tensor {
	return b.layers[1].Forward(b.out.Forward(b.in.Forward(x).ReLU()).Mul(b.Scale))
}

func names(list []nn.Named) string {
	var s []string
	for _, n := range list {
		s = append(s, n.Name)
	}
	return strings.Join(s, " ")
}

func TestParameters(t *testing.T) {
	b := newBlock()
	if got, want := names(nn.NamedParameters(b)), "in.weight in.bias out.weight scale layers.1.0.weight by_name.a.weight by_name.b.weight"; got != want {
		t.Errorf("got  %s\nwant %s", got, want)
	}
	if got := nn.NumParameters(b); got != 6+3+3+1+1+1+1 {
		t.Errorf("got %d elements, want 16", got)
	}
	if got := nn.Parameters(nil); len(got) != 0 {
		t.Errorf("parameters of nil: got %d, want 0", len(got))
	}
	if got, want := names(nn.NamedParameters(nn.NewSequential(nn.NewLinear(1, 1), nn.NewReLU(), b.in))), "0.weight 0.bias 2.weight 2.bias"; got != want {
		t.Errorf("got %s, want %s", got, want)
	}

	// The interpreter turns a cell's type into an unnamed struct type with an X before
	// unexported fields, wrapped where it is stored as an interface.
	interpreted := reflect.New(reflect.StructOf([]reflect.StructField{
		{Name: "Xfc", Type: reflect.TypeFor[*nn.Linear]()},
		{Name: "Xavier", Type: reflect.TypeFor[*tensor.Tensor]()},
		{Name: "XX", Type: reflect.TypeFor[*tensor.Tensor]()},
		{Name: "Fc", Type: reflect.TypeFor[nn.Module]()},
	})).Elem()
	interpreted.Field(0).Set(reflect.ValueOf(nn.NewLinear(1, 1, nn.Bias(false))))
	interpreted.Field(1).Set(reflect.ValueOf(tensor.Ones(1).RequireGrad()))
	interpreted.Field(2).Set(reflect.ValueOf(tensor.Ones(1).RequireGrad()))
	interpreted.Field(3).Set(reflect.ValueOf(wrapper{IValue: nn.NewLinear(1, 1)}))
	if got, want := names(nn.NamedParameters(wrapper{IValue: interpreted.Addr().Interface()})), "fc.weight avier xx fc.weight fc.bias"; got != want {
		t.Errorf("interpreted: got %s, want %s", got, want)
	}
}

// wrapper imitates the interpreter's wrapper of Module.
type wrapper struct {
	IValue   any
	WForward func(*tensor.Tensor) *tensor.Tensor
}

func (w wrapper) Forward(x *tensor.Tensor) *tensor.Tensor { return w.WForward(x) }

func TestBackwardReachesUsedParameters(t *testing.T) {
	b := newBlock()
	x := tensor.New([]float64{1, 2, 3, 4}, 2, 2)
	nn.MSELoss(b.Forward(x), tensor.Ones(2, 1)).Backward()
	for _, n := range nn.NamedParameters(b) {
		used := !strings.HasPrefix(n.Name, "by_name")
		if (n.Tensor.Grad() != nil) != used {
			t.Errorf("%s: does it have a gradient: got %v, want %v", n.Name, !used, used)
		}
	}
	nn.ZeroGrad(b)
	if b.Scale.Grad() != nil {
		t.Error("a gradient is left after ZeroGrad")
	}
	if got := nn.L1Loss(tensor.New([]float64{1, -3}), tensor.Zeros(2)).Item(); got != 2 {
		t.Errorf("l1_loss: got %v, want 2", got)
	}
}

func TestLinear(t *testing.T) {
	g := tensor.NewGenerator(1)
	l := nn.NewLinear(100, 50, nn.InitFrom(g))
	s := l.Weight.Stats()
	if s.Min < -0.1 || s.Max > 0.1 || s.Max-s.Min < 0.19 || math.Abs(s.Mean) > 0.01 {
		t.Errorf("got weights %+v, want uniform numbers in ±0.1", s)
	}
	if again := nn.NewLinear(100, 50, nn.InitFrom(tensor.NewGenerator(1))); !slices.Equal(again.Weight.Bits(), l.Weight.Bits()) || !slices.Equal(again.Bias.Bits(), l.Bias.Bits()) {
		t.Error("equal seeds give different layers")
	}
	for _, shape := range [][]int{{100}, {3, 100}, {2, 3, 100}} {
		want := append(slices.Clone(shape[:len(shape)-1]), 50)
		if got := l.Forward(tensor.Zeros(shape...)); !slices.Equal(got.Shape(), want) {
			t.Errorf("shape of the result for %v: got %v, want %v", shape, got.Shape(), want)
		}
	}
	if err := tensor.Try(func() { nn.NewLinear(0, 3) }); err == nil {
		t.Error("a layer without inputs: got no error")
	}
	if err := tensor.Try(func() { nn.NewSequential(nil) }); err == nil {
		t.Error("a nil module: got no error")
	}
}

func TestStateDictAndConversion(t *testing.T) {
	a, b := newBlock(), newBlock()
	state := nn.StateDict(a)
	if _, ok := state["buffer"]; !ok || len(state) != 8 {
		t.Errorf("got a state of %d names, want 8 that include buffer", len(state))
	}
	if err := nn.LoadStateDict(b, state); err != nil {
		t.Fatal(err)
	}
	x := tensor.Ones(1, 2)
	if got, want := b.Forward(x).Item(), a.Forward(x).Item(); got != want {
		t.Errorf("after loading: got %v, want %v", got, want)
	}
	state["more"] = tensor.Ones(1)
	state["scale"] = tensor.Ones(2)
	delete(state, "in.bias")
	err := nn.LoadStateDict(b, state)
	if want := "nn: load state dict: in.bias is missing; more is not in the model; scale has shape (2,), want (1,)"; fmt.Sprint(err) != want {
		t.Errorf("got %v, want %s", err, want)
	}

	params := nn.Parameters(b)
	nn.MSELoss(b.Forward(x), tensor.Ones(1, 1)).Backward()
	nn.Half(b)
	for i, p := range nn.Parameters(b) {
		if p != params[i] || p.DType() != tensor.Float16 || p.Grad() != nil && p.Grad().DType() != tensor.Float16 {
			t.Errorf("parameter %d: want the same tensor, converted to float16 with its gradient", i)
		}
	}
	if d := b.Forward(x.Half()).DType(); d != tensor.Float16 {
		t.Errorf("result of a float16 model: got %v, want float16", d)
	}
	nn.To(b, tensor.CPU)
	if err := tensor.Try(func() { nn.To(b, "nowhere") }); err == nil {
		t.Error("an unknown device: got no error")
	}
}

func TestClipGrad(t *testing.T) {
	gradients := func(values ...float64) []*tensor.Tensor {
		var out []*tensor.Tensor
		for _, v := range values {
			p := tensor.Ones(1).RequireGrad()
			p.SetGrad(tensor.New([]float64{v}))
			out = append(out, p)
		}
		return append(out, tensor.Ones(1).RequireGrad()) // one without a gradient
	}
	inf := math.Inf(1)
	for _, c := range []struct {
		in   []float64
		max  float64
		norm float64
		want []float64
	}{
		{[]float64{3, -4}, 1, 5, []float64{0.6, -0.8}},
		{[]float64{3, -4}, 10, 5, []float64{3, -4}},
		{[]float64{0, 0}, 1, 0, []float64{0, 0}},
		{[]float64{1, inf}, 1, inf, []float64{0, math.NaN()}},
		{[]float64{1e18, 1e18}, 1, math.Sqrt2 * 1e18, []float64{math.Sqrt2 / 2, math.Sqrt2 / 2}},
	} {
		p := gradients(c.in...)
		if got := nn.ClipGradNorm(p, c.max); !(math.Abs(got-c.norm) <= 1e-6*c.norm) && got != c.norm {
			t.Errorf("%v: got norm %v, want %v", c.in, got, c.norm)
		}
		for i, want := range c.want {
			if got := p[i].Grad().Item(); !(math.Abs(got-want) <= 1e-6) && !(got != got && want != want) {
				t.Errorf("%v, element %d: got %v, want %v", c.in, i, got, want)
			}
		}
	}
	p := gradients(3, -4, 0.5)
	nn.ClipGradValue(p, 1)
	for i, want := range []float64{1, -1, 0.5} {
		if got := p[i].Grad().Item(); got != want {
			t.Errorf("clipped value %d: got %v, want %v", i, got, want)
		}
	}
	half := tensor.NewAs(tensor.Float16, []float64{1, 1}).RequireGrad()
	half.SetGrad(tensor.NewAs(tensor.Float16, []float64{60000, 60000}))
	if got := nn.ClipGradNorm([]*tensor.Tensor{half}, 1); math.Abs(got-60000*math.Sqrt2) > 1e-2*60000 {
		t.Errorf("norm of float16 gradients: got dtype %v", got)
	}
	for _, c := range []struct{ p, want float64 }{{1, 7}, {2, 5}, {3, math.Cbrt(27 + 64)}, {inf, 4}} {
		p := gradients(3, -4)
		if got := nn.ClipGradNorm(p, 1, nn.NormType(c.p)); math.Abs(got-c.want) > 1e-6*c.want {
			t.Errorf("norm of order %v: got %v, want %v", c.p, got, c.want)
		}
		if got, want := p[0].Grad().Item(), 3/c.want; math.Abs(got-want) > 1e-6 {
			t.Errorf("clipped by the norm of order %v: got %v, want %v", c.p, got, want)
		}
	}
	if got := nn.ClipGradNorm(nil, 1); got != 0 {
		t.Errorf("norm without gradients: got %v, want 0", got)
	}
	for want, f := range map[string]func(){
		"clip_grad_norm: the order of the norm is -1; want a number above 0, or +Inf":                                                  func() { nn.ClipGradNorm(gradients(1), 1, nn.NormType(-1)) },
		"clip_grad_norm: the gradients' norm of order 2 is +Inf; want a finite norm: look for overflow, or leave out ErrorIfNonFinite": func() { nn.ClipGradNorm(gradients(inf), 1, nn.ErrorIfNonFinite()) },
	} {
		if err := tensor.Try(f); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("got %v, want an error that contains %q", err, want)
		}
	}
}

func TestSequential(t *testing.T) {
	net := nn.NewSequential(nn.NewLinear(2, 3), nn.NewReLU(), nn.NewSequential(nn.NewTanh(), nn.NewSigmoid())).Append(nn.NewSoftmax(-1)).Append(nn.NewGELU()).Append(nn.NewFlatten())
	want := `Sequential(
  (0): Linear(in_features=2, out_features=3, bias=True)
  (1): ReLU()
  (2): Sequential(
    (0): Tanh()
    (1): Sigmoid()
  )
  (3): Softmax(dim=-1)
  (4): GELU(approximate='none')
  (5): Flatten(start_dim=1, end_dim=-1)
)`
	if got := net.String(); got != want {
		t.Errorf("got\n%s\nwant\n%s", got, want)
	}
	var paths []string
	stop := tensor.Observe(func(e tensor.Event) { paths = append(paths, e.Module+" "+e.Op.Name) })
	net.Forward(tensor.Ones(1, 2))
	stop()
	if got, want := strings.Join(paths, ", "), "0 linear, 1 relu, 2.0 tanh, 2.1 sigmoid, 3 softmax, 4 gelu"; got != want {
		t.Errorf("got %s, want %s", got, want)
	}
}

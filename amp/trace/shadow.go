package trace

import (
	"math"

	"halfnote/tensor"
)

// shadow computes each operation once more in float64: on the operands as they were
// computed on, which tells the error of the operation itself, and on their shadows,
// what they would be had everything before been float64, which tells what has become
// of the values on the way.
type shadow struct {
	young, old map[int]shade // by ID of the tensor: those of this step, and of the one before
	bytes      int           // of the young
}

// shade is a tensor's shadow.
type shade struct {
	*tensor.Tensor
	version *int // of the memory that it belongs to, shared by views
}

// shadowLimit is how many bytes of shadows a step may have. Beyond them the oldest are
// dropped, and what is computed from their tensors starts from the values as they are.
const shadowLimit = 1 << 29

// turn lets go of the shadows of the step before.
func (s *shadow) turn() { s.young, s.old, s.bytes = map[int]shade{}, s.young, 0 }

func (s *shadow) get(t *tensor.Tensor) (shade, bool) {
	v, ok := s.young[t.ID()]
	if !ok {
		v, ok = s.old[t.ID()]
	}
	return v, ok
}

// of returns the shadow of x, and whether it differs from x for what came before.
func (s *shadow) of(x *tensor.Tensor) (*tensor.Tensor, bool) {
	if v, ok := s.get(x); ok && *v.version == x.Version() {
		return v.Tensor, true
	}
	return exact(x), false
}

// exact returns x in float64 if it is floating-point, in memory of its own, else itself.
func exact(x *tensor.Tensor) *tensor.Tensor {
	if x.DType() == tensor.Float64 {
		return x.Detach().Clone()
	}
	if x.DType().IsFloat() {
		return x.Detach().Double()
	}
	return x.Detach()
}

// put remembers y's shadow.
func (s *shadow) put(y, of *tensor.Tensor, version *int) {
	if version == nil {
		version = new(int)
		s.bytes += of.Bytes()
	}
	if s.young == nil || s.bytes > shadowLimit {
		s.turn()
	}
	*version = y.Version()
	s.young[y.ID()] = shade{of, version}
}

// event follows an operation, and returns what it says of the result, nil if nothing:
// there are operations without a float64 form.
func (s *shadow) event(e tensor.Event) (said *Shadowed, r Rounding) {
	tensor.Unobserved(func() {
		if tensor.Try(func() { said, r = s.follow(e) }) != nil {
			said = nil
		}
	})
	return said, r
}

func (s *shadow) follow(e tensor.Event) (*Shadowed, Rounding) {
	y := e.Result
	if e.InPlace {
		s.changed(e)
		return nil, Rounding{}
	}
	if !y.DType().IsFloat() {
		return nil, Rounding{}
	}
	truth, apart := make([]*tensor.Tensor, len(e.Operands)), false
	for i, x := range e.Operands {
		t, differs := s.of(x)
		truth[i], apart = t, apart || differs
	}
	if e.View {
		var version *int
		if v, ok := s.get(e.Operands[0]); ok && apart {
			version = v.version
		}
		s.put(y, e.Rerun(truth), version)
		return nil, Rounding{}
	}
	said := &Shadowed{}
	own := make([]*tensor.Tensor, len(e.Operands))
	for i, x := range e.Operands {
		own[i] = exact(x)
	}
	local := s.again(e, own)
	values := y.Float64s()
	r := said.local(values, local.Float64s(), y.DType())
	followed := local
	if apart {
		followed = s.again(e, truth)
	}
	said.follow(values, followed.Float64s())
	s.put(y, followed, nil)
	return said, r
}

// again runs e's operation in float64. A cast is none there.
func (s *shadow) again(e tensor.Event, in []*tensor.Tensor) *tensor.Tensor {
	if e.Op.Name == "cast" {
		return exact(in[0])
	}
	return exact(e.Rerun(in))
}

// changed follows a change in place where it is known what it does: a sum of gradients.
// Other shadows of what is changed are stale from now on.
func (s *shadow) changed(e tensor.Event) {
	v, ok := s.get(e.Operands[0])
	if !ok || !e.Backward || e.Op.Name != "add_" || len(e.Operands) != 2 || *v.version != e.Operands[0].Version()-1 {
		return
	}
	dx, _ := s.of(e.Operands[1])
	v.AddAssign(dx)
	*v.version = e.Operands[0].Version()
}

// local notes how far values are from truth, what the operation would be without
// rounding.
func (s *Shadowed) local(values, truth []float64, d tensor.DType) (r Rounding) {
	f := tensor.FInfo(d)
	apart, length := 0.0, 0.0
	for i, y := range values {
		x := truth[i]
		if x-x != 0 {
			continue
		}
		s.Compared++
		switch {
		case y-y != 0:
			r.Overflowed++
		case y == 0 && x != 0:
			r.Flushed++
			fallthrough
		default:
			s.ULP = max(s.ULP, math.Abs(y-x)/ulp(x, f))
			apart += (y - x) * (y - x)
			length += x * x
		}
	}
	if length > 0 {
		s.Own = math.Sqrt(apart / length)
	}
	return r
}

// ulp is the distance between neighbours at x.
func ulp(x float64, f tensor.FloatInfo) float64 {
	if a := math.Abs(x); a >= f.Tiny {
		return math.Ldexp(f.Eps, math.Ilogb(min(a, f.Max)))
	}
	return f.Subnormal
}

// follow notes what has become of values that should be truth.
func (s *Shadowed) follow(values, truth []float64) {
	apart, length := 0.0, 0.0
	for i, y := range values {
		x := truth[i]
		if x-x != 0 {
			continue
		}
		s.Followed++
		switch {
		case y-y != 0:
			s.Blown++
			continue
		case y == 0 && x != 0:
			s.Dead++
		}
		apart += (y - x) * (y - x)
		length += x * x
	}
	if length > 0 {
		s.Drift = math.Sqrt(apart / length)
	}
}

package trace

import (
	"math"

	"halfnote/tensor"
)

// shadow recomputes each operation in float64: on the same operands, which gives the error of the
// operation itself, and on their shadows, which are the operands if all earlier operations had
// been float64. The latter gives the accumulated error.
type shadow struct {
	young, old map[int]shade // shadows of this step and of the one before, by tensor ID
	bytes      int           // bytes of the young shadows
}

// shade is the shadow of a tensor.
type shade struct {
	*tensor.Tensor
	version *int // version of the memory, shared by views
}

// shadowLimit is the largest number of bytes of shadows in a step. Beyond it the oldest are
// dropped, and later results of those tensors are computed from the actual values.
const shadowLimit = 1 << 29

// turn drops the shadows of the step before.
func (s *shadow) turn() { s.young, s.old, s.bytes = map[int]shade{}, s.young, 0 }

func (s *shadow) get(t *tensor.Tensor) (shade, bool) {
	v, ok := s.young[t.ID()]
	if !ok {
		v, ok = s.old[t.ID()]
	}
	return v, ok
}

// of returns the shadow of x, and reports whether it follows from earlier shadows.
func (s *shadow) of(x *tensor.Tensor) (*tensor.Tensor, bool) {
	if v, ok := s.get(x); ok && *v.version == x.Version() {
		return v.Tensor, true
	}
	return exact(x), false
}

// exact returns a float64 copy of x if x is floating-point, otherwise x itself.
func exact(x *tensor.Tensor) *tensor.Tensor {
	if x.DType() == tensor.Float64 {
		return x.Detach().Clone()
	}
	if x.DType().IsFloat() {
		return x.Detach().Double()
	}
	return x.Detach()
}

// put stores y's shadow.
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

// event follows an operation and returns the comparison of its result, or nil for operations
// without a float64 form.
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

// again runs e's operation in float64, where casts and rounding to few bits do nothing.
func (s *shadow) again(e tensor.Event, in []*tensor.Tensor) *tensor.Tensor {
	if e.Op.Name == "cast" || e.Op.Name == "fake_quantize" {
		return exact(in[0])
	}
	return exact(e.Rerun(in))
}

// changed follows an in-place sum of gradients. All other in-place changes make the shadows of the
// memory stale.
func (s *shadow) changed(e tensor.Event) {
	v, ok := s.get(e.Operands[0])
	if !ok || !e.Backward || e.Op.Name != "add_" || len(e.Operands) != 2 || *v.version != e.Operands[0].Version()-1 {
		return
	}
	dx, _ := s.of(e.Operands[1])
	v.AddAssign(dx)
	*v.version = e.Operands[0].Version()
}

// local records the distance of values from truth, the operation's result without rounding.
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

// ulp returns the distance between neighbouring numbers at x.
func ulp(x float64, f tensor.FloatInfo) float64 {
	if a := math.Abs(x); a >= f.Tiny {
		return math.Ldexp(f.Eps, math.Ilogb(min(a, f.Max)))
	}
	return f.Subnormal
}

// follow records the distance of values from truth, their values in a float64 step.
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

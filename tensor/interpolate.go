package tensor

import (
	"fmt"
	"math"
)

// InterpolateOptions are what Interpolate may be told: either sizes or factors.
type InterpolateOptions struct {
	Size         []int     // of the result, one number for all dimensions or one a dimension
	ScaleFactor  []float64 // the result's sizes relative to the input's, likewise
	Mode         string    // "nearest", "nearest-exact", "linear", "bilinear", "trilinear", "bicubic" or "area": "" is "nearest"
	AlignCorners bool      // the corner elements keep their places, for linear and cubic modes
	Antialias    bool      // widen the filter to shrink, for bilinear and bicubic
	Recompute    bool      // take the sizes' ratio for the factor: recompute_scale_factor
}

// Interpolate returns t (n, c, …) with its one to three last dimensions of another
// size. Positions and weights are float32, float64 for float64; sums are in float32
// and rounded once, along the last dimension first.
//
// Positions follow the factor, where one is given, by the rule of torch's CPU: a dimension whose
// size the factor leaves as it is, such as 1.2 of 4 elements, is copied in the linear modes, with
// Antialias, and in mode nearest of two dimensions, which also takes each element twice
// where the size doubles. CUDA goes by the factor there too. The gradient is that of the result
// (torch's CPU has another for such factors in cubic and antialiased modes, and nearest of one or three dimensions). It is
// torch.nn.functional.interpolate.
func (t *Tensor) Interpolate(o InterpolateOptions) *Tensor {
	t.given("interpolate")
	dims := len(t.shape) - 2
	if o.Mode == "" {
		o.Mode = "nearest"
	}
	bad := func(format string, args ...any) { fail("interpolate", []*Tensor{t}, format, args...) }
	if dims < 1 || dims > 3 || t.Numel() == 0 && size(t.shape[1:]) == 0 {
		bad("expected (n, c, …) with one to three dimensions more, and elements")
	}
	if (len(o.Size) == 0) == (len(o.ScaleFactor) == 0) {
		bad("sizes %v and factors %v; expected one of both", o.Size, o.ScaleFactor)
	}
	sizes, factors := make([]int, dims), make([]float64, dims)
	if len(o.Size) > 0 {
		sizes = perDimension("interpolate", "size", o.Size, dims, 0, 1)
	}
	for i := range o.ScaleFactor {
		if n := len(o.ScaleFactor); n != 1 && n != dims || !(o.ScaleFactor[i] > 0) {
			bad("factors %v; expected 1 or %d numbers above 0", o.ScaleFactor, dims)
		}
	}
	for d := range sizes {
		if n := len(o.ScaleFactor); n > 0 {
			factors[d] = o.ScaleFactor[min(d, n-1)]
			if sizes[d] = int(math.Floor(float64(t.shape[2+d]) * factors[d])); sizes[d] < 1 {
				bad("the factor %v leaves nothing of %d elements; expected a larger one", factors[d], t.shape[2+d])
			}
			if o.Recompute {
				factors[d] = 0
			}
		}
	}
	linear := map[string]int{"linear": 1, "bilinear": 2, "trilinear": 3, "bicubic": 2}[o.Mode]
	switch {
	case linear != 0 && linear != dims:
		bad("mode %s is for %d dimensions behind (n, c)", o.Mode, linear)
	case linear == 0 && o.AlignCorners, o.Antialias && linear != 2:
		bad("mode %s with align corners %v and antialias %v; expected a linear or cubic mode, and two dimensions for antialias", o.Mode, o.AlignCorners, o.Antialias)
	case o.Mode == "area":
		return t.adaptiveAvgPool(dims, sizes)
	}
	var u upsample
	for d, n := range sizes {
		s := scaling{in: t.shape[2+d], out: n, factor: factors[d], corners: o.AlignCorners, single: t.dtype != Float64, plane: dims == 2}
		u.lines = append(u.lines, s.line(o.Mode, o.Antialias))
	}
	switch o.Mode {
	case "nearest":
		return apply(upsampleNearest{u}, t)
	case "nearest-exact":
		return apply(upsampleNearestExact{u}, t)
	case "linear":
		return apply(upsampleLinear{u}, t)
	case "trilinear":
		return apply(upsampleTrilinear{u}, t)
	case "bilinear":
		if o.Antialias {
			return apply(upsampleBilinearAA{u}, t)
		}
		return apply(upsampleBilinear{u}, t)
	case "bicubic":
		if o.Antialias {
			return apply(upsampleBicubicAA{u}, t)
		}
		return apply(upsampleBicubic{u}, t)
	}
	panic(&Error{Op: "interpolate", Why: fmt.Sprintf("there is no mode %q; expected nearest, nearest-exact, linear, bilinear, trilinear, bicubic or area", o.Mode)})
}

// scaling takes a dimension from in to out elements. The positions are those of
// aten/src/ATen/native/UpSample.h, rounded as there.
type scaling struct {
	in, out int
	factor  float64 // 0: out/in
	corners bool
	single  bool // positions and weights are float32
	plane   bool // there are two dimensions
}

// round returns x as positions are kept.
func (s scaling) round(x float64) float64 {
	if s.single {
		return float64(float32(x))
	}
	return float64(x) // rounded as it is, so that no processor fuses a product with what follows
}

// step returns the distance of the result's elements in the operand.
func (s scaling) step() float64 {
	switch {
	case s.corners && s.out > 1:
		return s.round(float64(s.in-1) / float64(s.out-1))
	case s.corners:
		return 0
	case s.factor > 0:
		return s.round(1 / s.factor)
	}
	return s.round(float64(s.in) / float64(s.out))
}

// at returns the position of element j of the result in the operand.
func (s scaling) at(j int) float64 {
	if s.corners {
		return s.round(s.step() * float64(j))
	}
	return s.round(s.round(s.step()*s.round(float64(j)+0.5)) - 0.5)
}

func (s scaling) line(mode string, antialias bool) line {
	switch {
	case mode == "nearest":
		if s.plane && (s.out == s.in || s.out == 2*s.in) {
			s.factor = 0
		}
		return s.nearest(0)
	case mode == "nearest-exact":
		return s.nearest(0.5)
	case s.out == s.in && (antialias || mode != "bicubic"):
		return s.copied()
	case antialias && mode == "bilinear":
		return s.filtered(1, func(x float64) float64 { return max(0, 1-math.Abs(x)) })
	case antialias:
		return s.filtered(2, func(x float64) float64 { return cubic(-0.5, x) })
	case mode == "bicubic":
		return s.bicubic()
	}
	return s.linear()
}

func (s scaling) nearest(middle float64) line {
	l := line{size: s.in, index: [][]int{hostSlice[int]("interpolate", s.out)}}
	for j := range s.out {
		l.index[0][j] = min(int(math.Floor(s.round(s.round(float64(j)+middle)*s.step()))), s.in-1)
	}
	return l
}

// copied takes each element as it is.
func (s scaling) copied() line {
	l := s.newLine(1)
	for j := range s.out {
		l.index[0][j], l.weight[0][j] = j, 1
	}
	return l
}

// newLine returns a line of so many taps.
func (s scaling) newLine(taps int) line {
	l := line{size: s.in}
	for range taps {
		l.index = append(l.index, hostSlice[int]("interpolate", s.out))
		l.weight = append(l.weight, hostSlice[float64]("interpolate", s.out))
	}
	return l
}

func (s scaling) linear() line {
	l := s.newLine(2)
	for j := range s.out {
		at := max(0, s.at(j))
		i := min(int(at), s.in-1)
		part := min(max(s.round(at-float64(i)), 0), 1)
		l.index[0][j], l.index[1][j] = i, min(i+1, s.in-1)
		l.weight[0][j], l.weight[1][j] = s.round(1-part), part
	}
	return l
}

// cubic is the kernel of Keys, Cubic convolution interpolation for digital image
// processing, 1981.
func cubic(a, x float64) float64 {
	switch x = math.Abs(x); {
	case x < 1:
		return float64((float64((a+2)*x)-(a+3))*x*x) + 1
	case x < 2:
		return float64((float64((float64((x-5)*x)+8)*x) - 4) * a)
	}
	return 0
}

func (s scaling) bicubic() line {
	l := s.newLine(4)
	for j := range s.out {
		at := s.at(j)
		i := math.Floor(at)
		part := s.round(at - i)
		for t := range 4 {
			l.index[t][j] = min(max(int(i)-1+t, 0), s.in-1)
			l.weight[t][j] = s.round(cubic(-0.75, part+1-float64(t)))
		}
	}
	return l
}

// filtered weighs what lies within reach of each position, which grows where the
// result is smaller.
func (s scaling) filtered(reach float64, filter func(float64) float64) line {
	wider := max(1, s.step())
	support := float64(reach * wider)
	var index [][]int
	var weight [][]float64
	most := 0
	for j := range s.out {
		centre := s.round(s.step() * (float64(j) + 0.5))
		first := max(int(centre-support+0.5), 0)
		n := max(min(int(centre+support+0.5), s.in)-first, 1)
		total := 0.0
		var w []float64
		for i := range n {
			w = append(w, filter((float64(i+first)-centre+0.5)/wider))
			total += w[i]
		}
		for i := range w {
			w[i] = s.round(w[i] / total)
		}
		index, weight = append(index, []int{first}), append(weight, w)
		most = max(most, n)
	}
	l := s.newLine(most)
	for j := range s.out {
		for t := range most {
			l.index[t][j] = index[j][0] + min(t, len(weight[j])-1)
			if t < len(weight[j]) {
				l.weight[t][j] = weight[j][t]
			}
		}
	}
	return l
}

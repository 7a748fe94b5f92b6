package tensor

import (
	"fmt"
	"math"
)

// InterpolateOptions configures Interpolate. Set either Size or ScaleFactor.
type InterpolateOptions struct {
	Size         []int     // size of the result, one number for all dimensions or one per dimension
	ScaleFactor  []float64 // ratio of the result's size to the input's, one number for all dimensions or one per dimension
	Mode         string    // "nearest" (default), "nearest-exact", "linear", "bilinear", "trilinear", "bicubic" or "area"
	AlignCorners bool      // aligns the corner elements, in linear and cubic modes
	Antialias    bool      // widens the filter when shrinking, in modes bilinear and bicubic
	Recompute    bool      // computes positions from the ratio of sizes, not from ScaleFactor: recompute_scale_factor
}

// Interpolate returns t (n, c, …) with its last one to three dimensions resized. Positions and
// weights are float32, or float64 for a float64 input; sums are in float32 and rounded once,
// along the last dimension first.
//
// Positions follow ScaleFactor, if given, by the rules of torch's CPU. A dimension whose size
// does not change, for example 4 elements times 1.2, is copied in the linear modes, with
// Antialias, and in two-dimensional nearest mode, which also repeats each element twice where
// the size doubles. CUDA uses the factor there too. The gradient is that of the result; for
// such factors torch's CPU has a different one in cubic and antialiased modes, and in nearest
// mode of one or three dimensions. It is torch.nn.functional.interpolate.
func (t *Tensor) Interpolate(o InterpolateOptions) *Tensor {
	t.given("interpolate")
	dims := len(t.shape) - 2
	if o.Mode == "" {
		o.Mode = "nearest"
	}
	bad := func(format string, args ...any) { fail("interpolate", []*Tensor{t}, format, args...) }
	if dims < 1 || dims > 3 || t.Numel() == 0 && size(t.shape[1:]) == 0 {
		bad("want a non-empty input (n, c, …) with 3 to 5 dimensions")
	}
	if (len(o.Size) == 0) == (len(o.ScaleFactor) == 0) {
		bad("Size is %v and ScaleFactor is %v; want exactly one of them", o.Size, o.ScaleFactor)
	}
	sizes, factors := make([]int, dims), make([]float64, dims)
	if len(o.Size) > 0 {
		sizes = perDimension("interpolate", "size", o.Size, dims, 0, 1)
	}
	for i := range o.ScaleFactor {
		if n := len(o.ScaleFactor); n != 1 && n != dims || !(o.ScaleFactor[i] > 0) {
			bad("ScaleFactor is %v; want 1 or %d positive numbers", o.ScaleFactor, dims)
		}
	}
	for d := range sizes {
		if n := len(o.ScaleFactor); n > 0 {
			factors[d] = o.ScaleFactor[min(d, n-1)]
			if sizes[d] = int(math.Floor(float64(t.shape[2+d]) * factors[d])); sizes[d] < 1 {
				bad("the factor %v leaves no elements of %d; use a larger factor", factors[d], t.shape[2+d])
			}
			if o.Recompute {
				factors[d] = 0
			}
		}
	}
	linear := map[string]int{"linear": 1, "bilinear": 2, "trilinear": 3, "bicubic": 2}[o.Mode]
	switch {
	case linear != 0 && linear != dims:
		bad("mode %s is %d-dimensional, but the number of dimensions after (n, c) is %d", o.Mode, linear, dims)
	case linear == 0 && o.AlignCorners, o.Antialias && linear != 2:
		bad("mode %s with AlignCorners %v and Antialias %v; AlignCorners needs a linear or cubic mode, Antialias needs bilinear or bicubic", o.Mode, o.AlignCorners, o.Antialias)
	case linear != 0 && !t.dtype.IsFloat():
		failDType("interpolate", []*Tensor{t}, "mode %s takes averages, which are not integers; convert the input with Float, and round the result", o.Mode)
	case o.Mode == "area":
		return functional{}.AdaptiveAvgPool(t, dims, sizes)
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
	panic(named(&Error{Op: "interpolate", Why: fmt.Sprintf("unknown mode %q; want nearest, nearest-exact, linear, bilinear, trilinear, bicubic or area", o.Mode)}))
}

// scaling maps a dimension of in elements to out elements. Positions are those of
// aten/src/ATen/native/UpSample.h, rounded as there.
type scaling struct {
	in, out int
	factor  float64 // ratio of sizes; 0: out/in
	corners bool
	single  bool // float32 positions and weights
	plane   bool // two dimensions
}

// round rounds x to the precision of positions.
func (s scaling) round(x float64) float64 {
	if s.single {
		return float64(float32(x))
	}
	return float64(x) // conversion prevents fusing the product with a following addition
}

// step returns the distance in the operand between elements of the result.
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

// at returns the position in the operand of element j of the result.
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

// copied returns a line that copies each element.
func (s scaling) copied() line {
	l := s.newLine(1)
	for j := range s.out {
		l.index[0][j], l.weight[0][j] = j, 1
	}
	return l
}

// newLine returns a line with the given number of taps.
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

// filtered weights the elements within reach of each position. The reach grows when the result
// is smaller.
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

// upsample is the common part of Interpolate's operations.
type upsample struct{ resample }

// They differ in their names on autocast's lists.
type (
	upsampleNearest      struct{ upsample }
	upsampleNearestExact struct{ upsample }
	upsampleLinear       struct{ upsample }
	upsampleBilinear     struct{ upsample }
	upsampleTrilinear    struct{ upsample }
	upsampleBicubic      struct{ upsample }
	upsampleBilinearAA   struct{ upsample }
	upsampleBicubicAA    struct{ upsample }
)

const interpolate = "torch.nn.functional.interpolate"

func (u upsampleNearest) Info() Info {
	return info("upsample_nearest"+nd(len(u.lines)), interpolate, SavesNothing)
}
func (u upsampleNearestExact) Info() Info {
	return info("_upsample_nearest_exact"+nd(len(u.lines)), interpolate, SavesNothing)
}
func (upsampleLinear) Info() Info { return info("upsample_linear1d", interpolate, SavesNothing) }
func (upsampleBilinear) Info() Info {
	return info("upsample_bilinear2d", interpolate, SavesNothing)
}
func (upsampleTrilinear) Info() Info {
	return info("upsample_trilinear3d", interpolate, SavesNothing)
}
func (upsampleBicubic) Info() Info {
	return info("upsample_bicubic2d", interpolate, SavesNothing)
}
func (upsampleBilinearAA) Info() Info {
	return info("_upsample_bilinear2d_aa", interpolate, SavesNothing)
}
func (upsampleBicubicAA) Info() Info {
	return info("_upsample_bicubic2d_aa", interpolate, SavesNothing)
}

func (u upsampleNearest) VJP(dy, _ *Tensor, _ []*Tensor) []*Tensor      { return adjoint(u, dy) }
func (u upsampleNearestExact) VJP(dy, _ *Tensor, _ []*Tensor) []*Tensor { return adjoint(u, dy) }
func (u upsampleLinear) VJP(dy, _ *Tensor, _ []*Tensor) []*Tensor       { return adjoint(u, dy) }
func (u upsampleBilinear) VJP(dy, _ *Tensor, _ []*Tensor) []*Tensor     { return adjoint(u, dy) }
func (u upsampleTrilinear) VJP(dy, _ *Tensor, _ []*Tensor) []*Tensor    { return adjoint(u, dy) }
func (u upsampleBicubic) VJP(dy, _ *Tensor, _ []*Tensor) []*Tensor      { return adjoint(u, dy) }
func (u upsampleBilinearAA) VJP(dy, _ *Tensor, _ []*Tensor) []*Tensor   { return adjoint(u, dy) }
func (u upsampleBicubicAA) VJP(dy, _ *Tensor, _ []*Tensor) []*Tensor    { return adjoint(u, dy) }

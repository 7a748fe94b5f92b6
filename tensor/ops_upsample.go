package tensor

// upsample is the common part of Interpolate's operations.
type upsample struct{ resample }

// They differ in the names by which autocast knows them.
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
	return Info{"upsample_nearest" + nd(len(u.lines)), interpolate, Raise, ReadsNothing}
}
func (u upsampleNearestExact) Info() Info {
	return Info{"_upsample_nearest_exact" + nd(len(u.lines)), interpolate, Raise, ReadsNothing}
}
func (upsampleLinear) Info() Info { return Info{"upsample_linear1d", interpolate, Raise, ReadsNothing} }
func (upsampleBilinear) Info() Info {
	return Info{"upsample_bilinear2d", interpolate, Raise, ReadsNothing}
}
func (upsampleTrilinear) Info() Info {
	return Info{"upsample_trilinear3d", interpolate, Raise, ReadsNothing}
}
func (upsampleBicubic) Info() Info {
	return Info{"upsample_bicubic2d", interpolate, Raise, ReadsNothing}
}
func (upsampleBilinearAA) Info() Info {
	return Info{"_upsample_bilinear2d_aa", interpolate, Raise, ReadsNothing}
}
func (upsampleBicubicAA) Info() Info {
	return Info{"_upsample_bicubic2d_aa", interpolate, Raise, ReadsNothing}
}

func (u upsampleNearest) VJP(dy, _ *Tensor, _ []*Tensor) []*Tensor      { return adjoint(u, dy) }
func (u upsampleNearestExact) VJP(dy, _ *Tensor, _ []*Tensor) []*Tensor { return adjoint(u, dy) }
func (u upsampleLinear) VJP(dy, _ *Tensor, _ []*Tensor) []*Tensor       { return adjoint(u, dy) }
func (u upsampleBilinear) VJP(dy, _ *Tensor, _ []*Tensor) []*Tensor     { return adjoint(u, dy) }
func (u upsampleTrilinear) VJP(dy, _ *Tensor, _ []*Tensor) []*Tensor    { return adjoint(u, dy) }
func (u upsampleBicubic) VJP(dy, _ *Tensor, _ []*Tensor) []*Tensor      { return adjoint(u, dy) }
func (u upsampleBilinearAA) VJP(dy, _ *Tensor, _ []*Tensor) []*Tensor   { return adjoint(u, dy) }
func (u upsampleBicubicAA) VJP(dy, _ *Tensor, _ []*Tensor) []*Tensor    { return adjoint(u, dy) }

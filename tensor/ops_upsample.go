package tensor

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

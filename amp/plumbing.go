package amp

import (
	"halfnote/internal/plumbing"
	"halfnote/tensor"
)

var (
	fused     = plumbing.Of[plumbing.Fused[*tensor.Tensor]]()
	capture   = plumbing.Of[plumbing.Capture]()
	casting   = plumbing.Of[plumbing.Casting[tensor.Info, *tensor.Tensor]]()
	gradients = plumbing.Of[plumbing.Gradients[*tensor.Tensor]]()
)

type operandCaster = plumbing.Caster[tensor.Info, *tensor.Tensor]

func init() {
	plumbing.Provide(plumbing.Regions{Close: closeRegions})
	plumbing.Provide(plumbing.Autocast[Policy, operandCaster]{
		ApexPolicy: func(d tensor.DType) Policy { return Policy{lower: d, on: true, apex: true, cache: true} },
		NewCache: func() (under func(p Policy, body func()), clear func()) {
			kept := newCache()
			return func(p Policy, body func()) { casting.With(&caster{replaced(p), kept}, body) }, kept.clear
		},
		NewRegion: func(p Policy) operandCaster { return newCaster(p) },
	})
	plumbing.Provide(plumbing.Scaling[*GradScaler, ScalerEvent, *tensor.Tensor]{
		Adjust:   (*GradScaler).adjust,
		Set:      func(s *GradScaler, scale float64, tracker int) { s.scale, s.tracker = float32(scale), tracker },
		Describe: (*GradScaler).describe,
		Notify:   notify,
	})
}

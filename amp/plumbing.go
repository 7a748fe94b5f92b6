package amp

import (
	"halfnote/internal/plumbing"
	"halfnote/tensor"
)

var (
	fused   = plumbing.Of[plumbing.Fused[*tensor.Tensor]]()
	capture = plumbing.Of[plumbing.Capture]()
)

func init() {
	plumbing.Provide(plumbing.Regions{Close: closeRegions})
	plumbing.Provide(plumbing.Autocast[Policy, tensor.Caster]{
		ApexPolicy: func(d tensor.DType) Policy { return Policy{lower: d, on: true, apex: true, cache: true} },
		NewCache: func() (under func(p Policy, body func()), clear func()) {
			kept := newCache()
			return func(p Policy, body func()) { tensor.WithCaster(&caster{replaced(p), kept}, body) }, kept.clear
		},
		NewRegion: func(p Policy) tensor.Caster { return newCaster(p) },
	})
	plumbing.Provide(plumbing.Scaling[*GradScaler, Event, *tensor.Tensor]{
		Adjust:   (*GradScaler).adjust,
		Set:      func(s *GradScaler, scale float64, tracker int) { s.scale, s.tracker = float32(scale), tracker },
		Describe: (*GradScaler).describe,
		Notify:   notify,
	})
}

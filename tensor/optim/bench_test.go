package optim_test

import (
	"testing"

	"halfnote/tensor"
	"halfnote/tensor/optim"
)

func BenchmarkStep(b *testing.B) {
	for name, maker := range map[string]func(p []T) *optim.Optimizer{"sgd": makers["sgd, momentum"], "adamw": makers["adamw"]} {
		b.Run(name, func(b *testing.B) {
			p := tensor.Randn(1 << 20).RequireGrad()
			p.SetGrad(tensor.Randn(1 << 20))
			opt := maker([]T{p})
			opt.Step()
			b.SetBytes(4 << 20)
			for b.Loop() {
				opt.Step()
			}
		})
	}
}

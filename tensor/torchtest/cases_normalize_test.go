package torchtest

import (
	"math"

	"halfnote/tensor/nn"
)

var _ = family("normalize", cases{
	"normalize":       func(in []T) T { return nn.Normalize(in[0]) },
	"normalize 0":     func(in []T) T { return nn.Normalize(in[0], nn.P(0)) },
	"normalize 0.5":   func(in []T) T { return nn.Normalize(in[0], nn.P(.5), nn.Dim(-1)) },
	"normalize 1":     func(in []T) T { return nn.Normalize(in[0], nn.P(1), nn.Dim(-1)) },
	"normalize 3":     func(in []T) T { return nn.Normalize(in[0], nn.P(3), nn.Dim(-1)) },
	"normalize inf":   func(in []T) T { return nn.Normalize(in[0], nn.P(math.Inf(1)), nn.Dim(-1)) },
	"normalize zeros": func(in []T) T { return nn.Normalize(in[0], nn.Dim(0)) },
	"normalize eps":   func(in []T) T { return nn.Normalize(in[0], nn.Dim(0), nn.Eps(2.5)) },
})

package tensor_test

import (
	"math/rand/v2"
	"slices"
	"testing"

	"halfnote/tensor"
)

// TestDroppedGradients drops the gradient of a leaf, whose memory is then released, and reads what may refer to the same memory.
func TestDroppedGradients(t *testing.T) {
	const n = 128 // large enough for the memory to be used again
	for name, run := range map[string]func(a, b *tensor.Tensor) (left []*tensor.Tensor){
		"gradient of a sum": func(a, b *tensor.Tensor) []*tensor.Tensor {
			a.Add(b).Sum().Backward()
			return nil
		},
		"given gradient": func(a, b *tensor.Tensor) []*tensor.Tensor {
			g := tensor.Full(2, n, n)
			a.Add(b).BackwardWith(tensor.BackwardOptions{Gradient: g})
			return []*tensor.Tensor{g}
		},
		"product": func(a, b *tensor.Tensor) []*tensor.Tensor {
			y := a.Mul(b)
			y.Sum().Backward()
			return []*tensor.Tensor{y}
		},
		"views": func(a, b *tensor.Tensor) []*tensor.Tensor {
			a.Reshape(-1).MulScalar(3).Reshape(n, n).T().Add(b.T()).Sum().Backward()
			return nil
		},
		"hook": func(a, b *tensor.Tensor) (left []*tensor.Tensor) {
			a.RegisterHook(func(g *tensor.Tensor) *tensor.Tensor { left = append(left, g); return nil })
			a.Exp().Add(b).Sum().Backward()
			return left
		},
		"replacing hook": func(a, b *tensor.Tensor) []*tensor.Tensor {
			other := tensor.Full(5, n, n)
			a.RegisterHook(func(*tensor.Tensor) *tensor.Tensor { return other })
			a.Exp().Add(b).Sum().Backward()
			return []*tensor.Tensor{other}
		},
		"retained": func(a, b *tensor.Tensor) []*tensor.Tensor {
			z := a.Reshape(-1)
			z.RetainGrad()
			y := z.Reshape(n, n)
			y.RetainGrad()
			y.Mul(b).Sum().Backward()
			return []*tensor.Tensor{z.Grad(), y.Grad()}
		},
		"accumulated": func(a, b *tensor.Tensor) []*tensor.Tensor {
			a.Mul(b).Sum().Backward()
			a.Add(b).Exp().Sum().Backward()
			return nil
		},
		"kept graph": func(a, b *tensor.Tensor) []*tensor.Tensor {
			y := a.Mul(b).Tanh().Sum()
			y.BackwardWith(tensor.BackwardOptions{RetainGraph: true})
			a.ZeroGrad()
			y.Backward()
			return nil
		},
		"derivatives": func(a, b *tensor.Tensor) []*tensor.Tensor {
			y := a.Mul(a).Mul(b).Sum()
			g := tensor.GradGraph(y, a)[0]
			g.Mul(g).Sum().Backward()
			return []*tensor.Tensor{g}
		},
		"created graph": func(a, b *tensor.Tensor) []*tensor.Tensor {
			a.Mul(a).Mul(b).Sum().BackwardWith(tensor.BackwardOptions{CreateGraph: true})
			return nil
		},
		"checkpoint": func(a, b *tensor.Tensor) []*tensor.Tensor {
			tensor.Checkpoint(func(in ...*tensor.Tensor) *tensor.Tensor { return in[0].Mul(in[1]).Tanh() }, a, b).Sum().Backward()
			return nil
		},
		"parts": func(a, b *tensor.Tensor) []*tensor.Tensor {
			tensor.Cat(0, a, b).MulScalar(2).Sum().Backward()
			return nil
		},
		"twice": func(a, b *tensor.Tensor) []*tensor.Tensor {
			a.Add(a).Add(b).Sum().Backward()
			return nil
		},
		"second operand of itself": func(a, b *tensor.Tensor) []*tensor.Tensor {
			a.Clone().Sub(b.Clone()).Sum().Backward()
			return nil
		},
	} {
		t.Run(name, func(t *testing.T) {
			values := func(drop bool) (list []float64) {
				tensor.ManualSeed(3)
				a, b := tensor.Randn(n, n).RequireGrad(), tensor.Randn(n, n).RequireGrad()
				left := run(a, b)
				if drop {
					a.ZeroGrad()
					tensor.Full(7, n, n).Exp() // may reuse the memory
				}
				left = append(left, b.Grad(), a, b)
				for _, x := range left {
					list = append(list, x.Float64s()...)
				}
				g := b.Grad()
				b.SetGrad(nil)
				return append(list, g.Float64s()...) // was handed out
			}
			got, want := values(true), values(false)
			for i := range want {
				if got[i] != want[i] {
					t.Fatalf("number %d is %v after the drop, want %v", i, got[i], want[i])
				}
			}
		})
	}
}

// TestDroppedGradientsOfRandomGraphs trains on random graphs and drops gradients at random, once as they are and once after they have been
// handed out, so that their memory is not released. Both must give the same numbers.
func TestDroppedGradientsOfRandomGraphs(t *testing.T) {
	const n = 96
	for seed := range uint64(60) {
		run := func(handOut bool) (list []float64) {
			r := rand.New(rand.NewPCG(seed, 2))
			tensor.ManualSeed(int64(seed))
			var leaves, kept []*tensor.Tensor
			for range 3 {
				leaves = append(leaves, tensor.Rand(n, n).RequireGrad())
			}
			for range 4 {
				values := slices.Clone(leaves)
				pick := func() *tensor.Tensor { return values[r.IntN(len(values))] }
				for range 3 + r.IntN(5) {
					x := pick()
					switch r.IntN(9) {
					case 0:
						x = x.Add(pick())
					case 1:
						x = x.Mul(pick())
					case 2:
						x = x.Tanh()
					case 3:
						x = x.T()
					case 4:
						x = x.Reshape(-1).Reshape(n, n)
					case 5:
						x = tensor.Cat(0, x.Narrow(0, 0, n/2), pick().Narrow(0, n/2, n/2))
					case 6:
						x = x.MM(pick()).MulScalar(1.0 / n)
					case 7:
						x = x.Clone()
						if x.RequiresGrad() {
							x.RetainGrad()
							kept = append(kept, x)
						}
					case 8:
						x = x.Add(x)
					}
					values = append(values, x)
				}
				y := pick().Add(values[len(values)-1])
				y.Mean().BackwardWith(tensor.BackwardOptions{RetainGraph: r.IntN(3) == 0})
				for _, leaf := range leaves {
					if handOut {
						leaf.Grad()
					}
					switch r.IntN(4) {
					case 0:
						leaf.ZeroGrad()
					case 1:
						leaf.SetGrad(tensor.Full(0.5, n, n))
					case 2:
						if g := leaf.Grad(); g != nil {
							kept = append(kept, g)
						}
					}
				}
			}
			for _, x := range append(kept, leaves...) {
				if !slices.Contains(leaves, x) {
					list = append(list, x.Float64s()...)
				}
				if g := x.Grad(); g != nil {
					list = append(list, g.Float64s()...)
				}
			}
			return list
		}
		if got, want := run(false), run(true); !slices.Equal(got, want) {
			t.Errorf("seed %d: the numbers depend on the release of dropped gradients", seed)
		}
	}
}

package dist

import (
	"fmt"

	"halfnote/tensor"
)

// RandomState returns, on every rank, the states of the ranks' default generators, a row of uint8 per rank. All ranks call it.
func RandomState() *tensor.Tensor {
	return member("RandomState").RandomState(tensor.DefaultGenerator())
}

// SetRandomState restores a RandomState. Each rank takes its row, so that training resumes to the bit. On another number of ranks the
// first takes row 0, and the others are seeded by that row and their number. It returns an error if state is not a RandomState.
func SetRandomState(state *tensor.Tensor) error {
	return member("SetRandomState").SetRandomState(tensor.DefaultGenerator(), state)
}

func (g *group) RandomState(r *tensor.Generator) *tensor.Tensor {
	own := r.State()
	all := tensor.ZerosAs(tensor.Uint8, g.size, own.Numel())
	g.AllGather(all, own).Wait()
	return all
}

func (g *group) SetRandomState(r *tensor.Generator, state *tensor.Tensor) error {
	if state == nil || state.Dim() != 2 || state.Size(0) == 0 {
		return fmt.Errorf("dist: SetRandomState: the state is %v; want a matrix of RandomState, a row per rank", state)
	}
	row := 0
	if state.Size(0) == g.size {
		row = g.rank
	}
	if err := tensor.Try(func() { r.SetState(state.Select(0, row).Contiguous()) }); err != nil {
		return fmt.Errorf("dist: SetRandomState: %w", err)
	}
	if state.Size(0) != g.size && g.rank > 0 {
		r.ManualSeed(r.Int63() + int64(g.rank))
	}
	return nil
}

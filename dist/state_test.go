package dist

import (
	"fmt"
	"path/filepath"
	"strings"
	"testing"

	"halfnote/amp"
	"halfnote/tensor"
	"halfnote/tensor/nn"
	"halfnote/tensor/optim"
)

// sharding is a training run that a checkpoint holds.
type sharding struct {
	g      *group
	model  nn.Module
	opt    *optim.Optimizer
	scaler *amp.GradScaler
}

func newSharding(g *group, seed int64) sharding {
	model := shardBlocks(g, mlp(seed), MixedPrecisionPolicy{})
	return sharding{g, model, optim.NewAdamW(nn.Parameters(model), 0.01), g.NewScaler(amp.InitScale(8), amp.GrowthInterval(3))}
}

// train takes steps; rank is that of the batches.
func (s sharding) train(rank, from, to int) {
	for step := from; step < to; step++ {
		x, y := batch(rank, step)
		s.scaler.Scale(nn.MSELoss(s.model.Forward(x), y)).Backward()
		s.scaler.Step(s.opt)
		s.scaler.Update()
		s.opt.ZeroGrad()
	}
}

func (s sharding) state() map[string]any {
	return map[string]any{"model": StateDict(s.model), "optimizer": OptimizerStateDict(s.model, s.opt), "scaler": s.scaler.StateDict()}
}

func (s sharding) load(path string) {
	state, err := s.g.Load(path)
	if err != nil {
		panic(err)
	}
	if err := LoadStateDict(s.model, state["model"].(map[string]*tensor.Tensor)); err != nil {
		panic(err)
	}
	if err := LoadOptimizerStateDict(s.model, s.opt, state["optimizer"].(map[string]any)); err != nil {
		panic(err)
	}
	s.scaler.LoadStateDict(state["scaler"].(map[string]float64))
}

// sameState panics unless two states have the same bits.
func sameState(what string, got, want map[string]any) {
	for _, part := range []string{"model", "optimizer", "scaler"} {
		a, b := flatState(got[part]), flatState(want[part])
		if len(a) != len(b) {
			panic(fmt.Sprintf("%s: %s has %d values, want %d", what, part, len(a), len(b)))
		}
		for key := range b {
			if a[key] != b[key] {
				panic(fmt.Sprintf("%s: %s %s is %s, want %s", what, part, key, a[key], b[key]))
			}
		}
	}
}

func flatState(state any) map[string]string {
	out := map[string]string{}
	add := func(key string, value any) {
		if t, ok := value.(*tensor.Tensor); ok {
			value = fmt.Sprint(t.Shape(), t.DType(), t.Bits())
		}
		out[key] = fmt.Sprint(value)
	}
	switch m := state.(type) {
	case map[string]any:
		for key, v := range m {
			add(key, v)
		}
	case map[string]*tensor.Tensor:
		for key, v := range m {
			add(key, v)
		}
	case map[string]float64:
		for key, v := range m {
			add(key, v)
		}
	}
	return out
}

// TestShardedCheckpoint resumes training on the same number of ranks, where it gives the bits of training without a break, and on
// other numbers of ranks, and on one rank without sharding.
func TestShardedCheckpoint(t *testing.T) {
	path := filepath.Join(t.TempDir(), "run.safetensors")
	var saved, want map[string]any
	succeed(t, 2, func(g *group) {
		s := newSharding(g, 1)
		s.train(g.rank, 0, 4)
		state := s.state()
		if err := g.Save(path, state); err != nil {
			panic(err)
		}
		s.train(g.rank, 4, 7)
		after := s.state()
		if g.rank == 0 {
			saved, want = state, after
		}
	})
	succeed(t, 2, func(g *group) {
		s := newSharding(g, 2)
		s.load(path)
		sameState("two ranks, loaded", s.state(), saved)
		s.train(g.rank, 4, 7)
		if after := s.state(); g.rank == 0 { // buffers are those of the rank
			sameState("two ranks, resumed", after, want)
		}
	})
	for _, ranks := range []int{1, 3} {
		succeed(t, ranks, func(g *group) {
			s := newSharding(g, 3)
			s.load(path)
			sameState(fmt.Sprint(ranks, " ranks, loaded"), s.state(), saved)
			s.train(0, 4, 5)
		})
	}
	net := mlp(4)
	if err := nn.LoadStateDict(net, saved["model"].(map[string]*tensor.Tensor)); err != nil {
		t.Error(err)
	}
	if err := optim.NewAdamW(nn.Parameters(net), 0.01).LoadStateDict(saved["optimizer"].(map[string]any)); err != nil {
		t.Error(err)
	}
}

// TestShardedStateErrors loads states that do not fit; the model does not change.
func TestShardedStateErrors(t *testing.T) {
	succeed(t, 2, func(g *group) {
		s := newSharding(g, 1)
		s.train(g.rank, 0, 1)
		before := s.state()
		other := StateDict(g.FullyShard(nn.NewLinear(6, 16), MixedPrecisionPolicy{}))
		wide := StateDict(s.model)
		wide["0.weight"] = tensor.Zeros(16, 7)
		state := OptimizerStateDict(s.model, s.opt)
		state["state.0.exp_avg"] = tensor.Zeros(3)
		for want, err := range map[string]error{
			"dist: LoadStateDict: 0.weight has shape [16 7], want [16 6]": LoadStateDict(s.model, wide),
			"dist: LoadStateDict: ":          LoadStateDict(s.model, other),
			"dist: LoadOptimizerStateDict: ": LoadOptimizerStateDict(s.model, s.opt, state),
		} {
			if err == nil || !strings.HasPrefix(err.Error(), want) {
				panic(fmt.Sprintf("got %v, want %s", err, want))
			}
		}
		sameState("after errors", s.state(), before)
	})
}

// TestRandomState restores the generators of two ranks on two and on three.
func TestRandomState(t *testing.T) {
	var state *tensor.Tensor
	next := make([]float64, 2)
	succeed(t, 2, func(g *group) {
		r := tensor.NewGenerator(int64(g.rank))
		r.Randn(5)
		s := g.RandomState(r)
		next[g.rank] = r.Float64()
		if g.rank == 0 {
			state = s
		}
	})
	for _, ranks := range []int{2, 3} {
		got := make([]float64, ranks)
		succeed(t, ranks, func(g *group) {
			r := tensor.NewGenerator(9)
			if err := g.SetRandomState(r, state); err != nil {
				panic(err)
			}
			got[g.rank] = r.Float64()
		})
		if got[0] != next[0] || got[1] == got[0] || ranks == 2 && got[1] != next[1] || ranks == 3 && (got[2] == got[0] || got[2] == got[1]) {
			t.Errorf("%d ranks continue with %v, want %v, or other numbers on each rank", ranks, got, next)
		}
	}
	succeed(t, 1, func(g *group) {
		r := tensor.NewGenerator(9)
		for _, bad := range []*tensor.Tensor{nil, tensor.Zeros(3), tensor.Zeros(1, 7)} {
			if err := g.SetRandomState(r, bad); err == nil || !strings.HasPrefix(err.Error(), "dist: SetRandomState: ") {
				panic(fmt.Sprintf("got %v, want an error of SetRandomState", err))
			}
		}
	})
}

package dist

import (
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"

	"halfnote/tensor"
	"halfnote/tensor/optim"
)

// ZeroRedundancyOptimizer keeps an optimizer's state of a part of the parameters on each rank: with w ranks, each holds about 1/w of
// the momenta. It steps the parameters of its part and then takes the others from their ranks. Every rank has all parameters and
// gradients: wrap the model in DistributedDataParallel. It is torch.distributed.optim.ZeroRedundancyOptimizer, and stage 1 of
// S. Rajbhandari and others, "ZeRO" (2020).
type ZeroRedundancyOptimizer struct {
	g      *group
	params []*tensor.Tensor
	owner  []int // rank of each parameter
	own    *optim.Optimizer
	part   []int // numbers of this rank's parameters
}

// NewZeroRedundancyOptimizer divides params among the ranks and calls make with those of this rank:
//
//	opt := dist.NewZeroRedundancyOptimizer(nn.Parameters(net), func(p []*tensor.Tensor) *optim.Optimizer {
//		return optim.NewAdam(p, 1e-3)
//	})
//
// The largest parameters are assigned first, each to the rank that has fewest elements. It panics if params is empty or make is nil.
func NewZeroRedundancyOptimizer(params []*tensor.Tensor, make func(own []*tensor.Tensor) *optim.Optimizer) *ZeroRedundancyOptimizer {
	return member("NewZeroRedundancyOptimizer").NewZero(params, make)
}

func (g *group) NewZero(params []*tensor.Tensor, create func(own []*tensor.Tensor) *optim.Optimizer) *ZeroRedundancyOptimizer {
	const call = "NewZeroRedundancyOptimizer"
	if len(params) == 0 || create == nil {
		g.refuse(call, "pass nn.Parameters(net) and a function that makes an optimizer", "%d parameters, function set: %v", len(params), create != nil)
	}
	g.tensors(call, params...)
	z := &ZeroRedundancyOptimizer{g: g, params: params, owner: make([]int, len(params))}
	order := make([]int, len(params))
	for i := range order {
		order[i] = i
	}
	slices.SortStableFunc(order, func(a, b int) int { return params[b].Numel() - params[a].Numel() })
	load := make([]int, g.size)
	for _, i := range order {
		least := slices.Index(load, slices.Min(load))
		z.owner[i] = least
		load[least] += params[i].Numel()
	}
	var own []*tensor.Tensor
	for i, p := range params {
		if z.owner[i] == g.rank {
			own, z.part = append(own, p), append(z.part, i)
		}
	}
	if len(own) > 0 {
		z.own = create(own)
	}
	return z
}

// Params returns all parameters, also those of other ranks.
func (z *ZeroRedundancyOptimizer) Params() []*tensor.Tensor { return slices.Clone(z.params) }

// Step updates this rank's part and takes the rest from the other ranks, all of which must step too.
func (z *ZeroRedundancyOptimizer) Step() {
	if z.own != nil {
		z.own.Step()
	}
	works := make([]*Work, len(z.params))
	for i, p := range z.params {
		works[i] = z.g.Broadcast(p, z.owner[i])
	}
	for _, w := range works {
		w.Wait()
	}
}

// ZeroGrad drops the gradients of all parameters.
func (z *ZeroRedundancyOptimizer) ZeroGrad() {
	for _, p := range z.params {
		p.ZeroGrad()
	}
}

// Optimizer returns the optimizer of this rank's part, for its learning rate and other settings; nil if the part is empty.
func (z *ZeroRedundancyOptimizer) Optimizer() *optim.Optimizer { return z.own }

// StateDict returns, on every rank, the state of all parameters, in the form of an optimizer on one rank, so that a checkpoint fits
// any number of ranks. All ranks call it. It is torch's consolidate_state_dict and state_dict.
func (z *ZeroRedundancyOptimizer) StateDict() map[string]any {
	state, shapes := map[string]any{}, strings.Builder{}
	own := map[string]any{}
	if z.own != nil {
		own = z.own.StateDict()
	}
	// Ranks describe what they have: numbers as text, tensors by dtype and shape.
	for _, key := range slices.Sorted(maps.Keys(own)) {
		name := key
		if rest, ok := strings.CutPrefix(key, "state."); ok {
			index, field, _ := strings.Cut(rest, ".")
			i, _ := strconv.Atoi(index)
			name = fmt.Sprintf("state.%d.%s", z.part[i], field)
		}
		switch v := own[key].(type) {
		case *tensor.Tensor:
			fmt.Fprintf(&shapes, "%s tensor %d %v\n", name, v.DType(), strings.Trim(fmt.Sprint(v.Shape()), "[]"))
		case bool:
			fmt.Fprintf(&shapes, "%s bool %v\n", name, v)
		case float64:
			fmt.Fprintf(&shapes, "%s number %s\n", name, strconv.FormatFloat(v, 'g', -1, 64))
		}
		state[name] = own[key]
	}
	for rank, text := range z.g.gatherText("StateDict", shapes.String()) {
		for line := range strings.Lines(text) {
			f := strings.Fields(line)
			switch f[1] {
			case "bool":
				state[f[0]] = f[2] == "true"
			case "number":
				state[f[0]], _ = strconv.ParseFloat(f[2], 64)
			case "tensor":
				d, _ := strconv.Atoi(f[2])
				shape := make([]int, len(f)-3)
				for i := range shape {
					shape[i], _ = strconv.Atoi(f[3+i])
				}
				t := tensor.ZerosAs(tensor.DType(d), shape...)
				if rank == z.g.rank {
					t = state[f[0]].(*tensor.Tensor).ToDevice(tensor.CPU).Clone()
				}
				z.g.Broadcast(t, rank).Wait()
				state[f[0]] = t
			}
		}
	}
	for key := range state {
		if strings.HasPrefix(key, "param_groups.") && strings.HasSuffix(key, ".params") {
			state[key] = float64(len(z.params))
		}
	}
	return state
}

// LoadStateDict restores the state of this rank's part from the state of all parameters. It returns an error and changes nothing if
// the state does not fit.
func (z *ZeroRedundancyOptimizer) LoadStateDict(state map[string]any) error {
	if z.own == nil {
		return nil
	}
	own := map[string]any{}
	for key, value := range state {
		rest, ok := strings.CutPrefix(key, "state.")
		if !ok {
			own[key] = value
			continue
		}
		index, field, _ := strings.Cut(rest, ".")
		i, err := strconv.Atoi(index)
		if err != nil || i < 0 || i >= len(z.params) {
			return fmt.Errorf("dist: LoadStateDict: %s is unknown; want parameters 0 to %d", key, len(z.params)-1)
		}
		if at := slices.Index(z.part, i); at >= 0 {
			own[fmt.Sprintf("state.%d.%s", at, field)] = value
		}
	}
	if n := own["param_groups.0.params"]; n != float64(len(z.params)) {
		return fmt.Errorf("dist: LoadStateDict: the state has %v parameters, want %d in one group", n, len(z.params))
	}
	own["param_groups.0.params"] = float64(len(z.part))
	return z.own.LoadStateDict(own)
}

package fp8

import (
	"fmt"
	"slices"
	"strings"

	"halfnote/display"
	"halfnote/tensor"
)

// Scale holds statistics of the last conversion of one of a layer's tensors.
type Scale struct {
	Name      string       // "fc1.input", "fc1.weight", "fc1.grad"
	Format    tensor.DType // Float8E4M3 or Float8E5M2
	Scale     float64      // factor applied before the conversion
	AMax      float64      // largest magnitude before scaling
	Count     int          // number of elements
	Saturated int          // elements beyond the format's largest number
	Flushed   int          // nonzero elements that became 0
}

// Scales returns the statistics of each tensor, in the order of first use.
func (f *Scaler) Scales() []Scale {
	var list []Scale
	for _, r := range f.order {
		list = append(list, r.last)
	}
	return list
}

// StateDict returns the state for a checkpoint: for each tensor NAME its scale, of one element,
// under NAME.scale and its largest magnitudes, the current step's first, under
// NAME.amax_history.
func (f *Scaler) StateDict() map[string]*tensor.Tensor {
	f.settle()
	state := map[string]*tensor.Tensor{}
	for _, r := range f.order {
		history := make([]float64, len(r.history))
		for i, a := range r.history {
			history[i] = float64(a)
		}
		state[r.name+".scale"] = tensor.New([]float64{float64(r.scale)}, 1)
		state[r.name+".amax_history"] = tensor.New(history, len(history))
	}
	return state
}

// settle updates the scales of gradients, as the next region would.
func (f *Scaler) settle() {
	if f.late {
		f.update(true)
		f.late = false
	}
}

// LoadStateDict restores a state returned by StateDict. If a tensor lacks its scale or its
// history, or the history's length is not the recipe's, it returns an error and changes
// nothing.
func (f *Scaler) LoadStateDict(state map[string]*tensor.Tensor) error {
	var wrong []string
	for name, t := range state {
		role, what := name[:max(0, strings.LastIndexByte(name, '.'))], name[strings.LastIndexByte(name, '.')+1:]
		want := 1
		switch {
		case what == "amax_history":
			want = f.recipe.length()
		case what != "scale":
			wrong = append(wrong, name+" is neither a scale nor an amax_history")
			continue
		}
		if t == nil || t.Numel() != want {
			wrong = append(wrong, fmt.Sprintf("%s must be of size %d", name, want))
		}
		if state[role+".scale"] == nil || state[role+".amax_history"] == nil {
			wrong = append(wrong, role+" lacks a scale or an amax_history")
		}
	}
	if len(wrong) > 0 {
		slices.Sort(wrong)
		return fmt.Errorf("fp8: load state dict: %s", strings.Join(slices.Compact(wrong), "; "))
	}
	f.roles, f.order, f.late = map[string]*role{}, nil, false
	names := make([]string, 0, len(state))
	for name := range state {
		names = append(names, name)
	}
	slices.Sort(names)
	for _, name := range names {
		role, ok := strings.CutSuffix(name, ".scale")
		if !ok {
			continue
		}
		at := strings.LastIndexByte(role, '.')
		r := f.role(role[:max(0, at)], role[at+1:])
		r.scale = float32(state[name].Float64s()[0])
		for i, a := range state[role+".amax_history"].Float64s() {
			r.history[i] = float32(a)
		}
		r.last.Scale = float64(r.scale)
	}
	return nil
}

func (f *Scaler) table() display.Bundle {
	var rows [][]any
	for _, s := range f.Scales() {
		share := func(n int) string {
			if n == 0 {
				return "0"
			}
			return fmt.Sprintf("%d (%.3g %%)", n, 100*float64(n)/float64(s.Count))
		}
		rows = append(rows, []any{s.Name, s.Format, fmt.Sprintf("%.4g", s.Scale), fmt.Sprintf("%.4g", s.AMax), share(s.Saturated), share(s.Flushed)})
	}
	return display.Table([]string{"tensor", "format", "scale", "amax", "saturated", "flushed to 0"}, rows)
}

// String returns the table of scales.
func (f *Scaler) String() string { return f.table().String() }

// HTML returns the table of scales.
func (f *Scaler) HTML() string {
	return fmt.Sprintf("<p style=\"padding:0 8px\">%T: %d tensors in 8 bits, as last converted</p>%s", f.recipe, len(f.order), f.table().Data["text/html"])
}

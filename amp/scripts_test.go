package amp_test

import (
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"math"
	"os"
	"strconv"
	"strings"
	"testing"

	"halfnote/amp"
	"halfnote/tensor"
	"halfnote/tensor/optim"
)

// scriptRow is a call in testdata/scripts.json with the resulting state of torch.amp.GradScaler.
type scriptRow struct {
	Call, Error string
	Scale       *number
	Tracker     int
	Grad, Param []number
	Steps       *int
	State       map[string]number
}

// number is a float64 that may be "inf" or "nan" in JSON.
type number float64

func (n *number) UnmarshalJSON(text []byte) error {
	x, err := strconv.ParseFloat(strings.Trim(string(text), `"`), 64)
	*n = number(x)
	return err
}

func (n number) is(x float64) bool {
	w := float64(n)
	return x == w || x != x && w != w || math.Abs(x-w) <= 1e-6*math.Abs(w)
}

// better lists the scripts for which this package deliberately differs from torch: the number of the first
// call that differs, and the results here.
var better = map[string]map[int]scriptRow{
	// torch counts a step without gradients as an Unscale, after which only update(new_scale)
	// helps. In a notebook, cells are run again.
	"no gradients, then some": {4: {Call: "step a", Grad: []number{.5, 1}, Param: []number{.5, 0}}, 5: {Call: "update", Tracker: 1}, 6: {Call: "update 8", Tracker: 1}, 7: {Call: "step a", Tracker: 1, Grad: []number{.0625, .125}, Param: []number{.4375, -.125}}, 8: {Call: "update", Scale: new(number(16))}},
	// torch sets the scale before it notices that the other keys are missing.
	"empty state": {2: {Call: "load_part", Error: "bad_state"}, 3: {Call: "scale 1"}},
	// torch scales the tensors before the number that it rejects.
	"bad outputs": {3: {Call: "update", Error: "not_initialised"}},
}

// TestScripts replays the calls of testdata/scripts.json, which testdata/scripts.py recorded with
// torch.amp.GradScaler. Errors, scales, trackers, gradients, parameters and steps must be equal
// after each call.
func TestScripts(t *testing.T) {
	text, err := os.ReadFile("testdata/scripts.json")
	if err != nil {
		t.Fatal(err)
	}
	var file struct {
		Scripts []struct {
			Name    string
			Options map[string]any
			Rows    []scriptRow
		}
	}
	if err := json.Unmarshal(text, &file); err != nil {
		t.Fatal(err)
	}
	unused := maps.Clone(better)
	for _, script := range file.Scripts {
		delete(unused, script.Name)
		t.Run(script.Name, func(t *testing.T) {
			p := newPlayer(script.Options)
			for i, want := range script.Rows {
				if ours, ok := better[script.Name][i]; ok {
					if ours.Call != want.Call {
						t.Fatalf("call %d: got %q, want %q", i, want.Call, ours.Call)
					}
					if want = ours; want.Scale == nil {
						want.Scale = new(number(8))
					}
				}
				p.check(t, i, want)
			}
		})
	}
	for name := range unused {
		t.Errorf("testdata/scripts.json lacks the script %q", name)
	}
}

// player holds the scaler and the optimizers of testdata/scripts.py.
type player struct {
	options map[string]any
	scaler  *amp.GradScaler
	params  map[string]*tensor.Tensor
	opts    map[string]*optim.Optimizer
	saved   map[string]float64
}

func newPlayer(options map[string]any) *player {
	p := &player{options: options, params: map[string]*tensor.Tensor{}, opts: map[string]*optim.Optimizer{}}
	for name, make := range map[string]func([]*tensor.Tensor) *optim.Optimizer{
		"a": func(p []*tensor.Tensor) *optim.Optimizer { return optim.NewSGD(p, 1) },
		"b": func(p []*tensor.Tensor) *optim.Optimizer { return optim.NewSGD(p, 1) },
		"f": func(p []*tensor.Tensor) *optim.Optimizer { return optim.NewSGD(p, 1, optim.Fused()) },
		"m": func(p []*tensor.Tensor) *optim.Optimizer {
			return optim.NewSGD(p, 1, optim.Momentum(0.9), optim.Fused())
		},
		"w": func(p []*tensor.Tensor) *optim.Optimizer { return optim.NewAdamW(p, 0.1, optim.Fused()) },
		"h": func(p []*tensor.Tensor) *optim.Optimizer { return optim.NewSGD(p, 1, optim.Fused()) },
		"v": func(p []*tensor.Tensor) *optim.Optimizer { return optim.NewAdamW(p, 0.1, optim.Fused()) },
	} {
		d := tensor.Float32
		if name == "h" || name == "v" {
			d = tensor.Float16
		}
		p.params[name] = tensor.OnesAs(d, 2).RequireGrad()
		p.opts[name] = make([]*tensor.Tensor{p.params[name], tensor.OnesAs(d, 1).RequireGrad()})
	}
	return p
}

func (p *player) check(t *testing.T, i int, want scriptRow) {
	t.Helper()
	code := ""
	if err := try(func() { p.call(want.Call) }); err != nil {
		var e *amp.Error
		if !errors.As(err, &e) {
			t.Fatalf("call %d, %s: got error %v", i, want.Call, err)
		}
		code = e.Code
	}
	if code != want.Error {
		t.Fatalf("call %d, %s: got error %q, want %q", i, want.Call, code, want.Error)
	}
	if p.scaler == nil {
		return
	}
	if got := p.scaler.CurrentScale(); got != float64(*want.Scale) || p.scaler.GrowthTracker() != want.Tracker {
		t.Fatalf("call %d, %s: got scale %v and tracker %d, want %v and %d", i, want.Call, got, p.scaler.GrowthTracker(), *want.Scale, want.Tracker)
	}
	if words := strings.Fields(want.Call + " -"); p.params[words[1]] != nil {
		w := p.params[words[1]]
		var grad []float64
		if w.Grad() != nil {
			grad = w.Grad().Float64s()
		}
		if !alike(grad, want.Grad) || !alike(w.Detach().Float64s(), want.Param) {
			t.Fatalf("call %d, %s: got gradient %v and parameter %v, want %v and %v", i, want.Call, grad, w, want.Grad, want.Param)
		}
		if want.Steps != nil {
			if steps, _ := p.opts[words[1]].StateDict()["state.0.step"].(float64); int(steps) != *want.Steps {
				t.Fatalf("call %d, %s: got %v steps, want %d", i, want.Call, steps, *want.Steps)
			}
		}
	}
	if want.Call == "save" {
		if len(p.saved) != len(want.State) {
			t.Fatalf("call %d: got saved state %v, want %v", i, p.saved, want.State)
		}
		for name, w := range want.State {
			if got, ok := p.saved[name]; !ok || got != float64(w) {
				t.Fatalf("call %d: got saved state %v, want %v", i, p.saved, want.State)
			}
		}
	}
}

func alike(got []float64, want []number) bool {
	if len(got) != len(want) {
		return false
	}
	for i, w := range want {
		if !w.is(got[i]) {
			return false
		}
	}
	return true
}

func (p *player) call(line string) {
	words := strings.Fields(line)
	var name string
	var args []float64
	for i, w := range words[1:] {
		if x, err := strconv.ParseFloat(w, 64); err == nil {
			args = append(args, x)
		} else if i == 0 {
			name = w
		}
	}
	s, opt := p.scaler, p.opts[name]
	switch words[0] {
	case "new":
		p.scaler = amp.NewGradScaler(scalerOptions(p.options)...)
	case "scale":
		s.Scale(tensor.Scalar(args[0]))
	case "scale_number":
		s.ScaleNested(3.0)
	case "scale_list":
		s.ScaleNested([]any{tensor.Scalar(1), []any{tensor.Scalar(2), 3.0}})
	case "grad":
		if w := p.params[name]; args == nil {
			w.SetGrad(nil)
		} else {
			w.SetGrad(tensor.NewAs(w.DType(), args))
		}
	case "half_grad":
		w := tensor.OnesAs(tensor.Float16, 2).RequireGrad()
		w.SetGrad(tensor.OnesAs(tensor.Float16, 2))
		p.params[name] = w
		opt.AddGroup([]*tensor.Tensor{w})
	case "grad_scale":
		opt.SetGradScale(args[0])
	case "unscale":
		s.Unscale(opt)
	case "step":
		s.Step(opt)
	case "closure":
		s.StepWith(opt, func() *tensor.Tensor { return tensor.Scalar(1) })
	case "update":
		if args == nil {
			s.Update()
		} else {
			s.UpdateTo(args[0])
		}
	case "update_tensor":
		s.UpdateFrom(tensor.New(args, len(args)))
	case "update_learned":
		s.UpdateFrom(tensor.Scalar(2).RequireGrad())
	case "growth_factor":
		s.SetGrowthFactor(args[0])
	case "backoff_factor":
		s.SetBackoffFactor(args[0])
	case "growth_interval":
		s.SetGrowthInterval(int(args[0]))
	case "save":
		p.saved = s.StateDict()
	case "reload":
		p.scaler = amp.NewGradScaler(amp.InitScale(7), amp.GrowthFactor(3), amp.BackoffFactor(0.25), amp.GrowthInterval(9))
		if name == "begun" {
			p.scaler.Scale(tensor.Scalar(1))
		}
		p.scaler.LoadStateDict(p.saved)
	case "load_empty":
		s.LoadStateDict(map[string]float64{})
	case "load_part":
		s.LoadStateDict(map[string]float64{"scale": 2})
	default:
		panic(fmt.Sprintf("call %q is unknown", line))
	}
}

// scalerOptions converts options from torch's names.
func scalerOptions(named map[string]any) (list []amp.ScalerOption) {
	for name, value := range named {
		x, _ := value.(float64)
		switch name {
		case "init_scale":
			list = append(list, amp.InitScale(x))
		case "growth_factor":
			list = append(list, amp.GrowthFactor(x))
		case "backoff_factor":
			list = append(list, amp.BackoffFactor(x))
		case "growth_interval":
			list = append(list, amp.GrowthInterval(int(x)))
		case "enabled":
			list = append(list, amp.ScalerEnabled(value.(bool)))
		default:
			panic("unknown option " + name)
		}
	}
	return list
}

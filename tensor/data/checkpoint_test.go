package data_test

import (
	"errors"
	"fmt"
	"math"
	"os"
	"os/exec"
	"path/filepath"
	"reflect"
	"slices"
	"strings"
	"testing"

	"halfnote/amp"
	"halfnote/tensor"
	"halfnote/tensor/data"
	"halfnote/tensor/nn"
	"halfnote/tensor/optim"
)

// TestSaveAndLoad checks that Load returns the same types and bits that Save was given.
func TestSaveAndLoad(t *testing.T) {
	x, y := tensor.Arange(0, 6).Reshape(2, 3).To(tensor.BFloat16), tensor.FromInts([]int{1 << 60, -1})
	state := map[string]any{
		"numbers": map[string]float64{"tenth": 0.1, "inf": math.Inf(1), "-inf": math.Inf(-1), "least": 5e-324, "most": math.MaxFloat64, "one": 1},
		"model":   map[string]*tensor.Tensor{"0.weight": x, "0.bias": y},
		"deep":    map[string]any{"list": []any{1, 1.0, "1", true, false, nil, []any{}, map[string]any{}}, "a.b": x, "": "no key", "\"quoted\" ключ": -1 << 62},
		"ints":    []int{3, 0, -7},
		"floats":  []float64{-0.25, 1e300},
		"texts":   []string{"", "a\nb", "<&>\u2028"},
		"tensors": []*tensor.Tensor{x.T(), y},
		"half":    tensor.Scalar(2),
	}
	path := filepath.Join(t.TempDir(), "x.safetensors")
	if err := data.Save(path, state); err != nil {
		t.Fatal(err)
	}
	got, err := data.Load(path)
	if err != nil {
		t.Fatal(err)
	}
	if a, b := described(got), described(state); !reflect.DeepEqual(a, b) {
		t.Errorf("got %v, want %v", a, b)
	}
	zero := math.Copysign(0, -1)
	if err := data.Save(path, map[string]any{"nan": math.NaN(), "zero": zero}); err != nil {
		t.Fatal(err)
	}
	if got, err := data.Load(path); err != nil || !math.IsNaN(got["nan"].(float64)) || !math.Signbit(got["zero"].(float64)) {
		t.Errorf("got %v, %v", got, err)
	}
	// Other programs find the tensors by their keys.
	if err := data.Save(path, state); err != nil {
		t.Fatal(err)
	}
	all, err := data.LoadSafetensors(path)
	if err != nil || !slices.Equal(all["model.0.weight"].Bits(), x.Bits()) || !slices.Equal(all["tensors.0"].Bits(), x.T().Bits()) || len(all) != 6 {
		t.Errorf("tensors: got %v, %v", all, err)
	}
}

// described replaces tensors by their dtype, shape and elements.
func described(v any) any {
	switch v := v.(type) {
	case *tensor.Tensor:
		return fmt.Sprint(v.DType(), v.Shape(), v.Bits())
	case []*tensor.Tensor:
		var list []any
		for _, x := range v {
			list = append(list, described(x))
		}
		return list
	case map[string]*tensor.Tensor:
		m := map[string]any{}
		for k, x := range v {
			m[k] = described(x)
		}
		return fmt.Sprintf("tensors: %v", m)
	case []any:
		list := []any{}
		for _, x := range v {
			list = append(list, described(x))
		}
		return list
	case map[string]any:
		m := map[string]any{}
		for k, x := range v {
			m[k] = described(x)
		}
		return m
	}
	return v
}

func TestSaveErrors(t *testing.T) {
	path := filepath.Join(t.TempDir(), "x.safetensors")
	if err := data.Save(path, map[string]any{"old": 1}); err != nil {
		t.Fatal(err)
	}
	x := tensor.Ones(1)
	for want, state := range map[string]map[string]any{
		`checkpoint: ` + path + `: "a.0" is a uint8; want tensors`:                {"a": []any{byte(1)}},
		`"a.b" is nil; want a tensor`:                                             {"a": map[string]*tensor.Tensor{"b": nil}},
		`two tensors have the name "a.b"; rename a key, or use keys without dots`: {"a": map[string]any{"b": x}, "a.b": x},
		`"a" is a chan int; want tensors`:                                         {"a": make(chan int)},
	} {
		if err := data.Save(path, state); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("got error %v, want %s", err, want)
		}
	}
	if got, err := data.Load(path); err != nil || got["old"] != 1 {
		t.Errorf("content of the old file: got %v, %v", got, err)
	}
	if left, _ := filepath.Glob(filepath.Join(filepath.Dir(path), "*")); len(left) != 1 {
		t.Errorf("failed saves left the files %v", left)
	}
	if err := data.Save(filepath.Join(path, "below"), map[string]any{}); err == nil {
		t.Error("a missing folder: got no error")
	}
}

func TestLoadErrors(t *testing.T) {
	path := filepath.Join(t.TempDir(), "x.safetensors")
	x := map[string]*tensor.Tensor{"x": tensor.Ones(1)}
	for want, tree := range map[string]string{
		"found the end of the text; want a value and its type":                  "",
		"byte 8: found the type \"uint8\"; want a value":                        `["uint8",1]`,
		"found 1 instead of [":                                                  `1`,
		"found 1 where there should be a bool":                                  `["bool",1]`,
		"found 1.5 instead of an integer":                                       `["int",1.5]`,
		"found x instead of a number":                                           `["float64","x"]`,
		"found a []int; want a map[string]any":                                  `["[]int",[1]]`,
		"found 0 tensors; want 1, the number in the file":                       `["map[string]any",{}]`,
		"tensor \"y\" does not exist":                                           `["map[string]any",{"a":["tensor","y"]}]`,
		"found tensor \"x\" twice":                                              `["[]tensor",["x","x"]]`,
		"found the name \"a\" twice":                                            `["map[string]float64",{"a":1,"a":2}]`,
		"found data after the value":                                            `["int",1]1`,
		"found values nested 1001 deep":                                         strings.Repeat(`["[]any",[`, 2000),
		"found 2 instead of ]":                                                  `["int",1,2]`,
		"data: checkpoint: " + path + ": metadata halfnote.checkpoint.1, byte ": `[`,
	} {
		if err := data.SaveSafetensors(path, x, map[string]string{"halfnote.checkpoint.1": tree}); err != nil {
			t.Fatal(err)
		}
		if _, err := data.Load(path); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("got error %v, want %s", err, want)
		}
	}
	if err := data.SaveSafetensors(path, x, nil); err != nil {
		t.Fatal(err)
	}
	if got, err := data.Load(path); err != nil || len(got) != len(x) {
		t.Errorf("got %v, %v, want the tensors of a file without the metadata of a checkpoint", got, err)
	}
}

// run is a training run that can be saved and resumed.
type run struct {
	net    *nn.Sequential
	opt    *optim.Optimizer
	rates  *optim.Scheduler
	scaler *amp.GradScaler
	order  *tensor.Generator
	loader *data.Loader
}

// optimizers lists the optimizers of the training runs.
var optimizers = []struct {
	name string
	make func(p []*tensor.Tensor) *optim.Optimizer
}{
	{"SGD", func(p []*tensor.Tensor) *optim.Optimizer {
		return optim.NewSGD(p, 0.05, optim.Momentum(0.9), optim.WeightDecay(0.01))
	}},
	{"Adam", func(p []*tensor.Tensor) *optim.Optimizer { return optim.NewAdam(p, 0.01) }},
	{"AdamW", func(p []*tensor.Tensor) *optim.Optimizer { return optim.NewAdamW(p, 0.01, optim.AMSGrad()) }},
	{"RMSprop", func(p []*tensor.Tensor) *optim.Optimizer { return optim.NewRMSprop(p, 0.01, optim.Momentum(0.5)) }},
}

// newRun starts a training run from a seed, always on the same data.
func newRun(seed int64, kind int) *run {
	g := tensor.NewGenerator(5)
	set := data.NewTensorDataset(g.Randn(20, 6), g.Randn(20, 2))
	tensor.ManualSeed(seed)
	r := &run{net: nn.NewSequential(nn.NewLinear(6, 12), nn.NewTanh(), nn.NewLinear(12, 2)), order: tensor.NewGenerator(seed)}
	r.opt = optimizers[kind].make(nn.Parameters(r.net))
	r.rates = optim.NewSequentialLR([]*optim.Scheduler{optim.NewLinearLR(r.opt, 0.1, 1, 7), optim.NewCosineAnnealingLR(r.opt, 5, 0.001)}, []int{7})
	r.scaler = amp.NewGradScaler(amp.InitScale(1<<17), amp.GrowthInterval(3))
	r.loader = data.NewLoader(set, 4, data.WithGenerator(r.order))
	return r
}

// epoch takes five steps with noise and returns the bits of the losses.
func (r *run) epoch() (losses []uint64) {
	for _, b := range r.loader.Batches() {
		var loss *tensor.Tensor
		amp.Autocast(amp.Float16, func() {
			noise := tensor.Randn(4, 6).MulScalar(0.1)
			loss = nn.MSELoss(r.net.Forward(b.Input.Add(noise)), b.Target)
		})
		r.scaler.Scale(loss).Backward()
		r.scaler.Step(r.opt)
		r.scaler.Update()
		r.rates.Step()
		r.opt.ZeroGrad()
		losses = append(losses, loss.Bits()...)
	}
	return losses
}

func (r *run) save(path string) error {
	return data.Save(path, map[string]any{
		"model": nn.StateDict(r.net), "optimizer": r.opt.StateDict(), "scheduler": r.rates.StateDict(), "scaler": r.scaler.StateDict(),
		"generator": tensor.DefaultGenerator().State(), "order": r.order.State(), "epoch": 1,
	})
}

func (r *run) load(path string) error {
	state, err := data.Load(path)
	if err != nil {
		return err
	}
	if state["epoch"] != 1 {
		return fmt.Errorf("got epoch %v", state["epoch"])
	}
	if err := nn.LoadStateDict(r.net, state["model"].(map[string]*tensor.Tensor)); err != nil {
		return err
	}
	r.scaler.LoadStateDict(state["scaler"].(map[string]float64))
	r.order.SetState(state["order"].(*tensor.Tensor))
	tensor.DefaultGenerator().SetState(state["generator"].(*tensor.Tensor))
	return errors.Join(r.opt.LoadStateDict(state["optimizer"].(map[string]any)), r.rates.LoadStateDict(state["scheduler"].(map[string]float64)))
}

// end describes the second epoch and the state after it.
func (r *run) end() string {
	return fmt.Sprint(r.epoch(), described(nn.StateDict(r.net)), described(r.opt.StateDict()), r.rates.StateDict(), r.scaler.StateDict(), tensor.Rand(1))
}

// TestResume checks that five steps, a checkpoint and five steps in a new process give the
// same bits as ten steps, with float16, a changing loss scale, noise and shuffling.
func TestResume(t *testing.T) {
	folder := t.TempDir()
	want := ""
	for kind, o := range optimizers {
		r := newRun(1, kind)
		r.epoch()
		if err := r.save(filepath.Join(folder, o.name)); err != nil {
			t.Fatal(err)
		}
		want += r.end() + "\n"
	}
	c := exec.Command(os.Args[0], "-test.run=^TestResumed$")
	c.Env = append(os.Environ(), "RESUME_FOLDER="+folder)
	out, err := c.CombinedOutput()
	if err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	got, err := os.ReadFile(filepath.Join(folder, "resumed"))
	if err != nil || len(want) < 1000 {
		t.Fatal(err)
	}
	a, b := strings.Split(string(got), "\n"), strings.Split(want, "\n")
	for kind, o := range optimizers {
		if a[kind] != b[kind] {
			t.Errorf("%s: resumed: got\n%.300s…\nwant, as without a break,\n%.300s…", o.name, a[kind], b[kind])
		}
	}
}

// TestResumed runs in the second process of TestResume.
func TestResumed(t *testing.T) {
	folder := os.Getenv("RESUME_FOLDER")
	if folder == "" {
		t.Skip("runs only in the process that TestResume starts")
	}
	got := ""
	for kind, o := range optimizers {
		r := newRun(99, kind)
		if err := r.load(filepath.Join(folder, o.name)); err != nil {
			t.Fatal(err)
		}
		got += r.end() + "\n"
	}
	if err := os.WriteFile(filepath.Join(folder, "resumed"), []byte(got), 0o644); err != nil {
		t.Fatal(err)
	}
}

package optim_test

import (
	"compress/gzip"
	"encoding/base64"
	"encoding/binary"
	"encoding/json"
	"maps"
	"math"
	"os"
	"slices"
	"strconv"
	"strings"
	"testing"

	"halfnote/internal/testenv"
	"halfnote/tensor"
	"halfnote/tensor/optim"
)

// constructors are the optimizers of testdata/edges.py.
var constructors = map[string]func([]T, float64, ...optim.Option) *optim.Optimizer{
	"SGD": optim.NewSGD, "Adam": optim.NewAdam, "AdamW": optim.NewAdamW, "Adamax": optim.NewAdamax, "NAdam": optim.NewNAdam, "RAdam": optim.NewRAdam,
	"RMSprop": optim.NewRMSprop, "Adagrad": optim.NewAdagrad, "Adadelta": optim.NewAdadelta, "Rprop": optim.NewRprop, "ASGD": optim.NewASGD,
	"Adafactor": optim.NewAdafactor, "Muon": optim.NewMuon,
}

// optionOf are the options by torch's names.
var optionOf = map[string]func(x []float64) optim.Option{
	"alpha":                     func(x []float64) optim.Option { return optim.Alpha(x[0]) },
	"amsgrad":                   func([]float64) optim.Option { return optim.AMSGrad() },
	"beta2_decay":               func(x []float64) optim.Option { return optim.Beta2Decay(x[0]) },
	"betas":                     func(x []float64) optim.Option { return optim.Betas(x[0], x[1]) },
	"centered":                  func([]float64) optim.Option { return optim.Centered() },
	"d":                         func(x []float64) optim.Option { return optim.ClipThreshold(x[0]) },
	"dampening":                 func(x []float64) optim.Option { return optim.Dampening(x[0]) },
	"decoupled_weight_decay":    func([]float64) optim.Option { return optim.Decoupled() },
	"eps":                       func(x []float64) optim.Option { return optim.Eps(x[0]) },
	"etas":                      func(x []float64) optim.Option { return optim.Etas(x[0], x[1]) },
	"initial_accumulator_value": func(x []float64) optim.Option { return optim.InitialSum(x[0]) },
	"lambd":                     func(x []float64) optim.Option { return optim.Lambd(x[0]) },
	"lr_decay":                  func(x []float64) optim.Option { return optim.LRDecay(x[0]) },
	"maximize":                  func([]float64) optim.Option { return optim.Maximize() },
	"momentum":                  func(x []float64) optim.Option { return optim.Momentum(x[0]) },
	"momentum_decay":            func(x []float64) optim.Option { return optim.MomentumDecay(x[0]) },
	"nesterov": func(x []float64) optim.Option {
		if len(x) > 0 && x[0] == 0 {
			return optim.PlainMomentum()
		}
		return optim.Nesterov()
	},
	"rho":          func(x []float64) optim.Option { return optim.Rho(x[0]) },
	"step_sizes":   func(x []float64) optim.Option { return optim.StepSizes(x[0], x[1]) },
	"t0":           func(x []float64) optim.Option { return optim.StartAverage(x[0]) },
	"weight_decay": func(x []float64) optim.Option { return optim.WeightDecay(x[0]) },
}

// configured returns the optimizer with a name such as "SGD lr=0.1 momentum=0.9 maximize".
func configured(name string, params []T) *optim.Optimizer {
	words := strings.Fields(name)
	var options []optim.Option
	lr := 0.0
	for _, word := range words[1:] {
		key, value, _ := strings.Cut(word, "=")
		var numbers []float64
		for s := range strings.SplitSeq(value, ",") {
			if x, err := strconv.ParseFloat(s, 64); err == nil {
				numbers = append(numbers, x)
			}
		}
		if key == "lr" {
			lr = numbers[0]
			continue
		}
		options = append(options, optionOf[key](numbers))
	}
	return constructors[words[0]](params, lr, options...)
}

// edged returns the numbers of testdata/edges.py at an edge.
func edged(edge string, k int, shape []int, d tensor.DType) T {
	f := tensor.FInfo(d)
	n := 1
	for _, size := range shape {
		n *= size
	}
	list := []float64{0, math.Copysign(0, -1), f.Tiny / 4, f.Tiny, 1, -1, f.Max / 8, -f.Max / 8}
	firsts := map[string]float64{"nan": math.NaN(), "inf": math.Inf(1), "-inf": math.Inf(-1)}
	factor := map[string]float64{"usual": 1, "1e-30": 1e-30, "tiny": f.Tiny, "1e30": 1e30, "large": f.Max / 16}
	usual := func(i int) float64 { return math.Sin(float64(k+2*i)) * float64(1+i) }
	data := make([]float64, n)
	for i := range data {
		x := usual(i)
		switch edge {
		case "zeros":
			x = 0
		case "minus":
			x = math.Copysign(0, -1)
		case "equal":
			x = 1
		case "least":
			x = math.Copysign(f.Tiny*f.Eps, x)
		case "cycle":
			x = list[i%len(list)]
		case "nan", "inf", "-inf":
			if x = firsts[edge]; i > 0 {
				x = usual(i - 1)
			}
		default:
			x *= factor[edge]
		}
		data[i] = x
	}
	return tensor.NewAs(tensor.Float64, data, n).To(d).Reshape(shape...)
}

// TestEdges compares parameters with those that testdata/edges.py records, where parameters and gradients are zeros, equal, subnormal, tiny, large,
// huge or not finite, for several shapes, and with each option with and without others.
func TestEdges(t *testing.T) {
	f, err := os.Open("testdata/edges.json.gz")
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	z, err := gzip.NewReader(f)
	if err != nil {
		t.Fatal(err)
	}
	var golden struct {
		Runs  []string
		Cases map[string]map[string]string
	}
	if err := json.NewDecoder(z).Decode(&golden); err != nil {
		t.Fatal(err)
	}
	share, turn := testenv.Share(t, 8), 0
	runs, equal, total := 0, 0, 0
	for _, name := range slices.Sorted(maps.Keys(golden.Cases)) {
		for _, dtype := range slices.Sorted(maps.Keys(golden.Cases[name])) {
			text := golden.Cases[name][dtype]
			if turn++; turn%share != 0 {
				continue
			}
			d := dtypes[dtype]
			bits, err := base64.StdEncoding.DecodeString(text)
			if err != nil {
				t.Fatal(err)
			}
			for _, run := range golden.Runs {
				got, largest := edgeRun(name, run, d)
				want := make([]float64, len(got))
				for i := range want {
					want[i] = decoded(d, bits[i*d.Size():])
				}
				bits = bits[len(got)*d.Size():]
				runs++
				for i, x := range got {
					if total++; x != x && overflows(name, run) {
						continue
					}
					if x == want[i] || x != x && want[i] != want[i] {
						equal++
					} else if !close(x, want[i], largest[i], d, strings.Fields(name)[0]) {
						t.Errorf("%s, %s, %s: element %d: got %v, want %v", name, dtype, run, i, x, want[i])
						break
					}
				}
			}
		}
	}
	t.Logf("%d runs, %d of %d numbers have torch's bits", runs, equal, total)
}

// edgeRun returns the parameter after a run, and the largest finite magnitude that each element had. It is empty where PyTorch has no result.
func edgeRun(name, run string, d tensor.DType) (got, largest []float64) {
	words, kind := strings.Split(run, " "), strings.Fields(name)[0]
	var shape []int
	for s := range strings.SplitSeq(words[0], "x") {
		if n, err := strconv.Atoi(s); err == nil {
			shape = append(shape, n)
		}
	}
	if kind == "Muon" && slices.Equal(shape, []int{6}) {
		shape = []int{2, 3}
	}
	none := kind == "Muon" && len(shape) != 2 || strings.Contains("Adafactor LBFGS Muon", kind) && slices.Contains(shape, 0)
	if none || kind == "LBFGS" && d.Size() == 2 {
		return nil, nil
	}
	p := edged(words[1], 0, shape, d).RequireGrad()
	largest = make([]float64, p.Numel())
	grow := func() []float64 {
		x := p.Detach().Float64s()
		for i, x := range x {
			largest[i] = max(largest[i], min(math.Abs(x), tensor.FInfo(d).Max))
		}
		return x
	}
	got = grow()
	step := steps(name, p)
	for k, edge := range words[2:] {
		step(edged(edge, k+1, shape, d))
		got = grow()
	}
	return got, largest
}

// steps returns a function that takes a step with a gradient.
func steps(name string, p T) func(g T) {
	if strings.HasPrefix(name, "LBFGS") { // of the function g p + p²/2
		opt := optim.NewLBFGS([]T{p}, 0.5, optim.LBFGSOptions{Iterations: 3})
		return func(g T) {
			opt.StepWith(func() T {
				opt.ZeroGrad()
				loss := g.Mul(p).Add(p.Mul(p).DivScalar(2)).Sum()
				loss.Backward()
				return loss
			})
		}
	}
	opt := configured(name, []T{p})
	return func(g T) {
		p.SetGrad(g)
		opt.Step()
	}
}

// close reports whether two results agree to a few units in the last place of the largest value that the parameter had. Below tiny/eps³ a thousand
// units are allowed: running means of subnormal gradients have few bits, and a divisor of 1e-8 makes larger numbers of them. LBFGS divides by
// differences of gradients, and Muon's products in bfloat16 flush subnormal numbers.
func close(got, want, largest float64, d tensor.DType, kind string) bool {
	f := tensor.FInfo(d)
	units, floor := 8.0, 4*f.Subnormal
	if d.Size() > 2 && math.Abs(want) < f.Tiny/(f.Eps*f.Eps*f.Eps) {
		units, floor = 1000, 1e11*f.Subnormal
	}
	switch kind {
	case "LBFGS":
		units = 1000
	case "Muon":
		floor = max(floor, f.Tiny)
	}
	return got == want || got != got && want != want || math.Abs(got-want) <= units*f.Eps*math.Max(largest, math.Abs(want))+floor
}

// overflows reports whether a run of a centred RMSprop has gradients whose squares overflow: the variance is the difference of two infinities, NaN.
// PyTorch's vector kernels round that difference once, which gives infinity, and its other kernels do not.
func overflows(name, run string) bool {
	return strings.Contains(name, "centered") && (strings.Contains(run, "1e30") || strings.Contains(run, "large") || strings.Contains(run, "cycle"))
}

// decoded returns the first number of little-endian bits.
func decoded(d tensor.DType, bits []byte) float64 {
	switch d {
	case tensor.Float64:
		return math.Float64frombits(binary.LittleEndian.Uint64(bits))
	case tensor.Float32:
		return float64(math.Float32frombits(binary.LittleEndian.Uint32(bits)))
	case tensor.BFloat16:
		return float64(math.Float32frombits(uint32(binary.LittleEndian.Uint16(bits)) << 16))
	}
	b := binary.LittleEndian.Uint16(bits)
	x := math.Ldexp(float64(1024+b%1024), int(b>>10%32)-25)
	switch {
	case b>>10%32 == 0:
		x = math.Ldexp(float64(b%1024), -24)
	case b%0x8000 == 0x7c00:
		x = math.Inf(1)
	case b%0x8000 > 0x7c00:
		x = math.NaN()
	}
	if b >= 0x8000 {
		x = -x
	}
	return x
}

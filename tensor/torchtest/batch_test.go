package torchtest

import (
	"encoding/json"
	"flag"
	"fmt"
	"hash/fnv"
	"maps"
	"math/rand/v2"
	"os"
	"os/exec"
	"reflect"
	"slices"
	"strings"
	"testing"

	"halfnote/internal/testenv"
	"halfnote/tensor"
	"halfnote/tensor/internal/asm"
	"halfnote/tensor/nn"
)

// rowwise is a computation whose result has a row for each row of its operands, which depends on no other row.
type rowwise struct {
	shape  []int // of the operands, with the rows first
	binary bool
	f      func(x, y T) T
	module func() nn.Module // in place of f
}

var floats = []tensor.DType{tensor.Float32, tensor.Float16, tensor.BFloat16, tensor.Float64}

// alongRows are methods whose results have as many rows, and which go along the rows or look at all elements by definition.
var alongRows = strings.Fields("Flip Fliplr Flipud IsIn T")

// methodCases are the computations of methods of one and two tensors, found by their types.
func methodCases() map[string]rowwise {
	out := map[string]rowwise{}
	typ := reflect.TypeFor[T]()
	for i := range typ.NumMethod() {
		m := typ.Method(i)
		if m.Type.NumOut() != 1 || m.Type.Out(0) != typ || m.Type.IsVariadic() || slices.Contains(alongRows, m.Name) {
			continue
		}
		binary := m.Type.NumIn() == 2 && m.Type.In(1) == typ
		if m.Type.NumIn() != 1 && !binary {
			continue
		}
		r := rowwise{shape: []int{37, 29}, binary: binary, f: func(x, y T) T {
			in := []reflect.Value{reflect.ValueOf(x), reflect.ValueOf(y)}
			return m.Func.Call(in[:m.Type.NumIn()])[0].Interface().(T)
		}}
		if r.fits() {
			out["method "+m.Name] = r
		}
	}
	return out
}

// fits reports whether a method takes matrices, leaves them as they are, and returns a new tensor with as many rows.
func (r rowwise) fits() (ok bool) {
	defer func() {
		if recover() != nil {
			ok = false
		}
	}()
	for _, n := range []int{1, 3, 37} {
		x := tensor.NewGenerator(1).Randn(n, 29)
		before := x.Bits()
		if y := r.f(x, tensor.NewGenerator(2).Randn(n, 29)); y.Dim() == 0 || y.Size(0) != n || !slices.Equal(before, x.Bits()) || y.ID() == x.ID() {
			return false
		}
	}
	return true
}

func layer(shape []int, make func() nn.Module) rowwise { return rowwise{shape: shape, module: make} }

// batchCases are layers and functions at sizes that use several workers and have remainders of vectors.
var batchCases = map[string]rowwise{
	"matmul":               {shape: []int{64, 300}, f: func(x, _ T) T { return x.MatMul(constant(x, 300, 200)) }},
	"matmul of pairs":      {shape: []int{35, 24, 24}, binary: true, f: func(x, y T) T { return x.MatMul(y) }},
	"matmul of vectors":    {shape: []int{65, 513}, f: func(x, _ T) T { return x.MatMul(constant(x, 513)) }},
	"softmax":              {shape: []int{65, 301}, f: func(x, _ T) T { return x.Softmax(1) }},
	"log_softmax":          {shape: []int{65, 301}, f: func(x, _ T) T { return x.LogSoftmax(1) }},
	"sum of rows":          {shape: []int{65, 1031}, f: func(x, _ T) T { return x.Sum(1) }},
	"mean of rows":         {shape: []int{65, 33, 40}, f: func(x, _ T) T { return x.Mean(1) }},
	"variance of rows":     {shape: []int{65, 301}, f: func(x, _ T) T { return x.Var(1) }},
	"logsumexp":            {shape: []int{65, 301}, f: func(x, _ T) T { return x.LogSumExp(1) }},
	"norm of rows":         {shape: []int{65, 301}, f: func(x, _ T) T { return x.Norm(1) }},
	"amax of rows":         {shape: []int{65, 301}, f: func(x, _ T) T { return x.Amax(1) }},
	"cross_entropy":        {shape: []int{65, 33}, f: func(x, _ T) T { return nn.CrossEntropy(x, classes(x, 33), nn.Reduction("none")) }},
	"mse_loss":             {shape: []int{65, 33}, binary: true, f: func(x, y T) T { return nn.MSELoss(x, y, nn.Reduction("none")) }},
	"attention":            {shape: []int{34, 4, 33, 16}, binary: true, f: func(x, y T) T { return nn.ScaledDotProductAttention(x, y, y) }},
	"causal attention":     {shape: []int{34, 2, 65, 32}, binary: true, f: func(x, y T) T { return nn.ScaledDotProductAttention(x, y, y, nn.IsCausal()) }},
	"Linear":               layer([]int{64, 96}, func() nn.Module { return nn.NewLinear(96, 130) }),
	"Linear of sequences":  layer([]int{33, 5, 64}, func() nn.Module { return nn.NewLinear(64, 48) }),
	"Conv1d":               layer([]int{33, 5, 40}, func() nn.Module { return nn.NewConv1d(5, 7, 3) }),
	"Conv2d":               layer([]int{34, 8, 20, 20}, func() nn.Module { return nn.NewConv2d(8, 12, 3, nn.Padding(1)) }),
	"Conv2d, 1x1":          layer([]int{34, 32, 9, 9}, func() nn.Module { return nn.NewConv2d(32, 40, 1) }),
	"Conv2d, 32 channels":  layer([]int{40, 32, 9, 9}, func() nn.Module { return nn.NewConv2d(32, 16, 3, nn.Padding(1)) }),
	"Conv2d, groups":       layer([]int{34, 8, 9, 9}, func() nn.Module { return nn.NewConv2d(8, 16, 3, nn.Groups(4)) }),
	"Conv3d":               layer([]int{19, 3, 6, 6, 6}, func() nn.Module { return nn.NewConv3d(3, 5, 3) }),
	"ConvTranspose2d":      layer([]int{34, 6, 9, 9}, func() nn.Module { return nn.NewConvTranspose2d(6, 5, 3, nn.Stride(2)) }),
	"LayerNorm":            layer([]int{65, 129}, func() nn.Module { return nn.NewLayerNorm([]int{129}) }),
	"RMSNorm":              layer([]int{65, 129}, func() nn.Module { return nn.NewRMSNorm([]int{129}) }),
	"GroupNorm":            layer([]int{33, 8, 7, 7}, func() nn.Module { return nn.NewGroupNorm(4, 8) }),
	"InstanceNorm2d":       layer([]int{33, 8, 7, 7}, func() nn.Module { return nn.NewInstanceNorm2d(8) }),
	"BatchNorm2d, eval":    layer([]int{33, 8, 7, 7}, func() nn.Module { m := nn.NewBatchNorm2d(8); nn.Eval(m); return m }),
	"MaxPool2d":            layer([]int{33, 8, 9, 9}, func() nn.Module { return nn.NewMaxPool2d(2) }),
	"AvgPool2d":            layer([]int{33, 8, 9, 9}, func() nn.Module { return nn.NewAvgPool2d(3) }),
	"AdaptiveAvgPool2d":    layer([]int{33, 8, 9, 9}, func() nn.Module { return nn.NewAdaptiveAvgPool2d(2, 2) }),
	"LPPool2d":             layer([]int{33, 8, 9, 9}, func() nn.Module { return nn.NewLPPool2d(2, 3) }),
	"UpsamplingBilinear2d": layer([]int{33, 3, 7, 7}, func() nn.Module { return nn.NewUpsamplingBilinear2d(nn.ScaleFactor(2)) }),
	"Unfold":               layer([]int{33, 3, 7, 7}, func() nn.Module { return nn.NewUnfold(3) }),
	"LocalResponseNorm":    layer([]int{33, 8, 7, 7}, func() nn.Module { return nn.NewLocalResponseNorm(3) }),
	"PixelShuffle":         layer([]int{33, 8, 7, 7}, func() nn.Module { return nn.NewPixelShuffle(2) }),
	"PReLU":                layer([]int{33, 8, 7, 7}, func() nn.Module { return nn.NewPReLU(8, 0.25) }),
	"GLU":                  layer([]int{65, 34}, func() nn.Module { return nn.NewGLU(1) }),
	"TransformerEncoderLayer": layer([]int{33, 17, 32}, func() nn.Module {
		return nn.NewTransformerEncoderLayer(32, 4, nn.DimFeedforward(64), nn.DropoutP(0), nn.BatchFirst())
	}),
}

// constant returns the same numbers for each call with a shape, in the dtype and on the device of x.
func constant(x T, shape ...int) T {
	return tensor.NewGenerator(9).Randn(shape...).MulScalar(0.1).To(x.DType()).ToDevice(x.Device())
}

// classes returns a class for each row, which depends on that row alone.
func classes(x T, n int) T {
	list := x.Detach().Select(1, 0).Float64s()
	out := make([]int, len(list))
	for i, v := range list {
		out[i] = int(max(v, -v)*1000) % n
	}
	return tensor.FromInts(out, len(out)).ToDevice(x.Device())
}

// results returns the bits of each row of the result, and of the derivatives by the operands, for some rows of the whole batch.
func (r rowwise) results(d tensor.DType, device tensor.Device, rows []int) [][]uint64 {
	g := tensor.NewGenerator(5)
	operands := []T{g.Randn(r.shape...), g.Randn(r.shape...)}
	if !r.binary {
		operands = operands[:1]
	}
	index := tensor.FromInts(rows, len(rows))
	for i, x := range operands {
		operands[i] = x.To(d).IndexSelect(0, index).ToDevice(device).RequireGrad()
	}
	f := r.f
	if r.module != nil {
		tensor.ManualSeed(3)
		m := r.module()
		nn.ToDType(m, d)
		nn.To(m, device)
		f = func(x, _ T) T { return m.Forward(x) }
	}
	y := f(operands[0], operands[len(operands)-1])
	list := []T{y.Detach()}
	if y.DType().IsFloat() && y.RequiresGrad() {
		shape := slices.Clone(y.Shape())
		shape[0] = r.shape[0]
		dy := tensor.NewGenerator(6).Randn(shape...).To(y.DType()).IndexSelect(0, index).ToDevice(device)
		y.BackwardWith(tensor.BackwardOptions{Gradient: dy})
		for _, x := range operands {
			if x.Grad() != nil {
				list = append(list, x.Grad())
			}
		}
	}
	out := make([][]uint64, len(rows))
	for _, x := range list {
		bits := canonical(x)
		each := len(bits) / len(rows)
		for i := range out {
			out[i] = append(out[i], bits[i*each:(i+1)*each]...)
		}
	}
	return out
}

var onlyHashes = flag.Int("hashes", 0, "TestBatch compares only the hashes of whole batches, of one computation in this number")

// TestBatch computes rows of a batch alone: first, last, in the middle, permuted, in batches of many sizes and with 1, 2, 3 and 7 workers, with HALFNOTE_REQUIRE=long also by portable code and on
// every tier of this processor. Their results and derivatives have the bits of the whole batch. It also compares the whole batch with recorded hashes, which are the same on every processor.
func TestBatch(t *testing.T) {
	if testenv.Requires("long") && os.Getenv("HALFNOTE_CPU") == "" && !*update {
		tiers := []string{asm.Portable}
		for _, tier := range asm.Tiers() {
			tiers = append(tiers, tier.Name)
		}
		for _, tier := range tiers {
			c := exec.Command(os.Args[0], "-test.run=^TestBatch$")
			c.Env = append(os.Environ(), "HALFNOTE_CPU="+tier)
			if out, err := c.CombinedOutput(); err != nil || !strings.Contains(string(out), "PASS") {
				t.Errorf("%s: %v\n%s", tier, err, out)
			}
		}
	}
	const file = "testdata/batch.bits.json"
	want, got := map[string]string{}, map[string]string{}
	if text, err := os.ReadFile(file); err == nil {
		if err := json.Unmarshal(text, &want); err != nil {
			t.Fatal(err)
		}
	}
	ran := map[string]bool{}
	stop := tensor.Observe(func(e tensor.Event) { ran[e.Op.Name] = true })
	cases := methodCases()
	maps.Copy(cases, batchCases)
	compared, random := 0, rand.New(rand.NewPCG(1, 2))
	for i, name := range slices.Sorted(maps.Keys(cases)) {
		if *onlyHashes > 0 && i%*onlyHashes > 0 {
			continue
		}
		r := cases[name]
		for _, d := range floats {
			key := fmt.Sprint(name, " ", d)
			n := r.shape[0]
			all := make([]int, n)
			for i := range all {
				all[i] = i
			}
			var whole [][]uint64
			if err := tensor.Try(func() { whole = r.results(d, tensor.CPU, all) }); err != nil {
				want[key] = "" // not in this dtype
				continue
			}
			h := fnv.New64a()
			fmt.Fprint(h, whole)
			got[key] = fmt.Sprintf("%016x", h.Sum64())
			if *onlyHashes > 0 {
				compared += n * len(whole[0])
				continue
			}
			cut := random.IntN(n-1) + 1
			parts := [][]int{{0}, {n - 1}, all[1:3], all[n-3:], all[5:12], all[:16], all[:cut], all[cut:], random.Perm(n)}
			differing := 0
			for i, rows := range parts {
				device := tensor.Device(workersBackend{workers: []int{1, 2, 3, 7}[i%4]}.Name())
				part := r.results(d, device, rows)
				for k, row := range rows {
					for j := range part[k] {
						compared++
						if part[k][j] != whole[row][j] {
							differing++
						}
					}
				}
			}
			if differing > 0 {
				t.Errorf("%s: %d elements of rows computed in smaller batches differ", key, differing)
			}
		}
	}
	stop()
	if *update {
		text, _ := json.MarshalIndent(got, "", "\t")
		if err := os.WriteFile(file, append(text, '\n'), 0o644); err != nil {
			t.Fatal(err)
		}
		return
	}
	for key, bits := range got {
		if bits != want[key] {
			t.Errorf("%s: bits are %s, want %q; if the definition has changed, run go test ./tensor/torchtest -run TestBatch -update", key, bits, want[key])
		}
	}
	t.Logf("%d cases, %d operations, %d elements compared", len(got), len(ran), compared)
}

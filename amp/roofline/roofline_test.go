package roofline

import (
	"math"
	"slices"
	"strings"
	"testing"
	"time"
)

func TestTime(t *testing.T) {
	g := GPU{Name: "test", Products: map[string]float64{"float32": 1e12, "tf32": 2e12, "float16": 8e12}, Vector: 1e12, Bandwidth: 1e11, Launch: time.Microsecond}
	for _, tt := range []struct {
		name  string
		op    OpCost
		tf32  bool
		want  time.Duration
		bound string
	}{
		{"a product in float32", OpCost{DType: "float32", FLOPs: 1e9, Bytes: 1e6, Product: true}, false, time.Millisecond, Compute},
		{"with TF32", OpCost{DType: "float32", FLOPs: 1e9, Bytes: 1e6, Product: true}, true, 500 * time.Microsecond, Compute},
		{"in float16", OpCost{DType: "float16", FLOPs: 1e9, Bytes: 1e6, Product: true, Aligned: true}, false, 125 * time.Microsecond, Compute},
		{"in float16, odd sizes", OpCost{DType: "float16", FLOPs: 1e9, Bytes: 1e6, Product: true}, false, 125 * time.Microsecond, Compute},
		{"in a dtype that the device lacks", OpCost{DType: "bfloat16", FLOPs: 1e9, Bytes: 1e6, Product: true, Aligned: true}, false, time.Millisecond, Compute},
		{"elements", OpCost{DType: "float16", FLOPs: 1e6, Bytes: 4e6}, false, 40 * time.Microsecond, Memory},
		{"few elements", OpCost{DType: "float16", FLOPs: 10, Bytes: 40}, false, time.Microsecond, Launch},
		{"many kernels of few elements", OpCost{FLOPs: 10, Bytes: 40, Times: 5}, false, 5 * time.Microsecond, Launch},
	} {
		if got, bound := g.Time(tt.op, tt.tf32); got != tt.want || bound != tt.bound {
			t.Errorf("%s: got %v bound by %s, want %v by %s", tt.name, got, bound, tt.want, tt.bound)
		}
	}
	old := g
	old.AlignedOnly = true
	for aligned, want := range map[bool]time.Duration{true: 125 * time.Microsecond, false: time.Millisecond} {
		if got, _ := old.Time(OpCost{DType: "float16", FLOPs: 1e9, Bytes: 1e6, Product: true, Aligned: aligned}, false); got != want {
			t.Errorf("before cuBLAS 11, aligned %v: got %v, want %v", aligned, got, want)
		}
	}
	p := g.Predict([]OpCost{{FLOPs: 10, Bytes: 40}, {DType: "float32", FLOPs: 1e9, Product: true}}, false)
	if p.Total != 1001*time.Microsecond || p.Kernels != 2 || p.Bound[Launch] != time.Microsecond || !strings.Contains(p.String(), "predicted") {
		t.Errorf("got %+v, printed as %v", p, p)
	}
}

func TestGPUs(t *testing.T) {
	if !slices.IsSortedFunc(GPUs(), func(a, b GPU) int { return strings.Compare(a.Name, b.Name) }) {
		t.Error("got devices that are not sorted by name")
	}
	for _, g := range GPUs() {
		if g.Source == "" || g.Bandwidth < 1e11 || g.Vector < 1e12 || g.Launch <= 0 || g.Products["float32"] == 0 {
			t.Errorf("%s: got %+v", g.Name, g)
		}
		for d, p := range g.Products {
			if p < g.Products["float32"] {
				t.Errorf("%s: got a rate for %s below that of float32", g.Name, d)
			}
		}
	}
	if GPUByName("a100").Name != "A100-40" {
		t.Errorf("A100: got the GPU %s", GPUByName("a100").Name)
	}
	for _, text := range []string{GPUs().HTML(), GPUs().String()} {
		for _, want := range []string{"datasheet", "not confirmed", "CUDA 10.1"} {
			if !strings.Contains(text, want) {
				t.Errorf("%q is not in %s", want, text)
			}
		}
	}
	defer func() {
		if e, ok := recover().(error); !ok || !strings.Contains(e.Error(), "RTX 4090") {
			t.Errorf("unknown device: got %v", e)
		}
	}()
	GPUByName("Voodoo")
}

// TestPeaks derives the manufacturers' peak numbers from the number of multiprocessors, their
// multiply-adds per clock and the boost clock, and bandwidth from twice the memory clock and the
// width of the bus. A rate with sparsity would be twice as high. These numbers are in the documents of
// the table, except for L4's and the memory clocks, which are from third-party lists; nvidia-smi and
// deviceQuery print the clocks.
func TestPeaks(t *testing.T) {
	const mega = 1e6
	for _, tt := range []struct {
		name                   string
		sms                    float64
		vector, tf32, half, f8 float64 // multiply-adds of a multiprocessor per clock
		clock, tensor          float64 // boost clocks, in MHz
		memory, bus            float64 // memory clock in MHz and width of the bus in bits
	}{
		{"A100-40", 108, 64, 512, 1024, 0, 1410, 1410, 1215, 5120},
		{"A100-80", 108, 64, 512, 1024, 0, 1410, 1410, 1593, 5120},
		{"H100", 132, 128, 1024, 2048, 4096, 1980, 1830, 2619, 5120},
		{"L4", 58, 128, 256, 512, 1024, 2040, 2040, 6251, 192},
		{"RTX 3090", 82, 128, 128, 256, 0, 1695, 1695, 9750, 384},
		{"RTX 4090", 128, 128, 128, 256, 512, 2520, 2520, 10500, 384},
		{"T4", 40, 64, 0, 512, 0, 1590, 1590, 5001, 256},
		{"V100", 80, 64, 0, 512, 0, 1530, 1530, 877.5, 4096},
	} {
		g := GPUByName(tt.name)
		check := func(what string, got, want float64) {
			if math.Abs(got-want) > 0.011*want {
				t.Errorf("%s: %s: got %.4g, want %.4g", tt.name, what, got, want)
			}
		}
		check("float32", g.Products["float32"], 2*tt.sms*tt.vector*tt.clock*mega)
		check("elsewhere", g.Vector, 2*tt.sms*tt.vector*tt.clock*mega)
		check("TF32", g.Products["tf32"], 2*tt.sms*tt.tf32*tt.tensor*mega)
		check("float16", g.Products["float16"], 2*tt.sms*tt.half*tt.tensor*mega)
		check("8 bits", g.Products["float8_e4m3fn"], 2*tt.sms*tt.f8*tt.tensor*mega)
		check("memory", g.Bandwidth, 2*tt.memory*mega*tt.bus/8)
		if b := g.Products["bfloat16"]; b != 0 && b != g.Products["float16"] || g.Products["float8_e5m2"] != g.Products["float8_e4m3fn"] {
			t.Errorf("%s: got different rates for formats of one width: %v", tt.name, g.Products)
		}
	}
}

// TestPublishedSpeedups compares predicted with published speed-ups. Predictions use peak numbers, so
// a published speed-up should be below the prediction where products dominate. No number is tuned to
// match.
func TestPublishedSpeedups(t *testing.T) {
	for _, tt := range []struct {
		name      string
		w         Workload
		gpu       string
		published float64 // published speed-up; 0 if none is possible
		low, high float64 // bounds of the prediction
	}{
		// R torch's vignette "Automatic mixed precision": 5.621 s against 2.462 s, device not named.
		{"MLP of 4096", Dense(512, 4096, 4096, 4096, 4096), "V100", 5.621 / 2.462, 2, 8},
		{"MLP of 4096", Dense(512, 4096, 4096, 4096, 4096), "A100", 5.621 / 2.462, 2, 16},
		// BERT-base on one T4: 5149 s against 2163 s, 8 sequences of 512 tokens.
		{"BERT-base", BERT(8, 512, 768, 12, 12, 3072, 30522), "T4", 5149. / 2163, 2, 8},
		// 8-16-16-1: no speed-up is possible.
		{"8-16-16-1", Dense(512, 8, 16, 16, 1), "T4", 0, 0, 1},
		{"8-16-16-1", Dense(512, 8, 16, 16, 1), "A100", 0, 0, 1},
	} {
		c := tt.w.On(GPUByName(tt.gpu))
		t.Logf("%s on %s: predicted %.2f× (float32 %v, autocast %v, bound by %s), published %.2f×", tt.name, tt.gpu, c.Speedup(), c.Full.Total, c.Mixed.Total, c.Mixed.bounds(), tt.published)
		if s := c.Speedup(); s < tt.low || s > tt.high || s < tt.published {
			t.Errorf("%s on %s: got a prediction of %.2f×, want %v to %v and at least the published %.2f×", tt.name, tt.gpu, s, tt.low, tt.high, tt.published)
		}
	}
	if small := Dense(512, 8, 16, 16, 1).On(GPUByName("T4")); small.Mixed.Bound[Launch] < small.Mixed.Total*9/10 {
		t.Errorf("8-16-16-1: got a bound by %s, want launches", small.Mixed.bounds())
	}
	// 513 rows are not a multiple of 8, which mattered to cuBLAS before version 11.
	g := GPUByName("T4")
	even, odd := Dense(512, 4096, 4096), Dense(513, 4096, 4096)
	if is, want := odd.On(g).Speedup(), even.On(g).Speedup(); math.Abs(is/want-1) > 0.01 {
		t.Errorf("got a speed-up of %.2f× for a batch of 513 and %.2f× for 512, want about equal", is, want)
	}
	g.AlignedOnly = true
	if is, most := odd.On(g).Speedup(), even.On(g).Speedup()/2; is > most {
		t.Errorf("before cuBLAS 11: got a speed-up of %.2f× for a batch of 513, want at most %.2f×", is, most)
	}
}

// TestDense checks that the arithmetic of a dense step is that of its products: forward, gradients of
// weights, and gradients of inputs except for the first layer.
func TestDense(t *testing.T) {
	flops := func(ops []OpCost) (n float64) {
		for _, op := range ops {
			if op.Product {
				n += op.FLOPs
			}
		}
		return n
	}
	w := Dense(512, 4096, 4096, 4096, 4096)
	if want := 8 * 2 * 512 * 4096. * 4096; flops(w.Full) != want || flops(w.Mixed) != want {
		t.Errorf("got %v and %v FLOPs, want %v", flops(w.Full), flops(w.Mixed), want)
	}
	// A BERT-base step is about 6 FLOPs for each parameter of its layers and token, and attention.
	b := BERT(8, 512, 768, 12, 12, 3072, 30522)
	layers, tokens := 12*(4*768*768+2*768*3072.), 8*512.
	if want := 6*layers*tokens + 12*12*tokens*512*768; math.Abs(flops(b.Full)/want-1) > 1e-9 {
		t.Errorf("got %v FLOPs, want %v", flops(b.Full), want)
	}
}

func TestReport(t *testing.T) {
	r := Dense(64, 256, 256).Predict("T4", "H100")
	r.Measured, r.Against = 2*time.Millisecond, 3*time.Millisecond
	for _, text := range []string{r.String(), r.HTML()} {
		for _, want := range []string{"T4", "H100", "(predicted)", "measured here 1.50×", "here, measured", "not a measurement"} {
			if !strings.Contains(text, want) {
				t.Errorf("%q is not in %s", want, text)
			}
		}
	}
	if fig := r.Chart(0).String(); !strings.Contains(fig, "T4 (predicted)") {
		t.Errorf("got the chart %q", fig)
	}
	if text := r.Ops(1).String(); !strings.Contains(text, "predicted on H100") || !strings.Contains(text, "linear backward, weight") {
		t.Errorf("got the operations\n%s", text)
	}
	if all := Dense(64, 256, 256).Predict(); len(all.Rows) != len(GPUs()) {
		t.Errorf("got %d devices, want %d", len(all.Rows), len(GPUs()))
	}
}

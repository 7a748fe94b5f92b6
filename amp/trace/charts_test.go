package trace_test

import (
	"strings"
	"testing"

	"halfnote/amp"
	"halfnote/amp/roofline"
	"halfnote/amp/trace"
	"halfnote/display/chart"
	"halfnote/tensor"
	"halfnote/tensor/nn"
	"halfnote/tensor/optim"
)

func TestCharts(t *testing.T) {
	// Inputs of 1e-8 vanish in the cast to float16 for the first layer, only in steps 2 and
	// 3; the output of the last layer overflows in step 3.
	net := nn.NewSequential(nn.NewLinear(8, 8), nn.NewReLU(), nn.NewLinear(8, 8))
	scaler := amp.NewGradScaler(amp.InitScale(8))
	opt := optim.NewSGD(nn.Parameters(net), 1e-3)
	rec := trace.Start(trace.Models(net), trace.CountAlways())
	for i := range 4 {
		x := tensor.Ones(4, 8)
		switch i {
		case 2:
			x = x.MulScalar(1e-8)
		case 3:
			x.Slice(1, 0, 2).Assign(tensor.Scalar(1e-8))
			x.Slice(1, 2, 8).Assign(tensor.Scalar(6e5))
		}
		var loss *tensor.Tensor
		amp.Autocast(amp.Float16, func() { loss = nn.MSELoss(net.Forward(x), tensor.Ones(4, 8)) })
		scaler.Scale(loss).Backward()
		scaler.Step(opt)
		scaler.Update()
		opt.ZeroGrad()
	}
	rec.Stop()
	for name, tt := range map[string]struct {
		fig  *chart.Figure
		want []string
	}{
		"flushed":    {rec.Flushed(), []string{"most in linear 0, 31 % in step 2"}}, // 32 of 32 + 64 + 8
		"not finite": {rec.NotFinite(), []string{"in step 3"}},
		"ranges":     {rec.Ranges(), []string{"results", "float16's largest"}},
		"traffic":    {rec.CastTraffic(), []string{"operations", "casts"}},
		"memory":     {rec.Memory(), []string{"float16", "float32"}},
		"dtypes":     {rec.DTypes(), []string{"float16"}},
		"timeline":   {rec.Timeline(), []string{"forward", "backward", "optimizer", "casts", "outside of operations"}},
		"graph":      {rec.CastGraph(), []string{"3 in float16, 1 in float32", "between them"}},
		"scale":      {rec.LossScale(), []string{"1 skipped"}},
	} {
		for _, want := range tt.want {
			if got := tt.fig.String(); !strings.Contains(got, want) {
				t.Errorf("%s: got the chart %q, want a text that contains %q", name, got, want)
			}
		}
	}
	empty := trace.Start()
	empty.Stop()
	for _, fig := range []*chart.Figure{empty.Flushed(), empty.NotFinite(), empty.Ranges(), empty.CastTraffic(), empty.Memory(), empty.DTypes(), empty.LossScale(), empty.Timeline(), empty.CastGraph(), empty.Wire()} {
		if fig.String() == "" {
			t.Error("the chart of an empty recording: got an empty text")
		}
	}
}

// TestMemory checks the bytes of results that later operations need.
func TestMemory(t *testing.T) {
	x := tensor.Ones(256)
	rec := trace.Start()
	h := x.Half() // 512 bytes, read by the next two
	h.Tanh().Float()
	h.Neg()
	rec.Stop()
	data := rec.Memory().Data()
	want := "operation,float16,float32\n0,512,0\n1,1024,0\n2,1024,1024\n3,1024,0\n"
	if data != want {
		t.Errorf("got\n%swant\n%s", data, want)
	}
}

// TestRoofline checks that the work of a recorded step equals that computed from its sizes.
func TestRoofline(t *testing.T) {
	net := nn.NewSequential(nn.NewLinear(256, 256), nn.NewReLU(), nn.NewLinear(256, 256), nn.NewReLU(), nn.NewLinear(256, 256))
	x, y := tensor.Randn(64, 256), tensor.Randn(64, 256)
	opt := optim.NewSGD(nn.Parameters(net), 1e-3)
	rec := trace.Start(trace.Models(net))
	for range 2 {
		var loss *tensor.Tensor
		amp.Autocast(amp.Float16, func() { loss = nn.MSELoss(net.Forward(x), y) })
		loss.Backward()
		opt.Step()
		opt.ZeroGrad()
	}
	rec.Stop()
	w, step := rec.Workload()
	if step[0].Step != 1 {
		t.Errorf("got step %d, want the last one, 1", step[0].Step)
	}
	dense := roofline.Dense(64, 256, 256, 256, 256)
	products := func(ops []roofline.OpCost) (flops, bytes float64) {
		for _, op := range ops {
			if op.Product {
				flops += op.FLOPs
				bytes += op.Bytes
				if !op.Aligned {
					t.Errorf("%s: got an unaligned product", op.Name)
				}
			}
		}
		return flops, bytes
	}
	for name, ops := range map[string][2][]roofline.OpCost{"autocast": {w.Mixed, dense.Mixed}, "float32": {w.Full, dense.Full}} {
		f, b := products(ops[0])
		wantF, wantB := products(ops[1])
		// The bias is an operand of linear, but Dense does not count its bytes.
		if f != wantF || b < wantB || b > wantB*1.01 {
			t.Errorf("%s: got products of %v FLOPs and %v bytes, want %v and %v", name, f, b, wantF, wantB)
		}
	}
	for _, op := range w.Full {
		if op.Product && op.DType != "float32" {
			t.Errorf("%s: got dtype %s for the step in float32", op.Name, op.DType)
		}
	}
	full := trace.Start(trace.Models(net))
	nn.MSELoss(net.Forward(x), y).Backward()
	full.Stop()
	if text := rec.RooflineBeside(full, "T4").String(); !strings.Contains(text, "×, ") || !strings.Contains(text, " a step against ") {
		t.Errorf("compared with a recording in float32: got the report %s", text)
	}
	report := rec.Roofline("T4", "A100")
	if len(report.Rows) != 2 || report.Measured <= 0 || !strings.Contains(report.String(), "predicted") || !strings.Contains(report.String(), "measured") {
		t.Errorf("got the report %s", report)
	}
}

// TestCastGraph follows tensors through a network with a connection around a layer.
func TestCastGraph(t *testing.T) {
	net := nn.NewSequential(nn.NewLinear(8, 8), nn.NewLayerNorm([]int{8}), nn.NewLinear(8, 8))
	x := tensor.Ones(4, 8)
	rec := trace.Start(trace.Models(net))
	amp.Autocast(amp.Float16, func() {
		h := net.Modules[0].Forward(x)
		nn.MSELoss(net.Modules[2].Forward(net.Modules[1].Forward(h)).Add(h), tensor.Ones(4, 8))
	})
	rec.Stop()
	f := rec.CastGraph()
	want := `module,to,operations,dtype,cast to,casts,from cache
input,,,float32,,0,0
input 2,,,float32,,0,0
0,,linear,float16,,2,0
batch_norm_stats,,batch_norm_stats,float16,,0,0
1,,layer_norm,float32,,0,0
2,,linear,float16,,2,0
"add, mse_loss",,"add, mse_loss",float32,,1,0
input,0,,float32,float16,1,0
0,batch_norm_stats,,float16,,0,0
0,1,,float16,float32,1,0
batch_norm_stats,1,,float32,,0,0
1,2,,float32,float16,1,0
2,"add, mse_loss",,float16,,0,0
0,"add, mse_loss",,float16,,0,0
input 2,"add, mse_loss",,float32,,0,0
`
	if got := f.Data(); got != want {
		t.Errorf("got\n%swant\n%s", got, want)
	}
}

// TestCastGraphOfBlocks checks that the modules of a deep network are joined.
func TestCastGraphOfBlocks(t *testing.T) {
	var blocks []nn.Module
	for range 12 {
		blocks = append(blocks, nn.NewSequential(nn.NewLinear(4, 4), nn.NewReLU(), nn.NewLinear(4, 4)))
	}
	net := nn.NewSequential(blocks...)
	rec := trace.Start(trace.Models(net))
	amp.Autocast(amp.BFloat16, func() { net.Forward(tensor.Ones(2, 4)) })
	rec.Stop()
	if got, want := rec.CastGraph().String(), "Modules: 12 in bfloat16; 1 cast between them, 48 inside"; got != want {
		t.Errorf("got the graph %q, want %q", got, want)
	}
}

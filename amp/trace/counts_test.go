package trace_test

import (
	"bytes"
	"encoding/csv"
	"encoding/json"
	"fmt"
	"strings"
	"testing"

	"halfnote/amp"
	"halfnote/amp/trace"
	"halfnote/tensor"
	"halfnote/tensor/nn"
	"halfnote/tensor/optim"
)

// TestCounts checks the counts of operations with known results.
func TestCounts(t *testing.T) {
	x := tensor.New([]float64{1, 0, 1e-9, -2e-8, 1e-5, 70000}, 1, 6)
	w := tensor.New([]float64{1, 1, 1, 1, 1, 1}, 1, 6).RequireGrad()
	rec := trace.Start(trace.CountAlways())
	var y *tensor.Tensor
	amp.Autocast(amp.Float16, func() {
		y = tensor.Linear(x, w, nil)
		y = tensor.Linear(x, w, nil)
	})
	h := x.Half()
	h.Float()
	h.ReLU()
	rec.Stop()
	ops := rec.Ops()
	if len(ops) != 5 {
		t.Fatalf("got %d operations, want 5", len(ops))
	}
	lost := trace.Rounding{Flushed: 2, Overflowed: 1}
	first, second := ops[0].Cast, ops[1].Cast
	if len(first) != 2 || first[0].Rounding != lost || !first[0].Rounded || first[1].Rounding != (trace.Rounding{}) || first[1].Cached || !second[1].Cached || second[0].Rounding != lost {
		t.Errorf("casts: got %+v and %+v", first, second)
	}
	if c := ops[0].Counts; !ops[0].Counted || c.Count != 1 || c.Infs != 1 || y.DType() != tensor.Float16 {
		t.Errorf("linear: got %+v", c)
	}
	if c := ops[2].Counts; ops[2].Rounding != lost || c.Count != 6 || c.Zeros != 3 || c.Subnormals != 1 || c.Infs != 1 || c.AbsMin != tensor.NewAs(tensor.Float16, []float64{1e-5}).Item() || c.AbsMax != 1 {
		t.Errorf("cast: got %+v, %+v", c, ops[2].Rounding)
	}
	if c := ops[3].Counts; ops[3].Rounding != (trace.Rounding{}) || c != h.Float().Counts() {
		t.Errorf("cast back: got %+v", c)
	}
	if ops[4].Rounded {
		t.Error("relu: got Rounded, want its rounding unknown")
	}
	if text := ops[0].String(); !strings.Contains(text, "2 flushed to 0, 1 overflowed, of 6") || !strings.Contains(text, "torch's CUDA list lower_precision_fp") || !strings.Contains(ops[1].HTML(), "from the cache") {
		t.Errorf("first operation: got\n%s\nsecond operation: got\n%s", text, ops[1].HTML())
	}
	all, _ := rec.By("op").Find("linear")
	if all.Times != 2 || all.Casts != 3 || all.Cached != 1 || all.Flushed != 4 || all.Rounded != 18 || all.Bad != 2 || all.CastBytes != 3*6*6 {
		t.Errorf("total of linear: got %+v", all)
	}
}

func TestWhy(t *testing.T) {
	x := tensor.Ones(2, 2)
	rec := trace.Start()
	amp.Autocast(amp.Float16.With("relu", amp.FP32), func() {
		h := x.MatMul(x)
		h.ReLU()
		h.SumAs(tensor.Float16)
		h.Add(x)
		h.Tanh()
	})
	x.Tanh()
	x.Clone().AddScalarAssign(1)
	rec.Stop()
	want := []string{
		"matmul: torch's CUDA list lower_precision_fp", "relu: moved to fp32 by With, against torch (on none of torch's CUDA lists)", "sum: dtype given in the call",
		"cast: a cast requested by the program or a promotion", "add: on none of torch's CUDA lists; operands promoted to the widest", "tanh: on none of torch's CUDA lists",
		"tanh: autocast is off", "clone: autocast is off", "add_: in place: never cast",
	}
	var got []string
	for _, op := range rec.Ops() {
		got = append(got, op.Name+": "+op.Why)
	}
	if strings.Join(got, "\n") != strings.Join(want, "\n") {
		t.Errorf("got\n%s\nwant\n%s", strings.Join(got, "\n"), strings.Join(want, "\n"))
	}
}

// train records a few steps of a small net.
func train(steps int, with ...trace.Option) *trace.Recorder {
	net := nn.NewSequential(nn.NewLinear(8, 8), nn.NewReLU(), nn.NewLinear(8, 2))
	step := trained(net, optim.NewSGD(nn.Parameters(net), 0.1), func() *tensor.Tensor { return nn.MSELoss(net.Forward(tensor.Ones(4, 8)), tensor.Ones(4, 2)) })
	rec := trace.Start(append(with, trace.Models(net))...)
	defer rec.Stop()
	for range steps {
		step()
	}
	return rec
}

// TestBy checks that the totals by each property add up to the same sums.
func TestBy(t *testing.T) {
	rec := train(3)
	ops := rec.Ops()
	flops := 0.0
	for _, op := range ops {
		flops += op.FLOPs
	}
	for _, property := range []string{"op", "module", "dtype", "phase", "source", "step"} {
		s := rec.By(property)
		times, sum := 0, 0.0
		for _, r := range s.Rows {
			times += r.Times
			sum += r.FLOPs
		}
		if times != len(ops) || sum != flops {
			t.Errorf("by %s: got %d operations with %v FLOPs, want %d with %v", property, times, sum, len(ops), flops)
		}
		if !strings.Contains(s.HTML(), "<table") || !strings.Contains(s.String(), property) {
			t.Errorf("by %s: got the text %s", property, s)
		}
	}
	steps := rec.By("step").Rows
	if len(steps) != 3 || steps[1].Times != steps[2].Times || steps[2].Name != "2" {
		t.Errorf("steps: got %+v", steps)
	}
	one := rec.Step(1)
	if len(one.Ops()) != steps[1].Times || len(one.Steps()) != 1 || one.Steps()[0].Step != 1 || one.By("step").Rows[0].Name != "1" {
		t.Errorf("step 1: got %d operations of %d, and steps of the scaler %v", len(one.Ops()), len(ops), one.Steps())
	}
	if got, _ := rec.By("module").Find("2"); got.Times == 0 {
		t.Errorf("By module: got no row of module 2: %v", rec.By("module"))
	}
	for name, f := range map[string]func(){"by": func() { rec.By("colour") }, "step": func() { rec.Step(3) }, "op": func() { rec.Op(-1) }} {
		func() {
			defer func() {
				if r := recover(); r == nil || !strings.Contains(r.(error).Error(), "want") {
					t.Errorf("%s: got %v, want a panic with an error that contains \"want\"", name, r)
				}
			}()
			f()
		}()
	}
}

func TestExport(t *testing.T) {
	rec := train(2, trace.CountAlways())
	var b bytes.Buffer
	if err := rec.WriteJSON(&b); err != nil {
		t.Fatal(err)
	}
	var list []map[string]any
	if err := json.Unmarshal(b.Bytes(), &list); err != nil {
		t.Fatal(err)
	}
	if n := len(rec.Ops()); len(list) != n || list[0]["op"] != "linear" || list[0]["computed"] != "float16" || list[0]["module"] != "0" || list[n-1]["step"] != 1.0 || list[n-1]["phase"] != "optimizer" {
		t.Errorf("got %d of %d operations, the first %v and the last %v", len(list), n, list[0], list[n-1])
	}
	b.Reset()
	if err := rec.WriteCSV(&b); err != nil {
		t.Fatal(err)
	}
	rows, err := csv.NewReader(&b).ReadAll()
	if err != nil || len(rows) != len(list)+1 || rows[1][2] != "linear" {
		t.Errorf("got %d rows and error %v", len(rows), err)
	}
}

// TestLongRecordingIsBounded checks that a long recording holds a bounded number of operations, and that
// its totals still count all of them.
func TestLongRecordingIsBounded(t *testing.T) {
	w := tensor.Ones(1).RequireGrad()
	rec := trace.Start()
	const steps = 6000
	for range steps {
		w.Mul(w).Sum().Backward()
		w.ZeroGrad()
	}
	rec.Stop()
	s := rec.By("step")
	all, _ := rec.By("op").Find("sum")
	if len(rec.Ops()) != trace.MaxOps || len(s.Rows) > 512 || s.Width != 16 || all.Times != steps {
		t.Errorf("got %d operations, %d rows of %d steps and a total of %d; want %d, 375 of 16 and %d", len(rec.Ops()), len(s.Rows), s.Width, all.Times, trace.MaxOps, steps)
	}
	byStep, byOp := 0, 0
	for _, r := range s.Rows {
		byStep += r.Times
	}
	for _, r := range rec.By("op").Rows {
		byOp += r.Times
	}
	if byStep != byOp || byOp < 3*steps {
		t.Errorf("got %d operations by step and %d by operation, want equal", byStep, byOp)
	}
}

// TestReportsStepsNotCounted checks that a recording counts elements in the first step, and reports the number
// of counted steps unless all are counted.
func TestReportsStepsNotCounted(t *testing.T) {
	net := nn.NewSequential(nn.NewLinear(256, 256), nn.NewReLU(), nn.NewLinear(256, 256))
	x := tensor.Randn(512, 256)
	rec := trace.Start(trace.Models(net))
	for range 30 {
		net.Forward(x).ReLU().Neg().Neg().Neg().Neg().Neg().Neg().Neg().Mean().Backward()
	}
	rec.Stop()
	counted := map[int]bool{}
	for _, op := range rec.Ops() {
		if op.Counted {
			counted[op.Step] = true
		}
	}
	want := fmt.Sprintf("results counted in %d of 30 steps", len(counted))
	if text := rec.String(); !counted[0] || (len(counted) < 30) != strings.Contains(text, want) {
		t.Errorf("got %q, want %q", text, want)
	}
}

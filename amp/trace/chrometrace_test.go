package trace_test

import (
	"encoding/json"
	"math"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"

	"halfnote/amp"
	"halfnote/amp/trace"
	"halfnote/tensor"
	"halfnote/tensor/nn"
	"halfnote/tensor/optim"
)

// chromeEvent is an event of a Chrome trace as a viewer reads it.
type chromeEvent struct {
	Name, Cat, Ph, S string
	TS, Dur          *float64
	PID, TID         *int
	Args             map[string]any
}

// readChromeTrace reads a trace and checks it against the trace event format: the fields that each
// phase must have, and spans of one row that follow each other or are nested.
func readChromeTrace(t *testing.T, rec *trace.Recorder) []chromeEvent {
	t.Helper()
	file := filepath.Join(t.TempDir(), "trace.json")
	if err := rec.ChromeTrace(file); err != nil {
		t.Fatal(err)
	}
	data, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	var all struct{ TraceEvents []chromeEvent }
	if err := json.Unmarshal(data, &all); err != nil {
		t.Fatal(err)
	}
	named := map[int]bool{}
	ends := map[int][]int{}
	nano := func(micros float64) int { return int(math.Round(micros * 1000)) }
	for i, e := range all.TraceEvents {
		ok := e.Name != "" && e.PID != nil && e.TID != nil && e.TS != nil
		switch e.Ph {
		case "M":
			named[*e.TID] = true
			ok = ok && (e.Name == "thread_sort_index" || e.Args["name"] != "")
		case "X":
			ok = ok && e.Dur != nil && *e.Dur >= 0 && *e.TS >= 0 && named[*e.TID] && e.Cat != ""
			open := ends[*e.TID]
			for len(open) > 0 && open[len(open)-1] <= nano(*e.TS) {
				open = open[:len(open)-1]
			}
			if end := nano(*e.TS + *e.Dur); len(open) > 0 && end > open[len(open)-1] {
				t.Errorf("event %d overlaps another of its row: %+v", i, e)
			} else {
				ends[*e.TID] = append(open, end)
			}
		case "C":
			ok = ok && len(e.Args) == 1
		case "i":
			ok = ok && slices.Contains([]string{"g", "p", "t"}, e.S)
		default:
			ok = false
		}
		if !ok {
			t.Errorf("event %d: %+v breaks the format", i, e)
		}
	}
	return all.TraceEvents
}

// TestChromeTrace checks that a trace of a training run has its operations, casts and steps.
func TestChromeTrace(t *testing.T) {
	net := nn.NewSequential(nn.NewLinear(4, 8), nn.NewReLU(), nn.NewLinear(8, 2))
	opt := optim.NewAdam(nn.Parameters(net), 0.1)
	scaler := amp.NewGradScaler(amp.InitScale(1 << 24))
	x, y := tensor.Randn(8, 4).MulScalar(100), tensor.Randn(8, 2)
	rec := trace.Start(trace.Models(net))
	for range 3 {
		opt.ZeroGrad()
		var loss *tensor.Tensor
		amp.Autocast(amp.Float16, func() { loss = nn.MSELoss(net.Forward(x), y) })
		scaler.Scale(loss).Backward()
		scaler.Step(opt)
		scaler.Update()
	}
	x.Add(x)
	rec.Stop()
	got := map[string]int{}
	dtypes := map[string]int{}
	for _, e := range readChromeTrace(t, rec) {
		got[strings.TrimSpace(e.Ph+" "+e.Cat)]++
		if e.Name == "linear" && e.Cat == "forward" {
			dtypes[e.Args["computed in"].(string)]++
		}
		if e.Ph == "C" {
			got[e.Name]++
		}
	}
	want := map[string]int{"X steps": 3, "C": 3, "loss scale": 3}
	for _, op := range rec.Ops() {
		phase := "forward"
		switch {
		case op.Backward:
			phase = "backward"
		case op.InPlace:
			phase = "optimizer"
		}
		want["X "+phase]++
		for _, c := range op.Cast {
			if !c.Cached && !c.Promotion && c.Duration > 0 {
				want["X casts"]++
			}
		}
	}
	for _, s := range rec.Steps() {
		if s.Skipped {
			want["i"]++
		}
	}
	delete(got, "M")
	for k := range want {
		if got[k] != want[k] || want[k] == 0 {
			t.Errorf("%s: got %d events, want %d", k, got[k], want[k])
		}
	}
	if len(got) != len(want) || dtypes["float16"] != 6 {
		t.Errorf("got %v and linear in %v, want %v and 6 in float16", got, dtypes, want)
	}
	ops := rec.Ops()
	for i, op := range ops[1:] {
		if op.Start < ops[i].Start {
			t.Errorf("operation %d starts at %v, before the one before it at %v", i+1, op.Start, ops[i].Start)
		}
	}

	one := readChromeTrace(t, rec.Step(1))
	if n := len(slices.DeleteFunc(one, func(e chromeEvent) bool { return e.Cat != "steps" })); n != 1 {
		t.Errorf("a trace of one step has %d steps", n)
	}
	if err := rec.ChromeTrace(filepath.Join(t.TempDir(), "none", "trace.json")); err == nil {
		t.Error("a folder that does not exist: got no error")
	}
}

// TestChromeTraceOfGoroutines checks that operations of concurrent goroutines do not share a row.
func TestChromeTraceOfGoroutines(t *testing.T) {
	rec := trace.Start()
	var all sync.WaitGroup
	for range 4 {
		all.Go(func() {
			x := tensor.Randn(64, 64)
			for range 20 {
				x = x.MatMul(x).Sigmoid()
			}
		})
	}
	all.Wait()
	rec.Stop()
	events := readChromeTrace(t, rec)
	n := 0
	for _, e := range events {
		if e.Ph == "X" && e.Name == "matmul" {
			n++
		}
	}
	if n != 80 {
		t.Errorf("got %d products, want 80", n)
	}
}

package trace_test

import (
	"fmt"
	"math"
	"regexp"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"halfnote/amp"
	"halfnote/amp/trace"
	"halfnote/display"
	"halfnote/tensor"
	"halfnote/tensor/nn"
	"halfnote/tensor/optim"
)

// trainer returns a step of a small network under autocast, with a scaler if scaled is set. Step number
// bad has an infinite input.
func trainer(scaled bool, bad int) (step func() (loss float64)) {
	tensor.ManualSeed(1)
	net := nn.NewSequential(nn.NewLinear(8, 16), nn.NewReLU(), nn.NewLinear(16, 1))
	x, y := tensor.Randn(32, 8), tensor.Randn(32, 1)
	sgd, scaler := optim.NewSGD(nn.Parameters(net), .01), amp.NewGradScaler()
	n := 0
	return func() float64 {
		in := x
		if n == bad {
			in = x.MulScalar(math.Inf(1))
		}
		n++
		var loss *tensor.Tensor
		amp.Autocast(amp.Float16, func() { loss = nn.MSELoss(net.Forward(in), y) })
		sgd.ZeroGrad()
		if !scaled {
			loss.Backward()
			sgd.Step()
			return loss.Item()
		}
		scaler.Scale(loss).Backward()
		scaler.Step(sgd)
		scaler.Update()
		return loss.Item()
	}
}

// panel returns the rows of a panel of a dashboard as "step,value,skipped" each.
func panel(rec *trace.Recorder, name string) (rows []string) {
	for line := range strings.Lines(rec.Dashboard().Data()) {
		if row, ok := strings.CutPrefix(strings.TrimSpace(line), name+","); ok {
			rows = append(rows, row)
		}
	}
	return rows
}

func TestDashboard(t *testing.T) {
	for _, tt := range []struct {
		name    string
		scaled  bool
		bad     int
		skipped int
	}{{"with a scaler", true, 3, 1}, {"without", false, 3, 0}} {
		step := trainer(tt.scaled, tt.bad)
		rec := trace.Start()
		var want []string
		for i := range 5 {
			rec.Log("step", float64(i))
			want = append(want, fmt.Sprintf("%d,%v,false", i, step()))
		}
		rec.Stop()
		if got := panel(rec, "loss"); !slices.Equal(got, want) {
			t.Errorf("%s: got losses %v, want %v", tt.name, got, want)
		}
		if got, want := len(panel(rec, "throughput")), 5; got != want {
			t.Errorf("%s: got %d rates, want %d", tt.name, got, want)
		}
		var skipped int
		for _, row := range panel(rec, "loss scale") {
			if strings.HasSuffix(row, "true") {
				skipped++
			}
		}
		if skipped != tt.skipped {
			t.Errorf("%s: got %d skipped steps, want %d", tt.name, skipped, tt.skipped)
		}
		for _, name := range []string{"memory of tensors", "flushed to zero"} {
			if len(panel(rec, name)) == 0 {
				t.Errorf("%s: the dashboard lacks %s:\n%s", tt.name, name, rec.Dashboard().Data())
			}
		}
	}
	if got, want := new(trace.Recorder).Dashboard().String(), "No step recorded yet"; got != want {
		t.Errorf("got %s, want %s", got, want)
	}
}

// TestDashboardIsBounded checks that a long run keeps its extremes in few columns.
func TestDashboardIsBounded(t *testing.T) {
	step := trainer(true, 700)
	rec := trace.Start()
	for range 1100 {
		rec.Log("loss", step())
		rec.Log("other", 1)
	}
	rec.Stop()
	for name, most := range map[string]int{"loss": 1024, "other": 1024, "throughput": 512, "loss scale": 512} {
		if n := len(panel(rec, name)); n == 0 || n > most {
			t.Errorf("%s: got %d points, want at most %d", name, n, most)
		}
	}
	if got, want := rec.Dashboard().String(), "1100 steps: "; !strings.HasPrefix(got, want) || !strings.Contains(got, "(1 skipped)") {
		t.Errorf("got %s, want %s… (1 skipped)", got, want)
	}
}

// sink is an output area that keeps what is shown.
type sink struct {
	mu   sync.Mutex
	list []display.Bundle
}

func (s *sink) Display(b display.Bundle) { s.add(b) }
func (s *sink) Update(b display.Bundle)  { s.add(b) }
func (s *sink) Clear(bool)               {}

func (s *sink) add(b display.Bundle) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.list = append(s.list, b)
}

// of returns the outputs with an ID, or of all IDs.
func (s *sink) of(id string) (list []display.Bundle) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, b := range s.list {
		if id == "" || b.ID == id {
			list = append(list, b)
		}
	}
	return list
}

const vegaLite = "application/vnd.vegalite.v5+json"

func TestLive(t *testing.T) {
	for _, end := range []string{"stop", "cell"} {
		var out sink
		screen := display.NewScreen(func() display.Sink { return &out })
		step := trainer(true, -1)
		rec := trace.Start(trace.LiveOn(screen))
		other := trace.Start(trace.LiveOn(screen))
		for start := time.Now(); time.Since(start) < 600*time.Millisecond; {
			step()
		}
		if end == "stop" {
			rec.Stop()
			other.Stop()
		}
		screen.Settle()
		ids := map[string]bool{}
		for _, b := range out.of("") {
			ids[b.ID] = true
		}
		if len(ids) != 2 {
			t.Fatalf("%s: got %d outputs, want 2", end, len(ids))
		}
		for id := range ids {
			list := out.of(id)
			last := list[len(list)-1]
			if first := list[0]; first.String() != "No step recorded yet" || len(list) < 2 || last.Data[vegaLite] == nil || last.Data["image/png"] == nil {
				t.Errorf("%s: got %d states from %q to %v, want an interactive chart at last", end, len(list), first, last)
			}
			for _, b := range list[:len(list)-1] {
				if b.Data[vegaLite] != nil || b.Data["text/html"] == nil || strings.Contains(b.String(), "\n") {
					t.Errorf("%s: got the frame %v, want a picture and a line of text", end, b)
				}
			}
			if want := regexp.MustCompile(`^\d+ steps: loss .*, loss scale 2¹., throughput .* steps/s, memory of tensors .*B`); !want.MatchString(last.String()) {
				t.Errorf("%s: got %q, want %v", end, last, want)
			}
		}
		n := len(out.of(""))
		rec.Stop()
		other.Stop()
		step() // not recorded
		if got := len(out.of("")); end == "stop" && got != n {
			t.Errorf("got %d outputs after the end", got-n)
		}
	}
}

// TestOverheadOfLive checks that Overhead shows a single dashboard.
func TestOverheadOfLive(t *testing.T) {
	var out sink
	step := trainer(true, -1)
	cost := trace.Overhead(20, func() { step() }, trace.LiveOn(display.NewScreen(func() display.Sink { return &out })))
	if list := out.of(""); len(list) < 2 || len(out.of(list[0].ID)) != len(list) || list[len(list)-1].Data[vegaLite] == nil {
		t.Errorf("got %d outputs, want one dashboard", len(list))
	}
	t.Log(cost)
}

package tensor

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"
	"testing"

	"halfnote/tensor/driver"
)

// toHalf casts as autocast does: operands of products to float16, through a cache if it has one.
type toHalf struct{ cache map[*Tensor]*Tensor }

func (c toHalf) Cast(op Info, in []*Tensor) []*Tensor {
	out := slices.Clone(in)
	for i, t := range in {
		switch {
		case strings.HasSuffix(op.Name, "_loss"):
			out[i] = t.Float()
		case !slices.Contains([]string{"linear", "matmul", "mm", "bmm"}, op.Name) || t.DType() == Float16:
		case c.cache[t] != nil:
			out[i] = c.cache[t]
		default:
			out[i] = t.Half()
			if c.cache != nil {
				c.cache[t] = out[i]
			}
		}
	}
	return out
}

func TestCaster(t *testing.T) {
	x, w := Ones(2, 3), Ones(4, 3).RequireGrad()
	var y, loss *Tensor
	casting{}.With(toHalf{}, func() {
		if _, ok := (casting{}).Active().(toHalf); !ok {
			t.Errorf("the active caster is %v", casting{}.Active())
		}
		y = Linear(x, w, nil).RetainGrad()
		loss = functional{}.MSELoss(y, Zeros(2, 4), lossOptions{})
		loss.Backward() // the caster is not called for derivatives
		casting{}.With(nil, func() {
			if d := x.MatMul(w.T()).DType(); d != Float32 {
				t.Errorf("without a caster: got a product in %v", d)
			}
		})
		done := make(chan DType)
		go func() { done <- x.MatMul(w.T()).DType() }()
		if d := <-done; d != Float32 {
			t.Errorf("a goroutine started inside inherits the caster: %v", d)
		}
	})
	if (casting{}).Active() != nil {
		t.Error("the caster is active outside its scope")
	}
	for name, c := range map[string]struct{ got, want DType }{
		"product": {y.DType(), Float16}, "loss": {loss.DType(), Float32},
		"gradient of the product": {y.Grad().DType(), Float16}, "gradient of the weight": {w.Grad().DType(), Float32},
	} {
		if c.got != c.want {
			t.Errorf("%s: %v, want %v", name, c.got, c.want)
		}
	}
}

// record runs body and returns a line for each event.
func record(body func()) []string {
	var mu sync.Mutex
	var lines []string
	stop := Observe(func(e Event) {
		mu.Lock()
		defer mu.Unlock()
		line := fmt.Sprintf("%s %v", e.Op.Name, e.Out.DType)
		if e.Module != "" {
			line = e.Module + ": " + line
		}
		if e.Backward {
			line += " of " + e.Of
		}
		for name, on := range map[string]bool{" in cast": e.InCast, " view": e.View, " in place": e.InPlace} {
			if on {
				line += name
			}
		}
		for _, c := range e.Casts {
			line += fmt.Sprintf(" %d:%s>%s", c.Operand, c.From.Short(), c.To.Short())
			if c.Cached {
				line += " cached"
			}
			if c.Promotion {
				line += " promoted"
			}
		}
		lines = append(lines, line)
	})
	defer stop()
	body()
	return lines
}

func TestEvents(t *testing.T) {
	x, w := Ones(2, 3), Ones(3, 3).RequireGrad()
	got := record(func() {
		var loss *Tensor
		casting{}.With(toHalf{map[*Tensor]*Tensor{}}, func() {
			InModule("net", func() {
				InModule("0", func() { x = Linear(x, w, nil) })
				x = x.ReLU()
				x = Linear(x, w, nil)
			})
			loss = functional{}.MSELoss(x, Zeros(2, 3), lossOptions{})
		})
		loss.Backward()
	})
	want := `net.0: cast fp16 in cast
net.0: cast fp16 in cast
net.0: linear fp16 0:fp32>fp16 1:fp32>fp16
net: relu fp16
net: linear fp16 1:fp32>fp16 cached
cast fp32 in cast
mse_loss fp32 0:fp16>fp32
sub fp32 of mse_loss
mul_scalar fp32 of mse_loss
mul fp32 of mse_loss
cast fp16 of cast
net: matmul fp16 of linear
net: permute fp16 of linear view
net: matmul fp16 of linear
net: threshold_backward fp16 of relu
net.0: permute fp16 of linear view
net.0: matmul fp16 of linear
net.0: add fp16 of linear
net.0: cast fp32 of cast`
	for i, line := range got {
		got[i] = strings.NewReplacer("float16", "fp16", "float32", "fp32").Replace(line)
	}
	if text := strings.Join(got, "\n"); text != want {
		t.Errorf("got\n%s\nwant\n%s", text, want)
	}
	if got := record(func() { Ones(2).Half().Add(Ones(2)); Ones(2).MulScalarAssign(2) }); strings.Join(got, ", ") !=
		"cast float16, cast float32, add float32 0:fp16>fp32 promoted, mul_ float32 in place" {
		t.Errorf("got %q", got)
	}
}

func TestEventNumbers(t *testing.T) {
	var e Event
	stop := Observe(func(got Event) { e = got })
	y := Ones(4, 5).MatMul(Ones(5, 6))
	stop()
	if e.FLOPs != 240 || e.Bytes != 4*(20+30+24) || e.Result != y || e.Out.ID != y.ID() || len(e.In) != 2 || e.Start.IsZero() || e.Computed != Float32 {
		t.Errorf("got %+v", e)
	}
	Ones(2).Neg()
	if e.Op.Name != "matmul" {
		t.Error("an event was observed after stop")
	}
	two := 0
	stopA, stopB := Observe(func(Event) { two++ }), Observe(func(Event) { two++ })
	Ones(2).Neg()
	stopA()
	Ones(2).Neg()
	stopB()
	stopB()
	if two != 3 {
		t.Errorf("two observers, one of them removed halfway, received %d events; want 3", two)
	}
}

func TestUnscale(t *testing.T) {
	for _, d := range dtypes {
		a, b, c := NewAs(d, []float64{2, 4}), NewAs(d, []float64{1, 0}), NewAs(d, []float64{8})
		b.Slice(0, 1, 2).Assign(New([]float64{1}).Div(Zeros(1)))
		if got := (fused{}).Unscale([]*Tensor{a, b, c}, 0.5); !slices.Equal(got, []bool{false, true, false}) {
			t.Errorf("%v: got %v, want only the second flag set", d, got)
		}
		wantValues(t, "a", a, 1, 2)
		wantValues(t, "c", c, 4)
	}
	if got := (fused{}).Unscale(nil, 1); len(got) != 0 {
		t.Errorf("without gradients: %v", got)
	}
}

func TestGoroutines(t *testing.T) {
	w := Ones(8, 8).RequireGrad()
	var wg sync.WaitGroup
	for range 8 {
		wg.Go(func() {
			x := leaf(1, 2, 3, 4, 5, 6, 7, 8)
			for range 20 {
				casting{}.With(toHalf{}, func() {
					if y := x.MatMul(w.Detach()); y.DType() != Float16 {
						t.Errorf("got a product in %v", y.DType())
					}
				})
				x.ZeroGrad()
				x.Mul(x).Sum().Backward()
			}
			wantValues(t, "x", x.Grad(), 2, 4, 6, 8, 10, 12, 14, 16)
		})
	}
	wg.Wait()
}

func BenchmarkApply(b *testing.B) {
	x := Ones(1)
	b.Run("plain", func(b *testing.B) {
		for b.Loop() {
			x.Neg()
		}
	})
	b.Run("caster", func(b *testing.B) {
		casting{}.With(toHalf{}, func() {
			for b.Loop() {
				x.Neg()
			}
		})
	})
	b.Run("observed", func(b *testing.B) {
		defer Observe(func(Event) {})()
		for b.Loop() {
			x.Neg()
		}
	})
}

// TestUnobserved checks that operations in Unobserved, including in-place ones, are neither reported nor
// recorded.
func TestUnobserved(t *testing.T) {
	w := Ones(2).RequireGrad()
	seen := 0
	stop := Observe(func(e Event) {
		seen++
		Unobserved(func() {
			y := e.Result.Detach().Double().Mul(w.Double())
			y.AddScalarAssign(1)
			if y.RequiresGrad() {
				t.Error("the result of an observer is recorded on the tape")
			}
		})
	})
	defer stop()
	w.Neg()
	if seen != 1 {
		t.Errorf("got %d events, want 1", seen)
	}
}

// TestOneLine checks that oneLine looks up the line once for an operation and its casts.
func TestOneLine(t *testing.T) {
	asked := 0
	driver.SetHost(driver.Host{Source: func() string { asked++; return fmt.Sprintf("line %d", asked) }})
	defer driver.SetHost(driver.Host{})
	var lines []string
	stop := Observe(func(e Event) { lines = append(lines, e.Source) })
	x := Ones(2)
	oneLine(func() {
		x.Neg()
		oneLine(func() { x.AddScalarAssign(1) })
		x.Neg()
	})
	casting{}.With(toHalf{}, func() { x.Dot(x) })
	casting{}.With(toHalf{}, func() { Ones(2, 2).MatMul(Ones(2, 2)) })
	stop()
	if got, want := strings.Join(lines, ", "), "line 1, line 1, line 1, line 2, line 3, line 3, line 3"; got != want {
		t.Errorf("got %s, want %s", got, want)
	}
	oneLine(func() {})
	if asked != 3 {
		t.Errorf("the line was looked up %d times, want 3", asked)
	}
}

type textModule string

func (m textModule) String() string {
	if m == "" {
		panic("no text")
	}
	return string(m)
}

// TestErrorsNameModules checks that the error of an operation names the modules around it, and that
// other panics are unchanged.
func TestErrorsNameModules(t *testing.T) {
	fails := func() { Ones(2, 3).Add(Ones(4)) }
	const why = "tensor: add: shapes (2, 3) and (4,): cannot broadcast; want sizes that are equal or 1, aligned at the end"
	tests := []struct {
		name string
		run  func()
		want string
	}{
		{"no module", fails, why},
		{"module", func() { InModule("fc1", fails) }, why + "; in module fc1"},
		{"modules", func() { InModule("encoder", func() { modulePath{}.In("0", textModule("Linear(2, 3)"), fails) }) }, why + "; in module encoder.0, Linear(2, 3)"},
		{"text of the innermost", func() { modulePath{}.In("encoder", textModule("Encoder"), func() { InModule("0", fails) }) }, why + "; in module encoder.0"},
		{"text of several lines", func() { modulePath{}.In("0", textModule("Sequential(\n)"), fails) }, why + "; in module 0, textModule"},
		{"panic in String", func() { modulePath{}.In("0", textModule(""), fails) }, why + "; in module 0, textModule"},
		{"nil pointer", func() { modulePath{}.In("0", (*textModule)(nil), fails) }, why + "; in module 0, textModule"},
	}
	for _, tt := range tests {
		var got string
		if err := Try(tt.run); err != nil {
			got = err.Error()
		}
		if got != tt.want {
			t.Errorf("%s: got %q, want %q", tt.name, got, tt.want)
		}
		stop := Observe(func(Event) {})
		if err := Try(tt.run); err == nil || err.Error() != tt.want {
			t.Errorf("%s, observed: got %v, want %q", tt.name, err, tt.want)
		}
		stop()
	}
	other := errors.New("other")
	defer func() {
		if v := recover(); v != other {
			t.Errorf("got panic %v, want %v", v, other)
		}
	}()
	InModule("fc1", func() { panic(other) })
}

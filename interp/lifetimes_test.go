package interp

import (
	"fmt"
	"math/rand/v2"
	"reflect"
	"slices"
	"strings"
	"testing"

	"halfnote/interp/internal/lower"
	"halfnote/interp/internal/symbols"
	"halfnote/tensor"
)

// TestLifetimes runs random cells twice: as they are, and without early releases. Both must print
// the same numbers. A tensor whose memory has been released too early cannot be read, and a cell
// that reads one fails.
func TestLifetimes(t *testing.T) {
	for _, engine := range tested(t) {
		t.Run(engine, func(t *testing.T) {
			if s := newSessionOn(t, engine); !slices.Contains(s.engine.Needs().Rewrites, "lifetimes") {
				t.Skip("the engine leaves all memory to the garbage collector")
			}
			s, plain := newSessionOn(t, engine), newSessionOn(t, engine)
			released := 0
			s.engine.Bind(lower.SupportPath, countReleases(&released))
			plain.engine.Bind(lower.SupportPath, noReleases)
			for _, s := range []*Session{s, plain} {
				if got := evalFor(t, s, 1, lifetimesSetup, ""); strings.Contains(got, "rror") {
					t.Fatal(got)
				}
			}
			cells := slices.Clone(keepingCells)
			for n := range 80 {
				cells = append(cells, newProgram(uint64(n)).cell())
			}
			for n, code := range cells {
				got, want := evalFor(t, s, n+2, code, ""), evalFor(t, plain, n+2, code, "")
				if got != want || !strings.Contains(want, "end") {
					t.Fatalf("cell %d:\n%s\ngot %s\nwant %s", n, code, got, want)
				}
			}
			if released < 1000 {
				t.Errorf("%d tensors were released; want more: the cells no longer use what is released", released)
			}
			t.Logf("%d tensors released", released)
		})
	}
}

// TestReleases counts the tensors that loops of each form release: one in each iteration but the last.
func TestReleases(t *testing.T) {
	for _, engine := range tested(t) {
		s := newSessionOn(t, engine)
		if !slices.Contains(s.engine.Needs().Rewrites, "lifetimes") {
			continue
		}
		released := 0
		s.engine.Bind(lower.SupportPath, countReleases(&released))
		evalFor(t, s, 1, lifetimesSetup, "")
		const body = " { y := a.MulScalar(2); fmt.Sprint(y.Sum().Item()) }"
		for n, c := range []struct {
			code string
			want int
		}{
			{"for i := 0; i < 20; i++" + body, 19},
			{"for n := 20; n > 0; { n--; y := a.MulScalar(2); fmt.Sprint(y.Sum().Item()) }", 19},
			{"for range 20" + body, 19},
			{"for range make([]int, 20)" + body, 19},
			{"for { y := a.MulScalar(2); fmt.Sprint(y.Sum().Item()); if len(kept) == 0 { kept = append(kept, nil) } else { break } }; kept = nil", 1},
			{"for range slices.Values(make([]int, 20))" + body, 19},
			{"func() " + body + "()", 0},
			{"for y := a.MulScalar(2); y != nil; y = nil { fmt.Sprint(y.Sum().Item()) }", 0},
		} {
			if released = 0; strings.Contains(evalFor(t, s, n+2, c.code, ""), "rror") || released != c.want {
				t.Errorf("%s: %s: %d tensors released, want %d", engine, c.code, released, c.want)
			}
		}
	}
}

// countReleases returns the functions that release tensors, with a count of what Begin and Free
// release.
func countReleases(n *int) map[string]reflect.Value {
	m := symbols.Lifetimes()
	begin := m["Begin"].Interface().(func(**tensor.Tensor) uint64)
	free := m["Free"].Interface().(func(uint64, *tensor.Tensor) *tensor.Tensor)
	gone := func(t *tensor.Tensor, release func()) {
		release()
		if t != nil {
			defer func() {
				if recover() != nil {
					*n++
				}
			}()
			t.At(0, 0)
		}
	}
	m["Begin"] = reflect.ValueOf(func(slot **tensor.Tensor) (since uint64) {
		gone(*slot, func() { since = begin(slot) })
		return since
	})
	m["Free"] = reflect.ValueOf(func(since uint64, t *tensor.Tensor) *tensor.Tensor {
		gone(t, func() { free(since, t) })
		return nil
	})
	return m
}

// noReleases are functions that leave all memory to the garbage collector.
var noReleases = map[string]reflect.Value{
	"Begin": reflect.ValueOf(func(**tensor.Tensor) uint64 { return 0 }),
	"Hold":  reflect.ValueOf(func(_ **tensor.Tensor, _ uint64, t *tensor.Tensor) *tensor.Tensor { return t }),
	"Free":  reflect.ValueOf(func(uint64, *tensor.Tensor) *tensor.Tensor { return nil }),
	"Share": reflect.ValueOf(func(t *tensor.Tensor) *tensor.Tensor { return t }),
}

const lifetimesSetup = `
import ("fmt"; "halfnote/tensor")
tensor.ManualSeed(1)
a := tensor.Rand(96, 96)
b := tensor.Rand(96, 96)
var kept []*tensor.Tensor
type holder struct { t *tensor.Tensor }
func same(x *tensor.Tensor) *tensor.Tensor { return x }
func plusOne(x *tensor.Tensor) *tensor.Tensor { var z *tensor.Tensor; for i := range 3 { y := x.AddScalar(float64(i)); if z != nil { fmt.Println(z.Sum().Item()) }; z = y }; return z.Tanh() }
var q = a
func keepQ() { if len(kept) < 40 { kept = append(kept, q) } }
func stored(x *tensor.Tensor) *tensor.Tensor { y := x.Add(b); if len(kept) < 40 { kept = append(kept, y) }; return y }
func looped(x *tensor.Tensor) *tensor.Tensor { var z *tensor.Tensor; for range 2 { y := x.Mul(a); z = y.Add(b) }; return z }
func received(x *tensor.Tensor) *tensor.Tensor { c := make(chan *tensor.Tensor, 1); go func() { for range 2 { y := x.Tanh(); if len(c) == 0 { c <- y } } }(); return <-c }
`

// keepingCells keep tensors in ways that random cells do not have.
var keepingCells = []string{
	`import "halfnote/amp"
kept = nil
c := a.Clone().RequireGrad()
amp.Autocast(amp.BFloat16, func() { for range 3 { y := tensor.ChainMatMul(c); z := c.MM(a).Sum(); fmt.Println(y.Sum().Item(), z.Item()); _ = c.MM(b) } })
fmt.Println("end")`,
	`kept = nil
for i := range 3 { y := a.AddScalar(float64(i)).RequireGrad(); z := y.Mul(b); z.RetainGrad(); z.RegisterHook(func(g *tensor.Tensor) *tensor.Tensor { kept = append(kept, g); return nil }); z.Mul(z).Sum().Backward(); kept = append(kept, y.Grad(), z.Grad()) }
for _, k := range kept { fmt.Println(k.Sum().Item()) }
fmt.Println("end")`,
	`c := a.Clone().RequireGrad()
for i := range 3 { g := a.AddScalar(float64(i)); y := c.MulScalar(1); y.BackwardWith(tensor.BackwardOptions{Gradient: g}); c.SetGrad(g); fmt.Println(c.Grad().Sum().Item()) }
fmt.Println(c.Grad().Sum().Item(), "end")`,
	`kept = nil
for i := range 3 { y := a.AddScalar(float64(i)); f := y.Sum; m := map[int]*tensor.Tensor{0: y.Add(b)}; defer func() { fmt.Println(f().Item(), m[0].Sum().Item()) }() }
fmt.Println("end")`,
	`func jumps() (y *tensor.Tensor) {
	defer func() { if recover() != nil { fmt.Println("recovered", y.Sum().Item()) } }()
	i := 0
again:
	z := a.AddScalar(float64(i))
	for { y = z.Mul(b); w := y.T(); if i++; i < 3 { fmt.Println(w.Sum().Item()); goto again }; if i > 4 { y.MM(tensor.Ones(1, 1)) } }
}
fmt.Println(jumps().Sum().Item(), "end")`,
	`func choose[T any](first bool, x, y T) T { if first { return x }; return y }
func generic[T float64 | int](n T) (last *tensor.Tensor) { for i := T(0); i < n; i++ { y := a.AddScalar(float64(i)); z := choose(i > 1, y, last); if z != nil { fmt.Println(z.Sum().Item()) }; last = choose(true, y, y) }; return }
fmt.Println(generic(3).Sum().Item(), generic(4.0).Sum().Item(), "end")`,
	`c := make(chan *tensor.Tensor)
go func() { defer close(c); for i := range 4 { y := a.AddScalar(float64(i)).Tanh(); z := y.Reshape(-1); c <- z } }()
kept = nil
for y := range c { z := y.MulScalar(2); kept = append(kept, y, z.Reshape(96, 96)) }
for _, k := range kept { fmt.Println(k.Sum().Item()) }
fmt.Println("end")`,
	`kept = nil
sums := make(chan float64, 8)
for i := range 8 { y := a.AddScalar(float64(i)); go func() { for range 20 { if y.Sum().Item() != y.Sum().Item() { panic("changed") } }; sums <- y.Sum().Item() }() }
total := 0.0
for range 8 { total += <-sums }
fmt.Println(int(total), "end")`,
	`kept = nil
for range 3 { y := stored(a).Contiguous(); z := stored(a).Float(); fmt.Println(y.Sum().Item(), z.Sum().Item()) }
for _, k := range kept { fmt.Println(k.Sum().Item()) }
fmt.Println("end")`,
	`kept = nil
c := a.Clone()
for range 3 { y := c.Add(b); d := y; y.AddAssign(a); c.SetData(y.MulScalar(0.5)); v := y.Narrow(0, 0, 8); v.MulAssign(v); fmt.Println(d.Sum().Item(), c.Sum().Item()) }
fmt.Println(c.Sum().Item(), "end")`,
	`import "halfnote/tensor/nn"
w := a.Clone().RequireGrad()
for i := range 4 {
	h := b.AddScalar(float64(i)).MM(w).ReLU()
	scores := nn.ScaledDotProductAttention(h, h, b.MulScalar(0.5), nn.Scale(0.1))
	mask := b.Gt(a).Float()
	loss := nn.MSELoss(scores.MM(w), mask).Add(nn.BinaryCrossEntropyWithLogits(h, mask, nn.Weight(mask.Add(a)), nn.Reduction("sum")))
	loss.Backward()
	q := nn.AvgPool2d(h.Detach().Reshape(1, 96, 96), 2)
	fmt.Println(loss.Item(), q.Sum().Item(), w.Grad().Sum().Item())
	w.SetGrad(nil)
}
fmt.Println("end")`,
	`x := a.Clone().RequireGrad()
for range 3 { y := x.Mul(b); z := tensor.Checkpoint(func(in ...*tensor.Tensor) *tensor.Tensor { return in[0].Mul(y).Tanh() }, x); z.Sum().Backward(); y = y.Add(b) }
fmt.Println(x.Grad().Sum().Item(), "end")`,
}

// program writes random cells. All tensors have the shape (96, 96) and elements near 0 to 1.
type program struct {
	*rand.Rand
	strings.Builder
	vars  []string // in scope
	depth int
	names int
	// Statements and operations that the cell does not have, so that most variables of some cells escape nowhere.
	without uint32
}

func newProgram(seed uint64) *program {
	r := rand.New(rand.NewPCG(seed, 1))
	return &program{Rand: r, vars: []string{"a", "b"}, without: r.Uint32()}
}

// choose returns a random number below n that stands for a choice that the cell has, or 0. Choices are numbered from first.
func (g *program) choose(n, first int) int {
	if i := g.IntN(n); g.without>>(first+i)&1 == 0 {
		return i
	}
	return 0
}

func (g *program) cell() string {
	fmt.Fprintln(g, "kept = nil\nq := a.Mul(b)")
	g.vars = append(g.vars, "q")
	if g.IntN(2) == 0 {
		fmt.Fprintln(g, "if len(kept) < 40 { kept = append(kept, q) }; keepQ()")
	}
	for range 3 {
		g.loop()
	}
	fmt.Fprintln(g, `for _, x := range kept { fmt.Println(x.Sum().Item()) }`)
	fmt.Fprintln(g, `fmt.Println("end")`)
	return g.String()
}

func (g *program) pick(list ...string) string { return list[g.IntN(len(list))] }

func (g *program) loop() {
	if g.depth > 2 {
		return
	}
	g.depth++
	vars := g.vars
	g.names++
	if g.IntN(2) == 0 {
		last := fmt.Sprintf("v%d", g.names)
		fmt.Fprintf(g, "%s := %s\n_ = %[1]s\n", last, g.expr(2))
		g.vars = append(g.vars[:len(g.vars):len(g.vars)], last)
		defer fmt.Fprintf(g, "fmt.Println(%s.Sum().Item())\n", last)
		g.names++
	}
	forms := [][2]string{{"for i%d := range 3 {\n_ = i%[1]d\n", "}\n"}, {"for i%d := 0; i%[1]d < 3; i%[1]d++ {\n", "}\n"}, {"func() {\ni%d := 0\nfor i%[1]d < 3 {\ni%[1]d++\n", "}\n}()\n"}}
	form := forms[g.IntN(len(forms))]
	fmt.Fprintf(g, form[0], g.names)
	for range 4 + g.IntN(5) {
		g.statement()
	}
	g.WriteString(form[1])
	g.vars = vars
	g.depth--
}

func (g *program) variable() string { return g.vars[g.IntN(len(g.vars))] }

func (g *program) statement() {
	switch g.choose(14, 0) {
	case 0, 1, 2, 3:
		e := g.expr(3)
		g.names++
		name := fmt.Sprintf("v%d", g.names)
		fmt.Fprintf(g, "%s := %s\n_ = %[1]s\n", name, e)
		g.vars = append(g.vars[:len(g.vars):len(g.vars)], name)
	case 4, 5:
		if v := g.variable(); len(v) > 1 {
			fmt.Fprintf(g, "%s = %s\n", v, g.expr(3))
		}
	case 6:
		fmt.Fprintf(g, "_ = %s\n%s\n", g.expr(3), g.pick("", "keepQ()"))
	case 7:
		fmt.Fprintf(g, "fmt.Println(%s.Sum().Item())\n", g.expr(3))
	case 8:
		fmt.Fprintf(g, "if len(kept) < 40 { kept = append(kept, %s) }\n", g.expr(2))
	case 9:
		fmt.Fprintf(g, "defer func() { fmt.Println(%s.Sum().Item()) }()\n", g.variable())
	case 10:
		fmt.Fprintf(g, "func() { h := holder{%s}; fmt.Println(h.t.Sum().Item()) }()\n", g.expr(2))
	case 11:
		fmt.Fprintf(g, "func() { w := %s.Detach().RequireGrad(); l := w.Mul(%s).Tanh().Sum(); l.Backward(); if len(kept) < 40 { kept = append(kept, w.Grad()) } }()\n", g.expr(1), g.expr(2))
	case 12:
		if v := g.variable(); len(v) > 1 {
			fmt.Fprintf(g, "if %s.Sum().Item() > 0.5 { continue }\n", v)
		}
	case 13:
		g.loop()
	}
}

func (g *program) expr(depth int) string {
	if depth == 0 || g.IntN(5) == 0 {
		return g.variable()
	}
	x := g.expr(depth - 1)
	switch g.choose(16, 14) {
	case 0, 1:
		return fmt.Sprintf("%s.Mul(%s)", x, g.expr(depth-1))
	case 2, 3:
		return fmt.Sprintf("%s.Add(%s).Tanh()", x, g.expr(depth-1))
	case 4, 5:
		return x + g.pick(".ReLU()", ".Sigmoid()", ".MM(a).Tanh()")
	case 6:
		return x + g.pick(".T()", ".Detach()", ".Reshape(96, 96)", ".Flatten(0).Reshape(96, 96)")
	case 7, 8:
		return x + g.pick(".Contiguous()", ".To(tensor.Float32)", ".Float()", ".Clone()")
	case 9:
		return fmt.Sprintf("tensor.Cat(0, %s, %s).Narrow(0, 48, 96)", x, g.expr(depth-1))
	case 10:
		return g.pick("plusOne", "same", "stored", "looped", "received") + "(" + x + ")"
	case 11:
		return fmt.Sprintf("%s.Gt(%s).Where(a, %s)", x, g.expr(depth-1), x)
	case 12:
		return fmt.Sprintf("func(x *tensor.Tensor) *tensor.Tensor { y := x.Add(a); return y.%s }(%s)", g.pick("Tanh()", "Contiguous()", "T()"), x)
	case 13:
		return "(" + x + ")"
	case 14:
		return fmt.Sprintf("holder{%s}.t", x)
	}
	return fmt.Sprintf("tensor.Full(0.25, 96, 96).Add(%s).Tanh()", x)
}

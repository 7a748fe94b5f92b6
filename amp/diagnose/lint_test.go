package diagnose_test

import (
	"flag"
	"fmt"
	"math"
	"math/rand"
	"os"
	"regexp"
	"slices"
	"strings"
	"testing"

	"halfnote/amp"
	"halfnote/amp/diagnose"
	"halfnote/tensor"
	"halfnote/tensor/nn"
	"halfnote/tensor/optim"
)

// bench is a small model with the optimizer, scaler and data of correct training. Tests replace parts of it.
type bench struct {
	net    *nn.Sequential
	opt    *optim.Optimizer
	scaler *amp.GradScaler
	x, y   *tensor.Tensor
	class  *tensor.Tensor
	policy amp.Policy
}

// width is the width of all layers, for which no rule about speed applies.
const width = 64

func newBench(options ...nn.Option) *bench {
	b := &bench{net: nn.NewSequential(), scaler: amp.NewGradScaler(amp.InitScale(1024)), policy: amp.Float16}
	for range 4 {
		b.net.Append(nn.NewLinear(width, width, options...)).Append(nn.NewReLU())
	}
	b.net.Append(nn.NewLinear(width, width, options...))
	b.opt = optim.NewSGD(nn.Parameters(b.net), 0.01)
	b.x, b.y = tensor.Randn(width, width), tensor.Rand(width, width)
	b.class = tensor.Randint(0, width, width)
	return b
}

// cast runs forward under autocast and returns the loss.
func (b *bench) cast(forward func() *tensor.Tensor) (loss *tensor.Tensor) {
	amp.Autocast(b.policy, func() { loss = forward() })
	return loss
}

func (b *bench) mse() *tensor.Tensor { return nn.MSELoss(b.net.Forward(b.x), b.y) }

// learn runs the rest of a step after the loss.
func (b *bench) learn(loss *tensor.Tensor) {
	b.scaler.Scale(loss).Backward()
	b.update()
}

func (b *bench) update() {
	b.scaler.Step(b.opt)
	b.scaler.Update()
	b.opt.ZeroGrad()
}

// inserted inserts m after layer i.
func (b *bench) inserted(i int, m nn.Module) {
	b.net.Modules[2*i] = nn.NewSequential(b.net.Modules[2*i], m)
	b.opt = optim.NewSGD(nn.Parameters(b.net), 0.01)
}

// module is a module made of a function.
type module func(x *tensor.Tensor) *tensor.Tensor

func (f module) Forward(x *tensor.Tensor) *tensor.Tensor { return f(x) }

// mistake is a step in two versions: with one mistake, and correct.
type mistake struct {
	code   string
	placed bool // the finding must name the module of the layer
	// step returns the step. layer is the place of the mistake, for mistakes in a layer.
	step func(b *bench, bad bool, layer int) func()
}

// wide is a module with a layer in float64 among others.
type wide struct{ Linear *nn.Linear }

func (m *wide) Forward(x *tensor.Tensor) *tensor.Tensor {
	return m.Linear.Forward(x.Double()).Float()
}

// tied uses its weight twice, once as a view if bad.
type tied struct {
	Linear *nn.Linear
	bad    bool
}

func (m *tied) Forward(x *tensor.Tensor) *tensor.Tensor {
	y := m.Linear.Forward(x)
	if m.bad {
		return y.MatMul(m.Linear.Weight.T())
	}
	return y.MatMul(m.Linear.Weight)
}

// TestLintEps checks that a lost eps of an optimizer is found. This needs float16 parameters, which are
// a mistake themselves.
func TestLintEps(t *testing.T) {
	for _, eps := range []float64{1e-8, 1e-4} {
		b := newBench()
		nn.Half(b.net)
		b.opt = optim.NewAdam(nn.Parameters(b.net), 1e-4, optim.Eps(eps))
		got := diagnose.Lint(b.net, func() {
			b.cast(b.mse).Backward()
			b.opt.Step()
			b.opt.ZeroGrad()
		}).Codes()
		want := []string{"half-parameters", "half-state", "no-scaler"}
		if eps < 1e-7 { // the consequence of the lost eps
			want = []string{"eps-lost", "half-parameters", "half-state", "loss-not-finite", "no-scaler"}
		}
		slices.Sort(got)
		if !slices.Equal(got, want) {
			t.Errorf("eps %g: got %q, want %q", eps, got, want)
		}
	}
}

// TestLintRules checks that every rule has a mistake above, that the rules are sorted, and that
// LintRules lists them.
func TestLintRules(t *testing.T) {
	codes := []string{"all-alike", "all-zero", "eps-lost", "found-inf-local", "scale-differs"} // the first two are in lint_zeros_test.go; the last two need ranks: package dist tests them
	for _, m := range slices.Concat(mistakesOfOrder, mistakesOfValues, mistakesOfRanks) {
		codes = append(codes, m.code)
	}
	for _, l := range loops {
		codes = append(codes, l.want...)
	}
	slices.Sort(codes)
	if codes = slices.Compact(codes); !slices.Equal(codes, diagnose.RuleCodes()) {
		t.Errorf("got mistakes for %q\nand rules for %q", codes, diagnose.RuleCodes())
	}
	table := diagnose.LintRules().Data["text/html"].(string)
	for _, code := range codes {
		if !strings.Contains(table, code) {
			t.Errorf("LintRules does not list %s", code)
		}
	}
}

// update rewrites the number of rules in the documentation.
var update = flag.Bool("update", false, "rewrite the number of rules in docs/amp.md")

// TestRulesInDocs checks that the documentation has the number of rules.
func TestRulesInDocs(t *testing.T) {
	const file = "../../docs/amp.md"
	text, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	number := regexp.MustCompile(`warnings about \d+ common mistakes`)
	want := []byte(fmt.Sprintf("warnings about %d common mistakes", len(diagnose.RuleCodes())))
	switch got := number.Find(text); {
	case *update:
		if err := os.WriteFile(file, number.ReplaceAll(text, want), 0o644); err != nil {
			t.Fatal(err)
		}
	case string(got) != string(want):
		t.Errorf("%s has %q, want %q: run go test ./amp/diagnose -run TestRulesInDocs -update", file, got, want)
	}
}

// TestLint checks that each rule finds its mistake and nothing else, and nothing in the correct step.
func TestLint(t *testing.T) {
	for _, tt := range slices.Concat(mistakesOfOrder, mistakesOfValues, mistakesOfRanks) {
		t.Run(tt.code, func(t *testing.T) {
			for seed := range 2 {
				layer := rand.New(rand.NewSource(int64(seed))).Intn(4)
				for _, bad := range []bool{true, false} {
					tensor.ManualSeed(int64(seed))
					b := newBench()
					step := tt.step(b, bad, layer)
					report := diagnose.Lint(b.net, step)
					var want []string
					if bad {
						want = []string{tt.code}
					}
					if got := report.Codes(); !slices.Equal(got, want) {
						t.Fatalf("seed %d, wrong %v: got %q, want %q\n%v", seed, bad, got, want, report)
					}
					if !bad {
						continue
					}
					if tt.code == "ignored-skips" && !strings.Contains(report.String(), fmt.Sprintf("%d.weight", 2*layer)) {
						t.Errorf("seed %d: got a report without the parameter of layer %d: %v", seed, 2*layer, report)
					}
					at := fmt.Sprint(2 * layer)
					if f := report.Findings[0]; tt.placed && !strings.HasPrefix(f.Module+".", at+".") && !strings.HasPrefix(f.Module, at) {
						t.Errorf("seed %d: got module %q, want %q: %v", seed, f.Module, at, f)
					}
				}
			}
		})
	}
}

// TestLintStaleInf checks a loop without ZeroGrad after skipped steps: the inf stays in the gradients,
// and the scale shrinks to 0.
func TestLintStaleInf(t *testing.T) {
	b := newBench()
	report := diagnose.Lint(b.net, func() {
		for i := range 6 {
			b.scaler.Scale(b.cast(b.mse)).Backward()
			if p := nn.Parameters(b.net)[3]; i == 0 {
				p.SetGrad(p.Grad().MulScalar(math.Inf(1)))
			}
			b.scaler.Step(b.opt)
			b.scaler.Update()
		}
	})
	want := []string{"ignored-skips", "missing-zero-grad", "scale-below-1"}
	got := report.Codes()
	if slices.Sort(got); !slices.Equal(got, want) {
		t.Errorf("got %q, want %q\n%v", got, want, report)
	}
}

package amp_test

import (
	"errors"
	"strings"
	"testing"

	"halfnote/amp"
	"halfnote/tensor"
	"halfnote/tensor/nn"
)

// TestOps checks that Ops lists every operation once, with its category.
func TestOps(t *testing.T) {
	p := amp.Float16.With("softmax", amp.LowerPrecision).With("relu", amp.Banned)
	l := p.Ops()
	rows := map[string]amp.OpRow{}
	for _, r := range l.Rows {
		if _, twice := rows[r.Op]; twice {
			t.Errorf("%s is listed twice", r.Op)
		}
		rows[r.Op] = r
	}
	for _, op := range tensor.Ops() {
		r, ok := rows[op.Name]
		if strings.Contains(op.Name, "_backward") {
			if ok {
				t.Errorf("%s is listed, but only derivatives use it", op.Name)
			}
			continue
		}
		if !ok || r.Category != p.Category(op) || r.Torch != op.Torch {
			t.Errorf("%s: got %+v, want category %v", op.Name, r, p.Category(op))
		}
	}
	for op, want := range map[string][2]string{
		"linear":               {"float16", "torch's CUDA list lower_precision_fp"},
		"softmax":              {"float16", "moved to lower_precision_fp by With, against torch (CUDA list fp32_set_opt_dtype)"},
		"relu":                 {"refused", "moved to banned by With, against torch (on none of torch's CUDA lists)"},
		"norm":                 {"float32, unless the call names a dtype", "torch's CUDA list fp32_append_dtype"},
		"exp":                  {"float32", "torch's CUDA list fp32"},
		"dot":                  {"float16, or float32 if an operand is", "torch's CUDA list promote"},
		"binary_cross_entropy": {"refused", "torch's CUDA list banned"},
		"add":                  {"its operands' dtype", "on none of torch's CUDA lists"},
	} {
		if r := rows[op]; r.RunsIn != want[0] || r.By != want[1] {
			t.Errorf("%s: got %q by %q, want %q by %q", op, r.RunsIn, r.By, want[0], want[1])
		}
	}
	for name, text := range map[string]string{"String": l.String(), "HTML": l.HTML()} {
		for _, want := range []string{"amp.Float16", "008ec6b", "linear", "torch.softmax", "lower_precision_fp", "abs, "} {
			if !strings.Contains(text, want) {
				t.Errorf("got %s without %q", name, want)
			}
		}
	}
	if got := p.Why("softmax"); !strings.Contains(got, "Under amp.Float16, softmax runs in float16: moved") {
		t.Errorf("Why: got %q", got)
	}
}

func TestOpsFind(t *testing.T) {
	for word, want := range map[string][2]string{
		"softmax": {"softmax", "add"}, "promote": {"tensordot", "softmax"}, "With": {"exp", "softmax"}, "torch.linalg": {"linalg_solve", "exp"},
	} {
		found := amp.BFloat16.With("exp", amp.Unlisted).Ops().Find(word)
		has := func(op string) bool {
			for _, r := range found.Rows {
				if r.Op == op {
					return true
				}
			}
			return false
		}
		if !has(want[0]) || has(want[1]) {
			t.Errorf("Find(%q): got %d rows, want some that include %s and not %s", word, len(found.Rows), want[0], want[1])
		}
	}
	if n := len(amp.Float16.Ops().Find("no such thing").Rows); n != 0 {
		t.Errorf("Find without words: got %d rows", n)
	}
}

// TestOpsFollowsRegion checks that Ops returns the list of the region's policy, and that of
// amp.Float16 outside regions.
func TestOpsFollowsRegion(t *testing.T) {
	if got := amp.Ops(); got.Policy != amp.Float16 || !strings.Contains(got.String(), "No region is open") {
		t.Errorf("outside regions: got %v", got.Policy)
	}
	amp.Autocast(amp.CPUBFloat16, func() {
		if got := amp.Ops(); got.Policy != amp.CPUBFloat16 || !strings.Contains(got.String(), "policy is in force") {
			t.Errorf("in a region: got %v", got.Policy)
		}
	})
}

func TestWithErrors(t *testing.T) {
	for call, want := range map[string]struct {
		f    func()
		code string
		text string
	}{
		"misspelt":  {func() { amp.Float16.With("soft_max", amp.Unlisted) }, "unknown_op", "softmax"},
		"torch's":   {func() { amp.Float16.With("torch.nn.functional.layernorm", amp.Unlisted) }, "unknown_op", "layer_norm"},
		"composite": {func() { amp.Float16.With("cross_entropy", amp.Unlisted) }, "unknown_op", "log_softmax and nll_loss"},
		"category":  {func() { amp.Float16.With("softmax", amp.ExplicitDType) }, "bad_category", "amp.Unlisted, LowerPrecision"},
		"why":       {func() { amp.Float16.Why("sofmax") }, "unknown_op", "softmax"},
	} {
		err := try(want.f)
		var e *amp.Error
		if !errors.As(err, &e) || e.Code != want.code || !strings.Contains(e.Error(), want.text) {
			t.Errorf("%s: got %v, want %s with %q", call, err, want.code, want.text)
		}
	}
}

// TestExplicitDType checks that a dtype named in the call takes precedence over every policy's
// lists and over With.
func TestExplicitDType(t *testing.T) {
	x := tensor.Ones(4)
	h := x.Half()
	for _, p := range []amp.Policy{amp.Float16, amp.CPUBFloat16, amp.Float16.With("prod", amp.LowerPrecision).With("sum", amp.Banned)} {
		amp.Autocast(p, func() {
			for name, got := range map[string]tensor.DType{
				"prod": h.ProdAs(tensor.Float16).DType(), "sum": h.SumAs(tensor.Float16).DType(), "cumsum": h.CumsumAs(tensor.Float16, 0).DType(),
				"softmax": x.SoftmaxAs(tensor.Float16, 0).DType(),
				"norm":    h.NormWith(2, tensor.PNormOptions{DType: tensor.Float16}).DType(),
			} {
				if got != tensor.Float16 {
					t.Errorf("%v: %s as float16: got %v", p, name, got)
				}
			}
		})
	}
}

func TestAllowBanned(t *testing.T) {
	p, y := tensor.Full(0.5, 4), tensor.Ones(4)
	amp.Autocast(amp.Float16.AllowBanned(), func() {
		if d := nn.BinaryCrossEntropy(p.Half(), y.Half()).DType(); d != tensor.Float16 {
			t.Errorf("binary_cross_entropy of float16: got %v, want float16", d)
		}
	})
}

package amp_test

import (
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"slices"
	"strings"
	"testing"

	"halfnote/amp"
	"halfnote/tensor"
)

// readLists returns torch's autocast lists, list by list, for CUDA and the CPU:
// testdata/oplists.json, taken from the registrations in
// pytorch/aten/src/ATen/autocast_mode.cpp (008ec6b) and autocast_mode.h (d70fe7f).
func readLists(t *testing.T) (cuda, cpu map[string][]string) {
	t.Helper()
	text, err := os.ReadFile("testdata/oplists.json")
	if err != nil {
		t.Fatal(err)
	}
	var lists struct{ CUDA, CPU map[string][]string }
	if err := json.Unmarshal(text, &lists); err != nil {
		t.Fatal(err)
	}
	return lists.CUDA, lists.CPU
}

// teachingLists holds the tutorials' lists by torch's names of the categories.
var teachingLists = map[string][]string{
	"lower_precision_fp": strings.Fields("__matmul__ addbmm bmm chain_matmul multi_dot conv1d conv2d conv3d GRUCell linear LSTMCell matmul mm mv prelu RNNCell"),
	"fp32":               strings.Fields("binary_cross_entropy_with_logits cosine_similarity cross_entropy cumsum dist l1_loss layer_norm log log_softmax mse_loss nll_loss norm normalize pow prod soft_margin_loss softmax softmin softplus sum"),
	"promote":            strings.Fields("addcdiv addcmul bilinear cross dot grid_sample scatter_add tensordot"),
}

// policyRule returns the dtype in which torch runs an operation of a list with operands of the
// given dtypes, or whether it rejects them. It follows the comments of autocast_mode.h and shares no
// code with the package.
func policyRule(list string, low tensor.DType, in []tensor.DType) (to tensor.DType, refused bool) {
	switch list {
	case "lower_precision_fp":
		return low, false
	case "fp32", "fp32_set_opt_dtype", "fp32_append_dtype":
		return tensor.Float32, false
	case "promote":
		to = low
		for _, d := range in {
			switch {
			case d == tensor.Float32 || to == tensor.Float32:
				to = tensor.Float32
			case d != low:
				return 0, true
			}
		}
		return to, false
	}
	return 0, true // banned
}

// castMix holds the dtypes of a call's floating-point operands: of the first, and of the others.
var castMix = [][2]tensor.DType{
	{tensor.Float32, tensor.Float32}, {tensor.Float16, tensor.Float16}, {tensor.BFloat16, tensor.BFloat16},
	{tensor.Float32, tensor.Float16}, {tensor.Float16, tensor.Float32}, {tensor.Float32, tensor.BFloat16}, {tensor.BFloat16, tensor.Float32},
}

// TestOpLists runs every operation on torch's lists for CUDA and for the CPU, and on the
// tutorials' lists, under each policy on operands of each mixture of dtypes. It compares the dtypes
// of computation and result with torch's rules, and the bits of the result with those for operands
// cast by hand outside the region.
func TestOpLists(t *testing.T) {
	cuda, cpu := readLists(t)
	calls := map[string][]opCall{}
	for _, c := range opCalls() {
		calls[c.op] = append(calls[c.op], c)
	}
	seen := map[string]bool{}
	for _, p := range []struct {
		policy amp.Policy
		lists  map[string][]string
	}{{amp.Float16, cuda}, {amp.BFloat16, cuda}, {amp.CPUBFloat16, cpu}, {amp.CPUFloat16, cpu}, {amp.Float16, teachingLists}} {
		for list, names := range p.lists {
			for _, name := range names {
				ops, stands := standIns[name]
				if !stands {
					ops = []string{name}
				}
				if why := absentOps[name]; why != "" {
					if stands || calls[name] != nil {
						t.Errorf("%s exists but is listed as absent: %s", name, why)
					}
					continue
				}
				for _, op := range ops {
					if calls[op] == nil {
						t.Errorf("%v: %s: %s has neither a sample call nor a reason", p.policy, list, op)
					}
					for _, c := range calls[op] {
						seen[op] = true
						c.check(t, p.policy, list)
					}
				}
			}
		}
	}
	for op := range calls {
		if !seen[op] {
			t.Errorf("%s has a sample call but is not on any list", op)
		}
	}
}

func (c opCall) check(t *testing.T, p amp.Policy, list string) {
	t.Helper()
	for _, mix := range castMix {
		in := c.in()
		var dtypes []tensor.DType
		for i, x := range in {
			if !x.DType().IsFloat() {
				continue
			}
			d := mix[min(len(dtypes), 1)]
			dtypes = append(dtypes, d)
			in[i] = x.To(d)
		}
		if len(dtypes) == 1 && mix[0] != mix[1] {
			continue
		}
		what := fmt.Sprintf("%v: %s of %v", p, c.op, dtypes)
		to, refused := policyRule(list, p.DType(), dtypes)
		var first ten
		for i, form := range c.forms {
			var y ten
			computed := map[tensor.DType]bool{}
			stop := tensor.Observe(func(e tensor.Event) {
				if e.Op.Name == c.op && !e.InCast {
					computed[e.Computed] = true
					if e.Out.DType.IsFloat() && e.Out.DType != to {
						t.Errorf("%s: got a result of %v, want %v", what, e.Out.DType, to)
					}
				}
			})
			err := try(func() { amp.Autocast(p, func() { y = form(in) }) })
			stop()
			var e *amp.Error
			if refused != errors.As(err, &e) || !refused && err != nil {
				t.Errorf("%s: got error %v, want an error: %v", what, err, refused)
				continue
			}
			if refused {
				continue
			}
			if isOp(c.op) && (len(computed) != 1 || !computed[to]) {
				t.Errorf("%s: computed in %v, want %v", what, computed, to)
			}
			hand := slices.Clone(in)
			for j, x := range hand {
				if x.DType().IsFloat() {
					hand[j] = x.To(to)
				}
			}
			if want := form(hand); !sameBits(y, want) {
				t.Errorf("%s, form %d: got %v, want %v, the result of operands cast by hand", what, i, y, want)
			}
			if first == nil {
				first = y
			} else if !sameBits(y, first) {
				t.Errorf("%s: form %d and the first form differ", what, i)
			}
		}
	}
	for _, d := range []tensor.DType{tensor.Float64, tensor.Int32} {
		c.ignores(t, p, list, d)
	}
}

// ignores checks that operands of d, which no policy casts, are used unchanged.
func (c opCall) ignores(t *testing.T, p amp.Policy, list string, d tensor.DType) {
	t.Helper()
	in := c.in()
	for i, x := range in {
		if x.DType().IsFloat() {
			in[i] = x.To(d)
		}
	}
	var y, want ten
	casts := 0
	stop := tensor.Observe(func(e tensor.Event) {
		for _, c := range e.Casts {
			if !c.Promotion {
				casts++
			}
		}
	})
	got := try(func() { amp.Autocast(p, func() { y = c.forms[0](in) }) })
	stop()
	outside := try(func() { want = c.forms[0](in) })
	switch {
	case list == "banned":
		if got == nil {
			t.Errorf("%v: %s of %v: got no error", p, c.op, d)
		}
	case casts != 0:
		t.Errorf("%v: %s of %v: an operand was cast", p, c.op, d)
	case (got == nil) != (outside == nil):
		t.Errorf("%v: %s of %v: got error %v, want %v as outside the region", p, c.op, d, got, outside)
	case got == nil && !sameBits(y, want):
		t.Errorf("%v: %s of %v: got %v, want %v as outside the region", p, c.op, d, y, want)
	}
}

func isOp(name string) bool {
	return slices.ContainsFunc(tensor.Ops(), func(i tensor.Info) bool { return i.Name == name })
}

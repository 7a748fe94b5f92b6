package apex_test

import (
	"errors"
	"fmt"
	"strings"
	"testing"

	"halfnote/amp"
	"halfnote/amp/apex"
	"halfnote/tensor"
)

// caught returns the error that f panics with, or nil.
func caught(f func()) (err error) {
	defer func() {
		if r := recover(); r != nil {
			err = r.(error)
		}
	}()
	f()
	return nil
}

// properties returns Apex's properties of l in the order of its table: cast_model_type,
// patch_torch_functions, keep_batchnorm_fp32, master_weights, loss_scale.
func properties(l apex.OptLevel) string {
	p := l.Properties()
	return strings.Join([]string{p["cast_model_type"], p["patch_torch_functions"], p["keep_batchnorm_fp32"], p["master_weights"], p["loss_scale"]}, " ")
}

// TestOptLevels checks the properties of every level with every override; "" marks those that Apex
// rejects (apex/amp/frontend.py, Properties.__setattr__).
func TestOptLevels(t *testing.T) {
	type override struct {
		property, value string
		want            [4]string // properties for O0 to O3
	}
	for _, c := range []override{
		{"", "", [4]string{
			"torch.float32 False None False 1.0", "None True None None dynamic", "torch.float16 False True True dynamic", "torch.float16 False False False 1.0"}},
		{"cast_model_type", "torch.float32", [4]string{
			"torch.float32 False None False 1.0", "torch.float32 True None None dynamic", "torch.float32 False True True dynamic", "torch.float32 False False False 1.0"}},
		{"cast_model_type", "torch.float16", [4]string{
			"torch.float16 False None False 1.0", "", "torch.float16 False True True dynamic", "torch.float16 False False False 1.0"}},
		{"cast_model_type", "bfloat16", [4]string{
			"torch.bfloat16 False None False 1.0", "", "torch.bfloat16 False True True dynamic", "torch.bfloat16 False False False 1.0"}},
		{"cast_model_type", "False", [4]string{
			"None False None False 1.0", "None True None None dynamic", "None False True True dynamic", "None False False False 1.0"}},
		{"cast_model_type", "int64", [4]string{}},
		{"patch_torch_functions", "True", [4]string{"", "None True None None dynamic", "", ""}},
		{"patch_torch_functions", "False", [4]string{
			"torch.float32 False None False 1.0", "None False None None dynamic", "torch.float16 False True True dynamic", "torch.float16 False False False 1.0"}},
		{"keep_batchnorm_fp32", "True", [4]string{
			"torch.float32 False True False 1.0", "", "torch.float16 False True True dynamic", "torch.float16 False True False 1.0"}},
		{"keep_batchnorm_fp32", "False", [4]string{
			"torch.float32 False False False 1.0", "", "torch.float16 False False True dynamic", "torch.float16 False False False 1.0"}},
		{"keep_batchnorm_fp32", "maybe", [4]string{}},
		{"master_weights", "True", [4]string{
			"torch.float32 False None True 1.0", "", "torch.float16 False True True dynamic", "torch.float16 False False True 1.0"}},
		{"master_weights", "False", [4]string{
			"torch.float32 False None False 1.0", "", "torch.float16 False True False dynamic", "torch.float16 False False False 1.0"}},
		{"loss_scale", "128.0", [4]string{
			"torch.float32 False None False 128.0", "None True None None 128.0", "torch.float16 False True True 128.0", "torch.float16 False False False 128.0"}},
		{"loss_scale", "dynamic", [4]string{
			"torch.float32 False None False dynamic", "None True None None dynamic", "torch.float16 False True True dynamic", "torch.float16 False False False dynamic"}},
		{"loss_scale", "high", [4]string{}},
		{"loss_scale", "0", [4]string{}},
		{"num_losses", "0", [4]string{}},
		{"fused_optimizer", "True", [4]string{}},
	} {
		for i, want := range c.want {
			name := fmt.Sprintf("O%d", i)
			var got apex.OptLevel
			err := caught(func() {
				if got = apex.Level(name); c.property != "" {
					got = got.Set(c.property, c.value)
				}
			})
			var refusal *amp.Error
			switch {
			case want == "" && !errors.As(err, &refusal):
				t.Errorf("%s with %s=%s: got %v, want an error", name, c.property, c.value, properties(got))
			case want != "" && err != nil:
				t.Errorf("%s with %s=%s: got error %v", name, c.property, c.value, err)
			case want != "" && properties(got) != want:
				t.Errorf("%s with %s=%s: got %s, want %s", name, c.property, c.value, properties(got), want)
			case err != nil && !strings.Contains(err.Error(), c.property) && !strings.Contains(err.Error(), c.value):
				t.Errorf("%s with %s=%s: got error %q, want an error that names level and property", name, c.property, c.value, err)
			}
		}
	}
}

func TestUnknownLevel(t *testing.T) {
	for _, name := range []string{"02", "O4", "o1", ""} {
		err := caught(func() { apex.Level(name) })
		if err == nil {
			t.Fatalf("%q: got no error", name)
		}
		for _, want := range []string{`"O0", "O1", "O2" or "O3"`, "zero"} {
			if !strings.Contains(err.Error(), want) {
				t.Errorf("%q: got error %q, want an error that contains %s", name, err, want)
			}
		}
	}
}

// TestOverridesAreCopies checks that methods of a level return a changed copy.
func TestOverridesAreCopies(t *testing.T) {
	changed := apex.O2.KeepBatchNormFP32(false).LossScale(128).MasterWeights(false).CastModelType(tensor.BFloat16)
	if got, want := properties(changed), "torch.bfloat16 False False False 128.0"; got != want {
		t.Errorf("got %s, want %s", got, want)
	}
	if got, want := properties(apex.O2), "torch.float16 False True True dynamic"; got != want {
		t.Errorf("O2 itself: got %s, want %s", got, want)
	}
	if text := changed.String(); !strings.Contains(text, "loss_scale") || !strings.Contains(text, "128.0") || !strings.HasPrefix(text, "O2") {
		t.Errorf("got the string %q", text)
	}
}

// TestLevelTable compares the printed table with the table in Apex's documentation.
func TestLevelTable(t *testing.T) {
	const want = `property               O0                O1                       O2                                                        O3
what it is             float32 training  casts around operations  float16 training with float32 batch norms and master weights  float16 training
cast_model_type        torch.float32     None                     torch.float16                                             torch.float16
patch_torch_functions  False             True                     False                                                     False
keep_batchnorm_fp32    None              None                     True                                                      False
master_weights         False             None                     True                                                      False
loss_scale             1.0               dynamic                  dynamic                                                   1.0`
	table := apex.OptLevels()
	squeeze := func(s string) string { return strings.Join(strings.Fields(s), " ") }
	if got := table.String(); squeeze(got) != squeeze(want) {
		t.Errorf("got\n%s\nwant\n%s", got, want)
	}
	if got := table.HTML(); strings.Count(got, "<tr>") != 7 || !strings.Contains(got, ">loss_scale</td>") {
		t.Errorf("got the table %s", got)
	}
	if got := apex.OptLevels(apex.O2.LossScale(8)).String(); !strings.Contains(got, "8.0") || strings.Contains(got, "O3") {
		t.Errorf("one level: got the table\n%s", got)
	}
}

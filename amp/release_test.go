package amp_test

import (
	"bufio"
	"encoding/json"
	"os"
	"slices"
	"strings"
	"testing"

	"halfnote/amp"
	"halfnote/tensor"
)

// TestReleases compares the lists of releases with the operations that these register for autocast, recorded by testdata/releases.py.
func TestReleases(t *testing.T) {
	f, err := os.Open("testdata/releases.json")
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	lines := bufio.NewScanner(f)
	lines.Buffer(nil, 1<<20)
	checked := 0
	for lines.Scan() {
		var r struct {
			Torch     string
			CUDA, CPU []string
		}
		if err := json.Unmarshal(lines.Bytes(), &r); err != nil {
			t.Fatal(err)
		}
		for _, c := range []struct {
			policy     amp.Policy
			registered []string
		}{{amp.Float16, r.CUDA}, {amp.CPUFloat16, r.CPU}} {
			p := c.policy.Release(r.Torch)
			for _, op := range tensor.Ops() {
				if op.Name == "lstm" { // a step of _cudnn_rnn and mkldnn_rnn_layer
					continue
				}
				checked++
				listed := !strings.Contains(p.By(op), "on none of")
				if want := slices.Contains(c.registered, op.Name); listed != want {
					t.Errorf("%s in PyTorch %s: listed is %v, want %v: %s", op.Name, r.Torch, listed, want, p.By(op))
				}
			}
		}
	}
	if checked < 500 {
		t.Errorf("%d comparisons; want 500 or more", checked)
	}
}

// TestRelease checks what differs between releases, and that other texts are refused.
func TestRelease(t *testing.T) {
	for _, c := range []struct {
		version, op string
		policy      amp.Policy
		want        amp.Category
		by          string
	}{
		{"2.1.2", "scaled_dot_product_attention", amp.CPUBFloat16, amp.Unlisted, "on none of torch's CPU lists of PyTorch 2.1; on one since 2.2"},
		{"2.2", "scaled_dot_product_attention", amp.CPUBFloat16, amp.LowerPrecision, "torch's CPU list lower_precision_fp"},
		{"2.0.1", "scaled_dot_product_attention", amp.Float16, amp.LowerPrecision, "torch's CUDA list lower_precision_fp"},
		{"2.0.1+cu118", "prelu", amp.CPUBFloat16, amp.Unlisted, "since 2.1"},
		{"2.3", "upsample_bilinear2d", amp.Float16, amp.Unlisted, "since 2.4"},
		{"2.11", "rms_norm", amp.Float16, amp.FP32, "on none of torch's CUDA lists of PyTorch 2.11; on one since 2.12, but composed of pow in torch"},
		{"2.15.0", "rms_norm", amp.Float16, amp.FP32, "torch's CUDA list fp32"},
		{"2.15.0", "rms_norm", amp.CPUFloat16, amp.Unlisted, "on none of torch's CPU lists"},
		{"", "rms_norm", amp.Float16, amp.FP32, "on none of torch's CUDA lists, but composed of pow in torch"},
		{"1.13", "prelu", amp.CPUBFloat16, amp.LowerPrecision, ""},
		{"2.x", "prelu", amp.CPUBFloat16, amp.LowerPrecision, ""},
		{"2.-1", "prelu", amp.CPUBFloat16, amp.LowerPrecision, ""},
	} {
		p, op := c.policy.Release(c.version), tensor.Info{Name: c.op}
		if got := p.Category(op); got != c.want || !strings.HasSuffix(p.By(op), c.by) {
			t.Errorf("%s of %q: got %v, %q; want %v, %q", c.op, c.version, got, p.By(op), c.want, c.by)
		}
	}
}

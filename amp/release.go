package amp

import (
	"math"
	"strconv"
	"strings"
)

// newcomer is an operation that came onto a list of torch's autocast with PyTorch 2.since, and was on none before.
type newcomer struct {
	op       string
	cpu      bool
	since    int
	category Category
}

// newcomers are the differences between autocast's lists of PyTorch 2.0 to 2.15, for operations of package tensor: none has left a list or moved to another.
// They follow issues and pull requests of pytorch/pytorch by their dates: 95366 (prelu), 108165 (linalg_vecdot), 111558 (attention on CPUs), 121072
// (upsample) and 174824 (rms_norm, which [table] does not have). testdata/releases.json has what 2.6 and 2.15 register.
var newcomers = [...]newcomer{
	{"_upsample_bicubic2d_aa", false, 4, FP32},
	{"_upsample_bilinear2d_aa", false, 4, FP32},
	{"_upsample_nearest_exact1d", false, 4, FP32},
	{"_upsample_nearest_exact2d", false, 4, FP32},
	{"_upsample_nearest_exact3d", false, 4, FP32},
	{"linalg_vecdot", false, 1, LowerPrecision},
	{"linalg_vecdot", true, 1, LowerPrecision},
	{"prelu", true, 1, LowerPrecision},
	{"rms_norm", false, 12, FP32},
	{"scaled_dot_product_attention", true, 2, LowerPrecision},
	{"upsample_bicubic2d", false, 4, FP32},
	{"upsample_bilinear2d", false, 4, FP32},
	{"upsample_linear1d", false, 4, FP32},
	{"upsample_nearest1d", false, 4, FP32},
	{"upsample_nearest2d", false, 4, FP32},
	{"upsample_nearest3d", false, 4, FP32},
	{"upsample_trilinear3d", false, 4, FP32},
}

// Release returns p with torch's lists as they are in a release of PyTorch 2, such as "2.1" or "2.6.0+cu124", for operations that came onto a list after 2.0.
// Any other text gives the lists that p has by default. Recordings of PyTorch programs use it.
func (p Policy) Release(version string) Policy {
	major, rest, _ := strings.Cut(version, ".")
	minor, _, _ := strings.Cut(rest, ".")
	p.release = 0
	if n, err := strconv.Atoi(minor); err == nil && major == "2" && n >= 0 && n < math.MaxInt {
		p.release = n + 1
	}
	return p
}

// newcomer returns the entry of op among the newcomers to the list of p, or nil if p's release does not matter for it.
func (p Policy) newcomer(op string) *newcomer {
	for i := range newcomers {
		if n := &newcomers[i]; p.release != 0 && !p.apex && n.op == op && n.cpu == p.cpu {
			return n
		}
	}
	return nil
}

// there reports whether an operation is on its list in p's release.
func (n *newcomer) there(p Policy) bool { return n.since < p.release }

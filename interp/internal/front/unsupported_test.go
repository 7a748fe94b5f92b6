package front

import (
	"errors"
	"strings"
	"testing"
)

// TestUnsupportedNames checks that an engine's error has the names of the source.
func TestUnsupportedNames(t *testing.T) {
	for in, want := range map[string]string{
		"undefined selector: p__halfnote_tensor.Foo of x__3": "undefined selector: tensor.Foo of x",
		"In[1]:1:2: cannot use p__math_rand_v2.N":            "cannot use rand.N",
		"p__kernel__.Box failed":                             "kernel.Box failed",
		"setup__p stays":                                     "setup__p stays",
	} {
		err := (&Parsed{}).Unsupported(errors.New(in))
		if _, got, _ := strings.Cut(err.Error(), "yet: "); got != want {
			t.Errorf("%q: got %q, want %q", in, got, want)
		}
	}
}

package interp

import (
	"fmt"
	"strings"
	"testing"
)

// BenchmarkElements measures loops of cells over the elements of a tensor, in time per element.
func BenchmarkElements(b *testing.B) {
	for _, engine := range Engines {
		for _, tt := range []struct{ name, body string }{
			{"empty", "s += 1"},
			{"Sqrt", "s += math.Sqrt(2)"},
			{"At", "s += x.At(i%10, 3)"},
			{"Item", "s += one.Item()"},
			{"Set", "x.Set(.5, i%10, 3)"},
			{"Float64s", "s += few.Float64s()[1]"},
		} {
			b.Run(engine+"/"+tt.name, func(b *testing.B) {
				s := newSessionOn(b, engine)
				evalAll(b, s, "x, one, few := tensor.Rand(10, 10), tensor.Rand(1), tensor.Rand(5)\nfunc loop(n int) (s float64) { for i := 0; i < n; i++ { "+tt.body+" }; return s }")
				b.ResetTimer()
				if got := evalFor(b, s, 90, fmt.Sprintf("loop(%d)", b.N), ""); !strings.HasPrefix(got, "= ") {
					b.Fatal(got)
				}
			})
		}
	}
}

package interp

import (
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"halfnote/interp/internal/exports"
)

// BenchmarkComplete measures completion and help in a session with a hundred declared
// names. It reports the times of the first request of the process, the median and the 99th
// percentile, in milliseconds:
//
//	go test ./interp -run xxx -bench 'Complete$' -benchtime 1000x
func BenchmarkComplete(b *testing.B) {
	cells := []string{
		"x := net.|", "|", "str|", "for i := range 3 {\n\tfmt.Println(i, net.F|", "T7{|", "var t T3\nt.|", "f9(|", "%ti|", "import \"enc|",
		"m[\"|", "x.Mat|", "x.Sum().|", "func f(b *strings.B|", "held.|", "hex.|", "loss := nn.MSELoss(net.Forward(x), |",
	}
	for name := range exports.Preloaded {
		cells = append(cells, name+".|")
	}
	for _, path := range []string{"net/http", "encoding/json", "os", "bytes", "image/png", "reflect", "text/template", "crypto/tls"} {
		cells = append(cells, fmt.Sprintf("import p %q\np.|", path))
	}
	slices.Sort(cells) // for a fixed order
	s := newSession(b)
	var took []time.Duration
	ask := func(cell string) {
		code, cursor := at(cell)
		start := time.Now()
		s.Complete(code, cursor)
		took = append(took, time.Since(start))
		start = time.Now()
		s.Inspect(code, cursor, 1)
		took = append(took, time.Since(start))
	}
	ask("tensor.|")
	first := took[0]
	var code strings.Builder
	for i := range 50 {
		fmt.Fprintf(&code, "type T%d struct{ A, B int }\nfunc f%d(t *T%d, x *tensor.Tensor) (int, error) { return 0, nil }\n", i, i, i)
	}
	evalFor(b, s, 1, code.String(), "")
	evalFor(b, s, 2, "net := nn.NewSequential(nn.NewLinear(2, 2))\nx := tensor.Ones(2, 2)\nm := map[string]int{\"a\": 1}\nvar held any = x", "")
	n := 0
	for b.Loop() {
		ask(cells[n%len(cells)])
		n++
	}
	slices.Sort(took)
	ms := func(d time.Duration) float64 { return float64(d) / 1e6 }
	b.ReportMetric(ms(first), "first-ms")
	b.ReportMetric(ms(took[len(took)/2]), "p50-ms")
	b.ReportMetric(ms(took[len(took)*99/100]), "p99-ms")
	b.ReportMetric(ms(took[len(took)-1]), "max-ms")
}

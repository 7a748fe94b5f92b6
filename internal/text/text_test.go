package text

import (
	"math"
	"testing"
)

func TestText(t *testing.T) {
	for _, c := range []struct{ got, want string }{
		{Bytes(0), "0 bytes"}, {Bytes(1), "1 byte"}, {Bytes(1023), "1,023 bytes"}, {Bytes(1024), "1.0 KiB"},
		{Bytes(3 << 19), "1.5 MiB"}, {Bytes(5 << 30), "5.0 GiB"}, {Bytes(1 << 60), "1048576.0 TiB"},
		{Count(1, "cell"), "1 cell"}, {Count(0, "cell"), "0 cells"}, {Count(12345, "cell"), "12,345 cells"},
		{Number(1048576, 5), "1048576"}, {Number(1234567.25, 6), "1234567"}, {Number(0.123456789, 6), "0.123457"}, {Number(-1e15, 6), "-1e+15"}, {Number(math.NaN(), 6), "NaN"}, {Number(math.Inf(1), 6), "+Inf"},
		{Power(2, -14), "2⁻¹⁴"}, {Power(10, 3890), "10³⁸⁹⁰"}, {Shape(nil), "()"}, {Shape([]int{3}), "(3,)"}, {Shape([]int{2, 3}), "(2, 3)"},
		{Sprintf("%v %v %v %d", []int{2, 3}, []float64{0.5, 2}, []int64{7}, 4), "(2, 3) (0.5, 2) (7,) 4"},
		{Thousands(-100), "-100"}, {Thousands(-1000), "-1,000"}, {Thousands(1234567), "1,234,567"},
	} {
		if c.got != c.want {
			t.Errorf("got %q, want %q", c.got, c.want)
		}
	}
}

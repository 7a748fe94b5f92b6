package asm

import (
	"fmt"
	"math"
	"testing"
)

func TestErr(t *testing.T) {
	for f := range functions {
		truth := truths[f]
		if truth == nil {
			continue
		}
		worst, at, off, count, steps := 0.0, float32(0), 0, 0, 0
		for b := range uint64(1<<32) / 2003 {
			x := math.Float32frombits(uint32(b * 2003))
			if l := f.Limit(); l > 0 && !(float32(math.Abs(float64(x))) <= l) {
				continue
			}
			if x != x {
				continue
			}
			w := truth(float64(x))
			got := f.Of(x, 1, alphaOf(f))
			want := float32(w)
			count++
			if got == want || got != got && want != want {
			} else {
				off++
				d := int(int32(bits(got)) - int32(bits(want)))
				if d < 0 {
					d = -d
				}
				steps = max(steps, d)
			}
			if math.Abs(w) > 0 && !math.IsInf(w, 0) && !math.IsInf(float64(want), 0) {
				_, e := math.Frexp(w)
				ulp := math.Ldexp(1, max(e-24, -149))
				if err := math.Abs(float64(got)-w) / ulp; !(err <= worst) {
					worst, at = err, x
				}
			}
		}
		fmt.Printf("%-12v worst %.3f ulp at %v, %.3f%% off, %d steps\n", f, worst, at, 100*float64(off)/float64(count), steps)
	}
}

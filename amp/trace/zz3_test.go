package trace_test

import (
	"testing"

	"halfnote/amp/trace"
)

func TestOv(t *testing.T) {
	net, step := mkStep(128, 256)
	for range 4 {
		t.Log(trace.Overhead(200, step, net))
	}
}

func BenchmarkBig(b *testing.B) {
	net, step := mkStep(128, 256)
	b.Run("plain", func(b *testing.B) {
		b.ReportAllocs()
		for b.Loop() {
			step()
		}
	})
	b.Run("traced", func(b *testing.B) {
		b.ReportAllocs()
		rec := trace.Start(net)
		for b.Loop() {
			step()
		}
		rec.Stop()
	})
}

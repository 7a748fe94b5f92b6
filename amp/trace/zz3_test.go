package trace_test

import (
	"os"
	"testing"

	"halfnote/amp/trace"
)

func TestYY(t *testing.T) {
	m := os.Getenv("YY")
	if m == "" {
		t.Skip("x")
	}
	net, step := workloads()["cnn"]()
	for range 30 {
		var stop func() = func() {}
		if m == "rec" {
			stop = trace.Start(net).Stop
		}
		for range 200 {
			step()
		}
		stop()
	}
}

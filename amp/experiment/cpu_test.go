package experiment

import (
	"strings"
	"testing"

	"halfnote/amp/roofline"
	"halfnote/tensor"
)

// TestMeasureCPU checks that all rates are there and serve a prediction.
func TestMeasureCPU(t *testing.T) {
	before := tensor.Randn(1).Item()
	tensor.ManualSeed(1)
	want := tensor.Randn(1).Item()
	tensor.ManualSeed(1)
	g := MeasureCPU()
	if got := tensor.Randn(1).Item(); got != want {
		t.Errorf("random number after the measurement: got %v, want %v; before the seed it was %v", got, want, before)
	}
	for _, d := range []string{"float32", "bfloat16", "float16"} {
		if g.Products[d] <= 0 {
			t.Errorf("products in %s: got %v, want a rate", d, g.Products[d])
		}
	}
	if g.Vector <= 0 || g.Bandwidth <= 0 || g.Launch <= 0 || !strings.Contains(g.Source, tensor.CPUProducts()) {
		t.Errorf("got %+v, want rates, and a source that names the instructions", g)
	}
	c := roofline.Dense(64, 256, 256).On(g)
	if c.Full.Total <= 0 || c.Mixed.Total <= 0 {
		t.Errorf("prediction: got %v and %v, want times", c.Full, c.Mixed)
	}
	text := roofline.Dense(64, 256, 256).PredictOn([]roofline.GPU{g}).String()
	if strings.Contains(text, "manufacturers'") || !strings.Contains(text, "measured rates") {
		t.Errorf("got a report of measured rates that says\n%s", text)
	}
}

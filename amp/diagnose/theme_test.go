package diagnose

import (
	"encoding/base64"
	"strings"
	"testing"

	"halfnote/display"
	"halfnote/display/chart"
)

// TestTheme checks that a screen shows the charts of reports in its theme, and the same text as without one.
func TestTheme(t *testing.T) {
	gradients := &GradientsReport{Layers: []LayerGradient{{Param: "0.weight", Elements: 4, Flushed: 2, Outcome: Flushed}}}
	trajectory := Trajectory{Steps: []TrajectoryStep{{Taken: 2, Scale: 4}}}
	screen := display.NewScreen(nil)
	screen.SetTheme("dark")
	for _, tt := range []struct {
		report any
		figure *chart.Figure
	}{{gradients, gradients.Chart()}, {trajectory, trajectory.Chart()}} {
		got, light := screen.Of(tt.report), display.Of(tt.report)
		page, _ := got.Data["text/html"].(string)
		if dark := tt.figure.With(chart.Dark).SVG(); !strings.Contains(page, base64.StdEncoding.EncodeToString(dark)) {
			t.Errorf("%T: the dark chart is missing in %.300s", tt.report, page)
		}
		if got.String() != light.String() {
			t.Errorf("%T: got the text %q, want %q", tt.report, got, light)
		}
	}
}

package diagnose

import (
	"testing"

	"halfnote/display"
	"halfnote/tensor/nn"
)

// TestThemes checks that the charts in reports follow the theme that the reader has chosen.
func TestThemes(t *testing.T) {
	for _, report := range []interface {
		display.Themed
		HTML() string
	}{&GradientsReport{}, &Replay{}, NewRewind(nn.NewLinear(1, 1)), Trajectory{Steps: []TrajectoryStep{{Scale: 1}}}, &BlocksReport{}, &OutliersReport{}, &CompareReport{}} {
		html := func(theme string) string { return report.InTheme(theme).(display.Bundle).Data["text/html"].(string) }
		light, dark, auto := html("light"), html("dark"), html("auto")
		if light != report.HTML() || dark == light || auto == light || auto == dark {
			t.Errorf("%T: the pages of the themes are light %t (as HTML), dark %t and auto %t, want three pages, light as HTML", report, light == report.HTML(), dark != light, auto != light && auto != dark)
		}
	}
}

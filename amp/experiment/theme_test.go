package experiment

import (
	"encoding/base64"
	"strings"
	"testing"

	"halfnote/display"
	"halfnote/display/chart"
)

// TestTheme checks that a screen shows the chart of a report in its theme.
func TestTheme(t *testing.T) {
	r := Report{Says: "one", Header: []string{"a"}, Rows: [][]string{{"1"}}, Figure: chart.Plot([]int{1, 2})}
	screen := display.NewScreen(nil)
	screen.SetTheme("dark")
	got := screen.Of(r)
	page, _ := got.Data["text/html"].(string)
	if dark := r.Figure.With(chart.Dark).SVG(); !strings.Contains(page, base64.StdEncoding.EncodeToString(dark)) || got.String() != r.String() {
		t.Errorf("the dark chart is missing in %.300s with the text %q", page, got)
	}
	r.Figure = nil
	if got := screen.Of(r); got.String() != r.String() {
		t.Errorf("without a chart: got %q", got)
	}
}

package chart

import (
	"encoding/base64"
	"encoding/json"
	"fmt"
	"html"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"halfnote/internal/testenv"
)

// pairsPage draws the specifications of a page with the versions of Vega and Vega-Lite that JupyterLab ships.
const pairsPage = `<!doctype html><meta charset="utf-8"><title>Pairs</title>
<style>body{margin:8px;font:12px sans-serif;background:#ccc}.pair{display:flex;gap:8px;align-items:flex-start;margin-bottom:8px}
img{width:640px}.light{background:#fff}.dark{background:#333;color:#ddd}.chart{width:%[1]dpx}</style>
%[2]s
<script src="file://%[3]s/vega/build/vega.min.js"></script><script src="file://%[3]s/vega-lite/build/vega-lite.min.js"></script>
<script>
const ink = {color: "#fff"}, themes = {light: {}, dark: {background: "#333", title: ink, style: {"guide-label": {fill: "#fff"}, "guide-title": {fill: "#fff"}}}};
for (const e of document.querySelectorAll(".chart")) {
  try {
    const spec = vegaLite.compile(JSON.parse(e.dataset.spec), {config: themes[e.dataset.theme]}).spec;
    new vega.View(vega.parse(spec), {renderer: "canvas", container: e, bind: e.nextElementSibling}).runAsync();
  } catch (err) {
    e.textContent = err;
  }
}
</script>`

// TestPairs draws every figure as a picture and by Vega, in both themes, next to each other, and each interactive form at
// the width of a phone. The pages and, with Chromium, their screenshots are for a reader, in the folder HALFNOTE_SCREENSHOTS.
// HALFNOTE_PAIRS is a regular expression of names.
func TestPairs(t *testing.T) {
	dir, modules := os.Getenv("HALFNOTE_SCREENSHOTS"), os.Getenv("HALFNOTE_VEGA")
	if dir == "" {
		t.Skip("HALFNOTE_SCREENSHOTS is not set to a folder for pictures")
	}
	if modules == "" {
		testenv.Missing(t, "vega", "HALFNOTE_VEGA is not set to a node_modules folder with vega and vega-lite")
	}
	some := regexp.MustCompile(os.Getenv("HALFNOTE_PAIRS"))
	chart := func(f *Figure, theme string) string {
		spec := f.VegaLite()
		text, err := json.Marshal(spec)
		if err != nil {
			t.Fatal(err)
		}
		if spec == nil {
			return "<div>no interactive form</div>"
		}
		return fmt.Sprintf(`<div class="%s"><div class="chart" data-theme="%[1]s" data-spec="%s"></div><div></div></div>`, theme, html.EscapeString(string(text)))
	}
	var pairs, phones []string
	high, highest := 0, 0
	write := func(name string, width, height int, body string) {
		file := filepath.Join(dir, name+".html")
		if err := os.WriteFile(file, fmt.Appendf(nil, pairsPage, width, body, modules), 0o666); err != nil {
			t.Fatal(err)
		}
		chromium, err := exec.LookPath("chromium")
		if err != nil {
			t.Logf("%s has no screenshot: %v", file, err)
			return
		}
		cmd := exec.Command(chromium, "--headless", "--no-sandbox", "--disable-gpu", "--allow-file-access-from-files", "--hide-scrollbars", "--virtual-time-budget=3000",
			"--user-data-dir="+t.TempDir(), fmt.Sprintf("--window-size=1320,%d", height), "--screenshot="+filepath.Join(dir, name+".png"), "file://"+file)
		if out, err := cmd.CombinedOutput(); err != nil {
			t.Errorf("%s: %v\n%s", name, err, out)
		}
	}
	page := 0
	flush := func() {
		if len(pairs) > 0 {
			page++
			write(fmt.Sprintf("pairs-%02d", page), 640, high+40, strings.Join(pairs, "\n"))
			write(fmt.Sprintf("phone-%02d", page), 320, 2*highest+400, `<div class="pair" style="flex-wrap:wrap">`+strings.Join(phones, "\n")+"</div>")
		}
		pairs, phones, high, highest = nil, nil, 0, 0
	}
	found := false
	for _, s := range append(samples(), markSamples()...) {
		if !some.MatchString(s.name) {
			continue
		}
		found = true
		_, h := s.fig.Size()
		for _, theme := range []string{"light", "dark"} {
			picture := fmt.Sprintf(`<img src="data:image/png;base64,%s">`, base64.StdEncoding.EncodeToString(s.fig.With(themes[theme]).PNG()))
			pairs = append(pairs, fmt.Sprintf(`<div>%s</div><div class="pair">%s%s</div>`, s.name, picture, chart(s.fig, theme)))
		}
		phones = append(phones, chart(s.fig, "light"))
		high, highest = high+2*(max(h, 200)+110), max(highest, h+150)
		if len(phones) == 4 || high > 2200 {
			flush()
		}
	}
	flush()
	if !found {
		t.Errorf("no chart and no mark is named %s (HALFNOTE_PAIRS); want a regular expression of a name in sample_test.go, or of mark-NAME", some)
	}
}

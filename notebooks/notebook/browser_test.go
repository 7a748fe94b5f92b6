package notebook

import (
	"bytes"
	"encoding/base64"
	"image"
	"image/color"
	"image/png"
	"os"
	"os/exec"
	"path/filepath"
	"testing"

	"halfnote/internal/testenv"
)

// TestPageInBrowserRunsNoScripts checks in Chromium that the images of a page are shown, and that scripts of
// the notebook do not run.
func TestPageInBrowserRunsNoScripts(t *testing.T) {
	browser := ""
	for _, name := range []string{"chromium", "chromium-browser", "google-chrome", "chrome"} {
		if path, err := exec.LookPath(name); err == nil {
			browser = path
			break
		}
	}
	if browser == "" {
		testenv.Missing(t, "browser", "needs Chromium on PATH")
	}
	red, blue, lime := color.NRGBA{255, 0, 0, 255}, color.NRGBA{0, 0, 255, 255}, color.NRGBA{0, 255, 0, 255}
	const svg = `<svg xmlns="http://www.w3.org/2000/svg" width="40" height="40"><rect width="40" height="40" fill="#ff0000"/></svg>`
	const paint = `document.documentElement.style.background='#00ff00';document.body.style.background='#00ff00'`
	nb := &Notebook{Cells: []*Cell{
		{Type: Markdown, Source: "# Page\n\n<script>" + paint + "</script>\n\n<p onclick=\"" + paint + "\">x</p>\n"},
		{Type: Code, Source: "x", Outputs: []*Output{
			{Type: DisplayData, Data: map[string]any{"text/html": `<figure><img alt="red" src="data:image/svg+xml;base64,` + base64.StdEncoding.EncodeToString([]byte(svg)) + `"></figure>`}},
			{Type: DisplayData, Data: map[string]any{"image/png": base64.StdEncoding.EncodeToString(square(t, blue))}},
			{Type: DisplayData, Data: map[string]any{"text/html": `<img alt="" src="data:," onerror="` + paint + `"><svg onload="` + paint + `"></svg>`}},
		}},
	}}
	dir := t.TempDir()
	page, shot := filepath.Join(dir, "page.html"), filepath.Join(dir, "shot.png")
	if err := os.WriteFile(page, []byte(page1(t, nb)), 0o644); err != nil {
		t.Fatal(err)
	}
	out, err := exec.Command(browser, "--headless", "--no-sandbox", "--disable-gpu", "--user-data-dir="+filepath.Join(dir, "profile"),
		"--window-size=900,700", "--screenshot="+shot, "file://"+page).CombinedOutput()
	if err != nil {
		t.Fatalf("%s: %v\n%s", browser, err, out)
	}
	data, err := os.ReadFile(shot)
	if err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	img, err := png.Decode(bytes.NewReader(data))
	if err != nil {
		t.Fatal(err)
	}
	for _, test := range []struct {
		name string
		c    color.NRGBA
		want bool
	}{{"the SVG's red", red, true}, {"the PNG's blue", blue, true}, {"the scripts' green", lime, false}} {
		if got := count(img, test.c) > 100; got != test.want {
			t.Errorf("%s on the page: got %v, want %v", test.name, got, test.want)
		}
	}
}

func square(t *testing.T, c color.Color) []byte {
	t.Helper()
	img := image.NewNRGBA(image.Rect(0, 0, 40, 40))
	for i := range 40 * 40 {
		img.Set(i%40, i/40, c)
	}
	var b bytes.Buffer
	if err := png.Encode(&b, img); err != nil {
		t.Fatal(err)
	}
	return b.Bytes()
}

func count(img image.Image, c color.NRGBA) (n int) {
	b := img.Bounds()
	for y := b.Min.Y; y < b.Max.Y; y++ {
		for x := b.Min.X; x < b.Max.X; x++ {
			if color.NRGBAModel.Convert(img.At(x, y)) == c {
				n++
			}
		}
	}
	return n
}

package experiment_test

import (
	"bytes"
	"flag"
	"image"
	"image/png"
	"os"
	"os/exec"
	"slices"
	"strings"
	"testing"

	"halfnote/amp/experiment"
	"halfnote/internal/testenv"
	"halfnote/tensor"
)

var update = flag.Bool("update", false, "rewrite the table and the picture of the claims in docs")

// Each claim has what is seen with its spread, and the claims that must hold in exact arithmetic do. docs/formats.md has the table, so results that
// depended on the processor would fail here. With HALFNOTE_REQUIRE=long the test also runs with the other kernels of this processor, and with portable code.
func TestFormatClaims(t *testing.T) {
	if testenv.Requires("long") && os.Getenv("HALFNOTE_CPU") == "" && !*update {
		for _, tier := range []string{"portable", "avx2", "avx512"} {
			c := exec.Command(os.Args[0], "-test.run=^TestFormatClaims$")
			c.Env = append(os.Environ(), "HALFNOTE_CPU="+tier)
			if out, err := c.CombinedOutput(); err != nil && !strings.Contains(string(out), "want one of") { // a processor without it
				t.Errorf("%s: %v\n%s", tier, err, out)
			}
		}
	}
	tensor.ManualSeed(7)
	want := tensor.Rand(1).Item()
	tensor.ManualSeed(7)
	r := experiment.FormatClaims()
	if got := tensor.Rand(1).Item(); got != want {
		t.Error("the default generator has moved")
	}
	if len(r.Claims) != 10 || len(r.Rows) != 10 {
		t.Fatalf("%d claims in %d rows, want 10", len(r.Claims), len(r.Rows))
	}
	for _, c := range r.Claims {
		t.Log(c.What, c.Seen, c.Verdict)
		if len(c.Seen) < 2 || c.Source == "" || c.Claimed == "" || c.Quantity == "" {
			t.Errorf("%s: nothing to compare, or no source", c.What)
		}
		for _, m := range c.Seen {
			if m.Mean < 0 || m.Mean != m.Mean {
				t.Errorf("%s: %s is %v", c.What, m.Name, m.Mean)
			}
		}
		for _, sure := range []string{"Weight decay", "Hadamard transform helps", "E4M3", "sampler and trainer", "loss scaler", "delayed scaling"} {
			if strings.Contains(c.What, sure) && c.Verdict != "yes" {
				t.Errorf("%s: %v", c.What, c.Seen)
			}
		}
	}
	if html := r.HTML(); !strings.Contains(html, "arXiv 2509.25149") || !strings.Contains(html, "±") || !strings.Contains(html, "<img") {
		t.Error("the page lacks a source, a spread or the chart")
	}
	inDocs(t, r)
}

// inDocs compares docs/formats.md and its picture with a report, or writes them.
func inDocs(t *testing.T, r *experiment.FormatClaimsReport) {
	const page, picture, begin, end = "../../docs/formats.md", "../../docs/pictures/format-claims.png", "<!-- claims -->\n", "<!-- end -->\n"
	text, err := os.ReadFile(page)
	if err != nil {
		t.Fatal(err)
	}
	before, rest, found := strings.Cut(string(text), begin)
	old, after, closed := strings.Cut(rest, end)
	if !found || !closed {
		t.Fatalf("%s has no %q or no %q", page, begin, end)
	}
	table := r.Says + "\n\n"
	for i, row := range slices.Concat([][]string{r.Header, slices.Repeat([]string{"---"}, len(r.Header))}, r.Rows) {
		cells := " " + strings.Join(row, " | ") + " |"
		if i == 1 {
			cells = strings.Repeat("---|", len(row))
		}
		table += "|" + cells + "\n"
	}
	if *update {
		if err := os.WriteFile(page, []byte(before+begin+table+end+after), 0o644); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(picture, r.Figure.PNG(), 0o644); err != nil {
			t.Fatal(err)
		}
		return
	}
	const how = "go test ./amp/experiment -run TestFormatClaims -update"
	if old != table {
		t.Errorf("%s has another table; %s writes it. got\n%swant\n%s", page, how, old, table)
	}
	drawn, err := os.ReadFile(picture)
	if err != nil {
		t.Fatal(err)
	}
	if far := differing(t, drawn, r.Figure.PNG()); far > .001 {
		t.Errorf("%s: %.2g of the pixels differ; %s writes it", picture, far, how)
	}
}

// differing returns the share of pixels of two PNG files that differ by more than a quarter of the range.
func differing(t *testing.T, a, b []byte) float64 {
	t.Helper()
	var pictures [2]image.Image
	for i, file := range [][]byte{a, b} {
		picture, err := png.Decode(bytes.NewReader(file))
		if err != nil {
			t.Fatal(err)
		}
		pictures[i] = picture
	}
	size := pictures[0].Bounds()
	if size != pictures[1].Bounds() {
		return 1
	}
	far := 0
	for y := range size.Dy() {
		for x := range size.Dx() {
			r, _, _, _ := pictures[0].At(x, y).RGBA()
			r2, _, _, _ := pictures[1].At(x, y).RGBA()
			if max(r, r2)-min(r, r2) > 0x4000 {
				far++
			}
		}
	}
	return float64(far) / float64(size.Dx()*size.Dy())
}

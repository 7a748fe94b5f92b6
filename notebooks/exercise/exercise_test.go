package exercise_test

import (
	"fmt"
	"math"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"halfnote/notebooks/exercise"
)

func TestMain(m *testing.M) {
	os.Setenv("HALFNOTE_PROGRESS", "") // tests must not change the user's progress
	os.Exit(m.Run())
}

func TestEvaluate(t *testing.T) {
	for expression, want := range map[string]float64{
		"2^-24": math.Pow(2, -24), "2**-24": math.Pow(2, -24), "-2^2": -4, "2^3^2": 512, "2*3^2": 18, "1+2*3-4/2": 5,
		"(1 + 2) * 3": 9, "6.1e-5": 6.1e-5, "65_504": 65504, "(2 - 2^-10) * 2^15": 65504, "sqrt(16)": 4, "log2(8)": 3, "exp(0)": 1,
		"pi": math.Pi, "2e": math.NaN(), "1e400": math.Inf(1), "-inf": math.Inf(-1), "3 · 4": 12, "5 − 7": -2, "2·-3": -6, ".5": 0.5,
	} {
		got, err := exercise.Evaluate(expression, nil)
		if math.IsNaN(want) {
			if err == nil {
				t.Errorf("%s: got %g, want an error", expression, got)
			}
		} else if err != nil || got != want {
			t.Errorf("%s: got %g (%v), want %g", expression, got, err, want)
		}
	}
	for _, expression := range []string{"", "1 +", "(1", "1)", "2 3", "x", "1..2", "sqrt 4", strings.Repeat("(", 10000), strings.Repeat("-", 10000) + "1", "^2", "\xff", "log2()"} {
		if got, err := exercise.Evaluate(expression, nil); err == nil {
			t.Errorf("%.20q: got %g, want an error", expression, got)
		}
	}
}

func FuzzEvaluate(f *testing.F) {
	f.Add("(2 - 2^-10) * 2^15")
	f.Fuzz(func(t *testing.T, expression string) { exercise.Evaluate(expression, map[string]float64{"n": 3}) })
}

// TestProgress checks that guesses, hints and solved exercises survive a restart, that another kernel's are seen, and
// that an unreadable file is left as it is.
func TestProgress(t *testing.T) {
	file := filepath.Join(t.TempDir(), "folder", "progress.json")
	t.Setenv("HALFNOTE_PROGRESS", file)
	t.Cleanup(exercise.Restart)
	exercise.Restart()
	if got := exercise.Compare("05", "float32").String(); !strings.Contains(got, "It is float32. You made no guess.") {
		t.Errorf("without a guess: got %s", got)
	}
	exercise.Predict("05", "autocast")
	dtypes := []string{"float16", "float16", "float32"}
	wrong := func(s ...string) string { return exercise.Check("05.1", s).String() }
	for i, c := range []struct{ got, want string }{
		{wrong("float64", "float64", "float64"), "Hint 1 of 2"},
		{wrong("float64", "float64", "float64"), "Hint 1 of 2"}, // the same answer again
		{wrong("float16", "float32", "float32"), "ReLU is not on the float32 list"},
		{wrong("float32", "float64", "float64"), "Hint 2 of 2"},
		{wrong("float32", "float32", "float64"), "Hint 2 of 2"},
		{wrong("float32"), "Want a list of 3, not of 1."},
		{exercise.Check("05.1", nil).String(), "05.1 is open. Replace nil with your answer: "},
		{exercise.Check("05.1", dtypes).String(), "✓ 05.1 is right. "},
	} {
		if !strings.Contains(c.got, c.want) {
			t.Errorf("%d: got %s, want %s", i, c.got, c.want)
		}
	}
	exercise.Restart()
	exercise.Predict("05", "autocast bfloat16")
	page := exercise.Progress().String()
	if !strings.Contains(page, "autocast bfloat16") || !strings.Contains(page, "1 of ") {
		t.Errorf("after a restart: got\n%s", page)
	}
	if got, want := exercise.Compare("05", "autocast bfloat16").String(), "✓ Right: it is autocast bfloat16."; got != want {
		t.Errorf("got %s, want %s", got, want)
	}
	exercise.Reset("05")
	if page := exercise.Progress().String(); strings.Contains(page, "autocast") || strings.Contains(page, "1 of ") {
		t.Errorf("after Reset: got\n%s", page)
	}
	if err := os.WriteFile(file, []byte("my notes"), 0o666); err != nil {
		t.Fatal(err)
	}
	exercise.Restart()
	exercise.Check("05.1", dtypes)
	if text, _ := os.ReadFile(file); string(text) != "my notes" {
		t.Errorf("an unreadable file: got %q, want it unchanged", text)
	}
	if page := exercise.Progress().String(); !strings.Contains(page, "1 of ") {
		t.Errorf("with an unreadable file: got\n%s", page)
	}
}

// TestUnknownIDs checks that ids that do not exist are reported with those that do.
func TestUnknownIDs(t *testing.T) {
	for want, f := range map[string]func(){
		`exercise.Check: unknown exercise "05.99"; lesson 05 has 05.1, `:                   func() { exercise.Check("05.99", 1) },
		`exercise.Predict: unknown prediction "05z"; lesson 05 has "05"`:                   func() { exercise.Predict("05z", 1) },
		`exercise.Compare: unknown lesson in "loops"; want an id that starts with one of `: func() { exercise.Compare("loops", 1) },
	} {
		func() {
			defer func() {
				if got := fmt.Sprint(recover()); !strings.HasPrefix(got, want) {
					t.Errorf("got %s, want %s", got, want)
				}
			}()
			f()
		}()
	}
}

func ExampleCheck() {
	fmt.Println(exercise.Check("05.1", []string{"float16", "float32", "float32"}))
	fmt.Println(exercise.Check("05.1", []string{"float16", "float16", "float32"}).Right)
	// Output:
	// ✗ 05.1 is not right yet. ReLU is not on the float32 list. It runs in the dtype of its input, the output of linear.
	// true
}

func ExampleCompare() {
	exercise.Predict("05", "float32")
	fmt.Println(exercise.Compare("05", "autocast bfloat16"))
	// Output: ✗ Not quite: you guessed float32. It is autocast bfloat16.
}

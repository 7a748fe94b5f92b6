package exercise_test

import (
	"strings"
	"testing"

	"halfnote/notebooks/exercise"
	"halfnote/tensor"
)

// TestGuesses checks which guesses a question takes, and what Compare says of them.
func TestGuesses(t *testing.T) {
	t.Cleanup(exercise.Restart)
	for _, c := range []struct {
		id       string
		guess    any
		refused  string // part of the refusal; "" for a guess that is kept
		measured any
		want     string
	}{
		{"00", 45, "", 45, "✓ Right: it is 45."},
		{"00", "40+5", "", 45, "✓ Right: it is 45."},
		{"00", "many", `Cannot read "many" as a number`, 45, ""},
		{"00", []int{1}, "Want a number, not []int. Guess a number.", 45, ""},
		{"02", 5000, "", 2048, "✗ Not quite: you guessed 5000. It is 2048, which differs by a factor of 2.44."},
		{"03", 89, "", 12, "✗ Not quite: you guessed 89. It is 12."},
		{"05", "Autocast + Scaler", "", "autocast + scaler", "✓ Right: it is autocast + scaler."},
		{"05", "bfloat16", `"bfloat16" is not one of the choices. Guess "float32", "autocast", "autocast + scaler" or "autocast bfloat16".`, "float32", ""},
		{"06", 30, "", 28.1242604, "✓ Right: you guessed 30, and it is 28.12."},
		{"06", 10, "", 28.1242604, "✗ Not quite: you guessed 10. It is 28.12."},
		{"06", 130, "130 is not a number from 0 to 100.", 28.1, ""},
		{"09", 1e-4, "", 0.1 / 1024, "✗ Not quite: you guessed 0.0001. It is 9.766e-05, which differs by a factor of 1.02."},
		{"13", 6, "", 6, "✓ Right: it is 6."},
		{"13", 2.5, "2.5 is not a whole number from 0 to 6. Guess a whole number from 0 to 6.", 6, ""},
		{"13", 7, "7 is not a whole number from 0 to 6.", 6, ""},
		{"20", 8, "", 8.0, "✓ Right: it is 8."},
		{"20", 9, `"9" is not one of the choices. Guess 1, 8, 128 or 1024.`, 8, ""},
		{"04", []any{tensor.Float16, "float16", "FLOAT32", "float32"}, "", []string{"float16", "float16", "float32", "float16"}, "✗ Not quite: you guessed float16, float16, float32, float32. It is float16, float16, float32, float16: 3 of 4 are right."},
		{"04", []string{"float16"}, "Want a list of 4, not of 1.", nil, ""},
		{"04", []string{"float16", "float16", "half", "float16"}, `"half" is not one of the choices.`, nil, ""},
		{"14", []float64{1, 1.6}, "", []float64{1.04, 1.57}, "✓ Right: you guessed 1, 1.6, and it is 1.04, 1.57."},
	} {
		exercise.Restart()
		p := exercise.Predict(c.id, c.guess)
		if c.refused != "" {
			if p.Kept || !strings.HasPrefix(p.String(), "✗ No guess is kept. ") || !strings.Contains(p.String(), c.refused) {
				t.Errorf("%s, %v: got %t, %s; want a refusal with %s", c.id, c.guess, p.Kept, p, c.refused)
			}
			continue
		}
		got := exercise.Compare(c.id, c.measured)
		if !p.Kept || !strings.HasPrefix(got.String(), c.want) || got.Right != strings.HasPrefix(got.String(), "✓ Right") {
			t.Errorf("%s, %v: kept %t; got %s, want %s", c.id, c.guess, p.Kept, got, c.want)
		}
	}
}

package diagnose_test

import (
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"halfnote/amp/diagnose"
	"halfnote/amp/trace"
	"halfnote/internal/testenv"
	"halfnote/tensor"
	"halfnote/tensor/nn"
	"halfnote/tensor/nn/models"
)

// broken lists what the diagnoses find in the programs of testdata/torch/broken.py. torch itself says nothing about eight of them.
var broken = []struct {
	name      string
	lint      []string // codes that are found, among others
	overflow  string   // part of the text
	gradients string
}{
	{"rmsnorm", nil, "inf first appeared in mul (broken.py, line 41, module 1)", "rsqrt (broken.py, line 41, module 1) returns finite numbers for the inf of mul (broken.py, line 41, module 1)"},
	{"rmsnorm", nil, "It became finite numbers in rsqrt (broken.py, line 41, module 1)", "4 of 5 parameters have gradients computed from an inf"},
	{"mask", []string{"mask-overflow", "masked-row", "loss-not-finite"}, "It reached the loss, and the gradient of q.weight", "6 of 6 parameters have inf or NaN"},
	{"clip_before_unscale", []string{"clip-before-unscale"}, "No inf or NaN", "none is flushed"},
	{"unscale_in_accumulation", []string{"unscale-in-accumulation", "unscale-twice"}, "No inf or NaN", ""},
	{"scheduler_ahead", []string{"scheduler-on-skip"}, "It is harmless", ""},
	{"eps_lost", []string{"eps-lost", "half-parameters"}, "inf first appeared in adam (broken.py, line 116)", "4 of 4 parameters have inf or NaN"},
	{"bce", []string{"bce-autocast", "ignored-skips", "scale-below-1"}, "derivative of binary_cross_entropy (cast)", "the derivative of binary_cross_entropy (broken.py, line 129) overflows float16"},
	{"frozen_branch", nil, "No inf or NaN", "side.weight: received no gradient"},
	{"average_in_half", []string{"average-in-half"}, "No inf or NaN", ""},
	{"scale_falls", []string{"ignored-skips", "scale-below-1"}, "derivative of sqrt (div) (broken.py, line 172)", "2 of 2 parameters have inf or NaN"},
}

func TestBrokenPrograms(t *testing.T) { checkBroken(t, filepath.Join("testdata", "torch")) }

// TestBrokenProgramsAgain records the programs again.
func TestBrokenProgramsAgain(t *testing.T) {
	dir := t.TempDir()
	torch(t, "broken.py", dir)
	checkBroken(t, dir)
}

// TestRecorder runs the checks of the recorder, each of which prints its name.
func TestRecorder(t *testing.T) {
	const checks = 16
	if out := torch(t, "recorder.py"); strings.Count(out, "\n") < checks || !strings.HasSuffix(out, "refusals\n") {
		t.Errorf("recorder.py printed %q; want the names of %d checks", out, checks)
	}
}

// TestTrainers records what trainers of transformers, Lightning and accelerate run, by the callbacks of the package.
func TestTrainers(t *testing.T) {
	missing := ""
	for line := range strings.Lines(torch(t, "callbacks.py", t.TempDir())) {
		if strings.HasPrefix(line, "skipped") {
			missing += line
			continue
		}
		name, path, _ := strings.Cut(strings.TrimSpace(line), " ")
		if !strings.HasSuffix(path, ".hnt.gz") {
			continue // a table that the trainer prints
		}
		rec, err := trace.Open(path)
		if err != nil {
			t.Errorf("%s: %v", name, err)
			continue
		}
		if i := slices.IndexFunc(rec.Ops(), func(op trace.OpRecord) bool {
			return op.Name == "linear" && op.Computed == tensor.BFloat16 && op.Casts > 0
		}); i < 0 || len(rec.Parameters) < 4 {
			t.Errorf("%s: no linear layer in bfloat16 with casts, or %d parameters", name, len(rec.Parameters))
		}
	}
	if missing != "" {
		testenv.Missing(t, "trainers", "needs the packages of testdata/torch/requirements.txt; HALFNOTE_REQUIRE=trainers makes this a failure: ", missing)
	}
}

// torch runs a Python file with PyTorch and the package halfnote, and returns what it prints.
func torch(t *testing.T, file string, args ...string) string {
	t.Helper()
	python := testenv.Python(t)
	if out, err := exec.Command(python, "-c", "import torch").CombinedOutput(); err != nil {
		testenv.Missing(t, "torch", "needs a Python with PyTorch: name it in PYTHON; HALFNOTE_REQUIRE=torch makes this a failure: ", err, "\n", string(out))
	}
	cmd := exec.Command(python, append([]string{filepath.Join("testdata", "torch", file)}, args...)...)
	cmd.Env = append(os.Environ(), "PYTHONPATH="+filepath.Join("..", "..", "install", "jupyter"))
	var failed strings.Builder
	cmd.Stderr = &failed
	out, err := cmd.Output()
	if err != nil {
		t.Fatalf("%s: %v\n%s", file, err, failed.String())
	}
	return string(out)
}

func checkBroken(t *testing.T, dir string) {
	for _, want := range broken {
		t.Run(want.name, func(t *testing.T) {
			rec, err := trace.Open(filepath.Join(dir, want.name+".hnt.gz"))
			if err != nil {
				t.Fatal(err)
			}
			lint, overflow, gradients := diagnose.LintIn(rec), diagnose.OverflowIn(rec), diagnose.GradientsIn(rec)
			for _, code := range want.lint {
				if !slices.Contains(lint.Codes(), code) {
					t.Errorf("lint finds %q; want %s among them", lint.Codes(), code)
				}
			}
			if !strings.Contains(overflow.String(), want.overflow) {
				t.Errorf("overflow: %v\nwant %q", overflow, want.overflow)
			}
			if !strings.Contains(gradients.String(), want.gradients) {
				t.Errorf("gradients: %v\nwant %q", gradients, want.gradients)
			}
			if !strings.Contains(overflow.String()+gradients.String()+lint.String(), "diagnose.") {
				return
			}
			t.Errorf("advice in halfnote's words, not in torch's: %v\n%v\n%v", overflow, gradients, lint)
		})
	}
}

// TestRecordedRules compares the page's table with the rules.
func TestRecordedRules(t *testing.T) {
	page, err := os.ReadFile(filepath.Join("..", "..", "docs", "pytorch.md"))
	if err != nil {
		t.Fatal(err)
	}
	_, table, _ := strings.Cut(string(page), "| checked | ")
	checked, rest, _ := strings.Cut(table, " |\n")
	_, left, _ := strings.Cut(rest, "| not checked | ")
	left, _, _ = strings.Cut(left, " |\n")
	if got := strings.Split(checked, ", "); !slices.Equal(got, diagnose.RecordedRules) {
		t.Errorf("docs/pytorch.md has the rules %q; want %q", got, diagnose.RecordedRules)
	}
	for _, code := range diagnose.RuleCodes() {
		if in := slices.Contains(diagnose.RecordedRules, code); in == strings.Contains(left, code+" (") {
			t.Errorf("%s is in both rows of docs/pytorch.md, or in none", code)
		}
	}
}

// TestRecordingsDoNotRun checks the errors of diagnoses that run a model again.
func TestRecordingsDoNotRun(t *testing.T) {
	rec, err := trace.Open(filepath.Join("testdata", "torch", "mask.hnt.gz"))
	if err != nil {
		t.Fatal(err)
	}
	for name, f := range map[string]func(){
		"diagnose.OverflowIn(rec)":  func() { diagnose.Overflow(rec, func() {}) },
		"diagnose.GradientsIn(rec)": func() { diagnose.Gradients(rec, func() {}) },
		"diagnose.LintIn(rec)":      func() { diagnose.Lint(rec.Recorder, func() {}) },
		"pass that":                 func() { diagnose.NewReplay(rec) },
		"nn.LoadStateDictPartly":    func() { diagnose.NewRewind(rec) },
		"net is a recording, whose": func() {
			diagnose.MinimalFP32Set(rec, func() *tensor.Tensor { return nil }, diagnose.PrecisionSetOptions{})
		},
		"OverflowIn: the recording is nil": func() { diagnose.OverflowIn(nil) },
	} {
		func() {
			defer func() {
				if err, _ := recover().(error); err == nil || !strings.Contains(err.Error(), name) {
					t.Errorf("got %v; want %q", err, name)
				}
			}()
			f()
		}()
	}
}

// TestModelOfARecording checks the model in Go that is offered for a recorded one: the first three were recorded in PyTorch, the parameters of the others are
// those of package models.
func TestModelOfARecording(t *testing.T) {
	opened := func(path ...string) *trace.Recording {
		rec, err := trace.Open(filepath.Join(path...))
		if err != nil {
			t.Fatal(err)
		}
		return rec
	}
	like := func(net any) *trace.Recording {
		rec := &trace.Recording{Recorder: &trace.Recorder{}}
		for _, p := range nn.NamedParameters(net) {
			rec.Parameters = append(rec.Parameters, trace.RecordedParameter{Name: p.Name, Shape: p.Tensor.Shape()})
		}
		return rec
	}
	for want, rec := range map[string]*trace.Recording{
		"nn.NewSequential(nn.NewLinear(8, 16), nn.NewReLU(), nn.NewLinear(16, 16), nn.NewReLU(), nn.NewLinear(16, 1))": opened("..", "trace", "testdata", "blog.hnt.gz"),
		"build the model with package nn":                                        opened("testdata", "torch", "rmsnorm.hnt.gz"), // a layer of the program's
		"call diagnose.LintIn(rec), or build the model":                          opened("testdata", "torch", "mask.hnt.gz"),
		"models.NewResNet18(models.ResNetOptions{Classes: 10, SmallStem: true})": like(models.NewResNet18(models.ResNetOptions{Classes: 10, SmallStem: true})),
		"models.NewBERTClassifier(models.BERTConfig{Vocabulary: 50, Hidden: 8, Layers: 2, Heads: …, Intermediate: 16, Positions: 12, Types: 2}, 3)": like(models.NewBERTClassifier(models.BERTConfig{Vocabulary: 50, Hidden: 8, Layers: 2, Heads: 2, Intermediate: 16, Positions: 12, Types: 2}, 3)),
	} {
		func() {
			defer func() {
				if err, _ := recover().(error); err == nil || !strings.Contains(err.Error(), want) {
					t.Errorf("got %v; want %q", err, want)
				}
			}()
			diagnose.Lint(rec, func() {})
		}()
	}
}

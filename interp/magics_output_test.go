package interp

import (
	"context"
	"errors"
	"strings"
	"testing"
	"time"

	"halfnote/display"
	"halfnote/kernel/eval"
)

// fakeOutputs keeps the outputs of two cells of the kernel before this one, and of one of this kernel.
type fakeOutputs struct{}

func (fakeOutputs) Cells(back int) ([]eval.KeptCell, error) {
	switch back {
	case 0:
		return []eval.KeptCell{{Count: 7, Source: "train()\nmore", Took: 20 * time.Second, Lines: 1, Displays: 1}}, nil
	case 1:
		return []eval.KeptCell{{Count: 1, Source: strings.Repeat("long ", 20), Lines: 2}, {Count: 3, Source: "x", Took: time.Second, Displays: 2, Failed: "Panic"}}, nil
	case 2:
		return nil, nil
	}
	return nil, errors.New("the file is gone")
}

func (fakeOutputs) Outputs(back, count int) ([]eval.KeptOutput, error) {
	if back == 0 {
		return []eval.KeptOutput{{Stream: "stdout", Text: "epoch 1\n"}, {Bundle: display.Text("a chart")}}, nil
	}
	return []eval.KeptOutput{{Stream: "stderr", Text: "warned\n"}, {Err: &eval.Error{Name: "Panic", Traceback: []string{"Panic: p", "line"}}}}, nil
}

// TestOutput checks what %output prints.
func TestOutput(t *testing.T) {
	s := newSession(t)
	if got := evalFor(t, s, 1, "%output", ""); !strings.Contains(got, "HALFNOTE_HISTORY") {
		t.Errorf("without kept outputs: got %q", got)
	}
	s.kept = fakeOutputs{}
	for i, tt := range []struct{ code, want string }{
		{"%output", "%output 7  20 s  1 line, 1 display  train()\n"},
		{"%output ~1", "%output ~1/1  unfinished  2 lines            long long long long long long long long long long long long…\n%output ~1/3  1 s         2 displays, Panic  x\n"},
		{"%output ~2", "no cell of a kernel ~2 has output; %output ~3 lists those of the kernel before\n"},
		{"%output 7", "epoch 1\ndisplay a chart\n"},
		{"x := 2\n%output ~1/3\nx", "stderr: warned\nstderr: Panic: p\nstderr: line\n= 2\n"},
		{"%output 1-9", "epoch 1\ndisplay a chart\n"},
		{"%output 8", "MagicError\nIn[9], line 1, column 1: %output 8: no output of In[8] is kept; %output lists the cells that have output\n"},
		{"%output ~9", "MagicError\nIn[10], line 1, column 1: %output ~9: the file is gone\n"},
		{"%output ~", "MagicError\nIn[11], line 1, column 1: %output ~: want ~1 for the kernel before this one, got ~\n"},
		{"%output all", "MagicError\nIn[12], line 1, column 1: %output all: want the numbers of cells, such as 3, 2-4 or ~1/3, got all\n"},
	} {
		if got := evalFor(t, s, i+3, tt.code, ""); !strings.HasPrefix(got, tt.want) {
			t.Errorf("%s: got\n%q\nwant\n%q", tt.code, got, tt.want)
		}
	}
	rec := &recorder{}
	r := s.Eval(context.Background(), eval.Cell{Code: "1", Count: 30, Missed: 7}, rec)
	if got := rec.text(r); !strings.Contains(got, "%output 7 shows its output here") {
		t.Errorf("a cell of another window: got %q, want a notice of In[7]", got)
	}
}

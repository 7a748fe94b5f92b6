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

func (fakeOutputs) Sources(back int) ([]eval.KeptCell, error) {
	switch back {
	case 1:
		return []eval.KeptCell{
			{Count: 1, Source: "width := 3\n"}, {Count: 2, Source: "height := width *", Failed: "CompileError"}, {Count: 3, Source: "height := width * 2\nheight"},
			{Count: 4, Source: "width = 10\nfmt.Println(width)"}, {Count: 5, Source: "%rerun ~1"},
		}, nil
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
		{"%output ~2", "Nothing to show of a kernel ~2; %output ~3 lists the outputs of the one before it.\n"},
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

// TestRerunBefore checks the error for a name of the kernel before, and how cells of that kernel run again.
func TestRerunBefore(t *testing.T) {
	s := newSession(t)
	if got := evalFor(t, s, 1, "%rerun ~1", ""); !strings.Contains(got, "HALFNOTE_HISTORY") {
		t.Errorf("without kept cells: got %q", got)
	}
	s.UseOutputs(fakeOutputs{})
	for i, c := range []struct{ code, want string }{
		{"height + 1", "In[3] of the kernel before this one declares it: %rerun ~1/3 runs that cell again, %rerun ~1 all of them"},
		{"depth + 1", "undefined: depth"},
		{"%rerun ~1/1 ~1/3", "= 6"},
		{"%rerun ~1", "10\n"},
		{"height + width", "= 16"},
		{"%rerun ~1/3-4", "10\n"},
		{"%rerun 4 ~1/3", "display 6\n= 6"},
		{"%rerun ~1/9", "no cell of this notebook's kernel ~1 is kept"},
		{"%rerun ~2", "no cell of this notebook's kernel ~2 is kept"},
		{"%rerun ~3", "the file is gone"},
		{"%rerun ~0", "want ~1 for the kernel before this one, got ~0"},
		{"%rerun ~1/x", "want the numbers of cells, such as ~1/3 or ~1/2-4, got ~1/x"},
	} {
		got := evalFor(t, s, i+2, c.code, "")
		if !strings.Contains(got, c.want) || strings.Contains(c.want, "depth") && strings.Contains(got, "kernel before") {
			t.Errorf("%s: got\n%s\nwant\n%s", c.code, got, c.want)
		}
	}
}

package receipt

import (
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"
)

// TestCompare compares sessions with a book of five cells.
func TestCompare(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 2))
	weight := func(last uint64) Digest { return digestOf(r, "int32", []int{3}, []uint64{1, 2, last}) }
	sources := []string{"guess(nil)", "w := weights()", "fmt.Println(w)\n// twice", "time()", "%receipt book.ipynb"}
	shown := [][]Output{{{Text: "Guess."}}, nil, {{"stdout", "1\n2 3\n"}}, {{"stdout", "3 ms\n"}}, {{Text: "same"}}}
	book := &Book{&Receipt{Version: Version, Release: "1.0"}, map[string]string{}}
	for i, s := range sources {
		e := Entry{Source: Hash(s)}
		if e.State.Timed = i > 2; !e.State.Timed {
			for _, o := range shown[i] {
				e.Outputs = append(e.Outputs, o.Hash())
				book.outputs[o.Hash()] = o.Text
			}
		}
		if i == 1 {
			e.State.Tensors = map[string]string{"w": weight(3).String()}
		}
		book.Receipt.Cells = append(book.Receipt.Cells, e)
	}
	ran := func(cells ...int) (list []Run) {
		for n, i := range cells {
			list = append(list, Run{n + 1, sources[i], shown[i]})
		}
		return list
	}
	changed := func(list []Run, at int, source string, outputs ...Output) []Run {
		if source != "" {
			list[at].Source = source
		}
		list[at].Outputs = outputs
		return list
	}
	for _, tt := range []struct {
		name string
		runs []Run
		last uint64 // element of the tensor
		want string
	}{
		{"nothing", ran(4), 3, "No cell of the notebook has run yet."},
		{"all", ran(0, 1, 2, 3, 4), 3, "Your numbers are the book's: all 5 cells ran, and 2 outputs and 1 tensor agree to the last bit.\nThe outputs of 1 cell are not compared: they show times."},
		{"twice", ran(0, 1, 2, 3, 2, 4), 3, "Your numbers are the book's: all 5 cells ran,"},
		{"other times", changed(ran(0, 1, 2, 3, 4), 3, "", Output{"stdout", "4 ms\n"}), 3, "Your numbers are the book's: all 5 cells ran,"},
		{"two cells", ran(0, 1, 4), 3, "Your numbers are the book's in the 3 cells of 5 that ran as they stand there: 1 output and 1 tensor agree to the last bit."},
		{"a guess", changed(ran(0, 1, 2, 3, 4), 0, "guess(3)", Output{Text: "You guess 3."}), 3, "Your numbers are the book's in the 4 cells of 5 that ran as they stand there: 1 output and 1 tensor agree to the last bit.\n1 cell is yours:\n  In[1] guess(3)\nThe outputs of 1 cell"},
		{"another output", changed(ran(0, 1, 2, 3, 4), 2, "", Output{"stdout", "1\n2 4\n"}), 3, "Your numbers part from the book's.\n  In[3] fmt.Println(w) …: output 1, line 2: \"2 4\"; the book has \"2 3\"\nhalfnote verify runs the notebook"},
		{"an error", changed(ran(0, 1, 2, 3, 4), 2, "", Output{"error", "Panic: no"}), 3, "Your numbers part from the book's.\n  In[3] fmt.Println(w) …: output 1, line 1: \"Panic: no\"; the book has \"1\"\n"},
		{"no output", changed(ran(0, 1, 2, 3, 4), 2, ""), 3, "In[3] fmt.Println(w) …: 0 outputs; the book has 1\n"},
		{"another tensor", ran(0, 1, 2, 1, 3, 4), 4, "Your numbers part from the book's.\n  In[4] w := weights(): w: element [2] is 4; in the book 3; no other element differs\nIn[4] w := weights() ran 2 times.\nIn[4] ran after In[3], which follows it in the book.\n"},
		{"a missing cell", changed(ran(0, 2, 4), 1, "", Output{"stdout", "0\n"}), 3, "Before In[2] the book has 1 cell that did not run as it stands there.\n"},
	} {
		s := Session{Release: "1.0", Runs: tt.runs, Tensor: func(string) (Digest, func(int) uint64, bool) {
			return weight(tt.last), func(int) uint64 { return tt.last }, true
		}}
		got := book.Compare(s)
		if !strings.Contains(got+"\n", tt.want) {
			t.Errorf("%s: got\n%s\nwant\n%s", tt.name, got, tt.want)
		}
	}
	other := book.Compare(Session{Release: "2.0", Runs: changed(ran(0, 1, 2), 2, ""), Tensor: func(string) (d Digest, at func(int) uint64, ok bool) { return d, at, false }})
	for _, want := range []string{"w does not exist", "The receipt is of halfnote 1.0, and this is 2.0"} {
		if !strings.Contains(other, want) {
			t.Errorf("got\n%s\nwant %q", other, want)
		}
	}
}

// TestReadBook reads a notebook whose texts are lists of lines and single texts.
func TestReadBook(t *testing.T) {
	r := Receipt{Version: Version, Cells: []Entry{{Source: Hash("x"), Outputs: []string{Output{"stdout", "a\nb\n"}.Hash(), Output{Text: "c"}.Hash(), Output{"error", "Panic: d"}.Hash()}}}}
	r.Cells[0].Chain = r.Cells[0].Chained("")
	file := func(chain string) []byte {
		return fmt.Appendf(nil, `{"metadata": {"halfnote": {"receipt": {"version": 1, "cells": [{"source": %q, "outputs": [%q, %q, %q], "state": {}, "chain": %q}]}}},
			"cells": [{"cell_type": "markdown", "source": []}, {"outputs": [{"output_type": "stream", "name": "stdout", "text": ["a\n", "b\n"]},
			{"output_type": "execute_result", "data": {"text/plain": "c", "application/x": {}}}, {"output_type": "error", "ename": "Panic", "evalue": "d"}]}]}`,
			r.Cells[0].Source, r.Cells[0].Outputs[0], r.Cells[0].Outputs[1], r.Cells[0].Outputs[2], chain)
	}
	book, err := ReadBook(file(r.Cells[0].Chain))
	if err != nil {
		t.Fatal(err)
	}
	for i, want := range []string{"a\nb\n", "c", "Panic: d"} {
		if got := book.outputs[r.Cells[0].Outputs[i]]; got != want {
			t.Errorf("output %d: got %q, want %q", i+1, got, want)
		}
	}
	for text, want := range map[string]string{
		string(file("0")): "the receipt has been changed", "{": "not a notebook", `{"metadata": {}}`: "it has no receipt",
		`{"metadata": {"halfnote": {"receipt": {"version": 9}}}}`: "has version 9",
	} {
		if _, err := ReadBook([]byte(text)); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: got %v, want %q", text, err, want)
		}
	}
}

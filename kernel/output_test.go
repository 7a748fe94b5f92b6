package kernel

import (
	"math"
	"testing"

	"halfnote/display"
)

func TestWholeRunes(t *testing.T) {
	for _, tt := range []struct {
		in   string
		want int
	}{
		{"", 0}, {"abc", 3}, {"é", 2}, {"a\xc3", 1}, {"世", 3}, {"a世\xe4\xb8", 4}, {"🙂", 4}, {"a\xf0\x9f\x99", 1}, {"\xf0", 0},
		{"\xff", 1}, {"a\x80\x80\x80\x80", 5}, // not UTF-8: nothing to wait for
	} {
		if got := wholeRunes([]byte(tt.in)); got != tt.want {
			t.Errorf("wholeRunes(%q) = %d, want %d", tt.in, got, tt.want)
		}
	}
}

func TestWholeLines(t *testing.T) {
	for _, tt := range []struct {
		in   string
		want int
	}{
		{"", 0}, {"a\nb\n", 4}, {"one\ntwo\nth", 8}, {"one\na long line", 15}, {"one\na long lin\xc3", 14},
	} {
		if got := wholeLines([]byte(tt.in)); got != tt.want {
			t.Errorf("wholeLines(%q) = %d, want %d", tt.in, got, tt.want)
		}
	}
}

func TestBundleLeavesOutValuesThatAreNotJSON(t *testing.T) {
	data, metadata := bundle(display.Bundle{Data: map[string]any{
		"application/json": map[string]any{"loss": math.Inf(1)}, "text/html": "<b>", "text/plain": func() {},
	}})
	got := string(mustEncode(object{"data": data, "metadata": metadata}))
	const want = `{"data":{"text/html":"<b>","text/plain":"json: unsupported type: func()"},"metadata":{}}`
	if got != want {
		t.Errorf("got %s, want %s", got, want)
	}
}

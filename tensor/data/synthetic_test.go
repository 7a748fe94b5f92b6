package data_test

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"halfnote/tensor"
	"halfnote/tensor/data"
)

// TestSyntheticCIFAR checks that the images are the same on every machine, and that they show
// their class: its stripes fit better than those of all other classes.
func TestSyntheticCIFAR(t *testing.T) {
	set := data.SyntheticCIFAR(200, 7)
	var b bytes.Buffer
	for _, f := range set.Fields {
		if _, err := f.WriteTo(&b); err != nil {
			t.Fatal(err)
		}
	}
	sum := sha256.Sum256(b.Bytes())
	if got, want := hex.EncodeToString(sum[:6]), "c00463f38f3e"; got != want {
		t.Errorf("hash of the images: got %s, want %s", got, want)
	}
	x, y := set.Fields[0], set.Fields[1]
	if !slices.Equal(x.Shape(), []int{200, 3, 32, 32}) || x.DType() != tensor.Uint8 || y.DType() != tensor.Int64 {
		t.Fatalf("got %v of %v and %v of %v", x.DType(), x.Shape(), y.DType(), y.Shape())
	}
	counts := map[int]int{}
	for i, class := range y.Ints() {
		counts[class]++
		red, blue := x.Select(0, i).Select(0, 0).To(tensor.Float32).Mean().Item(), x.Select(0, i).Select(0, 2).To(tensor.Float32).Mean().Item()
		if (red > blue) != (class < 5) {
			t.Errorf("image %d of class %d: got %v red and %v blue", i, class, red, blue)
		}
	}
	if len(counts) != 10 {
		t.Errorf("counts of the classes: got %v", counts)
	}
	path := filepath.Join(t.TempDir(), "data_batch_1.bin")
	if err := data.SaveCIFAR10(path, x, y); err != nil {
		t.Fatal(err)
	}
	again, err := data.LoadCIFAR10(path, true)
	if err != nil || !tensor.Equal(again.Fields[0], x) || !tensor.Equal(again.Fields[1], y) {
		t.Errorf("saved and loaded: got %v", err)
	}
}

func TestSyntheticTweets(t *testing.T) {
	texts, labels := data.SyntheticTweets(300, 3)
	again, _ := data.SyntheticTweets(300, 3)
	other, _ := data.SyntheticTweets(300, 4)
	if !slices.Equal(texts, again) || slices.Equal(texts, other) || len(labels) != 300 {
		t.Error("equal seeds gave different texts, or different seeds equal ones")
	}
	sum := sha256.Sum256([]byte(strings.Join(texts, "\n")))
	if got, want := hex.EncodeToString(sum[:6]), "1a675dccf44f"; got != want {
		t.Errorf("hash of the texts: got %s, want %s", got, want)
	}
	if n := strings.Count(fmt.Sprint(labels), "1"); n < 100 || n > 200 {
		t.Errorf("got %d friendly texts of 300", n)
	}
	vocabulary := data.Vocabulary(texts, 100)
	tok, err := data.NewTokenizer(vocabulary)
	if err != nil {
		t.Fatal(err)
	}
	for _, text := range texts {
		if e := tok.Encode(text, data.TextOptions{}); slices.Contains(e.Tokens, "[UNK]") {
			t.Errorf("%q: got tokens %q", text, e.Tokens)
		}
	}
	if !slices.Contains(vocabulary, "phone") || len(vocabulary) != 100 || len(data.Vocabulary(nil, 0)) != 5 {
		t.Errorf("got vocabulary %q", vocabulary)
	}
	if cased := data.Vocabulary([]string{"É"}, 99, data.Cased()); !slices.Equal(cased[5:], []string{"É", "##É"}) {
		t.Errorf("with capitals: got vocabulary %q", cased)
	}
}

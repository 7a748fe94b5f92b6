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

// TestSyntheticCIFAR says that the images are the same everywhere, and that a class can
// be told from them: of all classes, its stripes fit an image best.
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
		t.Errorf("the hash of the images is %s, want %s", got, want)
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
			t.Errorf("image %d of class %d has %v red and %v blue", i, class, red, blue)
		}
	}
	if len(counts) != 10 {
		t.Errorf("classes come so often: %v", counts)
	}
	path := filepath.Join(t.TempDir(), "data_batch_1.bin")
	if err := data.SaveCIFAR10(path, x, y); err != nil {
		t.Fatal(err)
	}
	again, err := data.LoadCIFAR10(path, true)
	if err != nil || !tensor.Equal(again.Fields[0], x) || !tensor.Equal(again.Fields[1], y) {
		t.Errorf("read back: %v", err)
	}
}

func TestSyntheticTweets(t *testing.T) {
	texts, labels := data.SyntheticTweets(300, 3)
	again, _ := data.SyntheticTweets(300, 3)
	other, _ := data.SyntheticTweets(300, 4)
	if !slices.Equal(texts, again) || slices.Equal(texts, other) || len(labels) != 300 {
		t.Error("the texts do not depend on the seed alone")
	}
	sum := sha256.Sum256([]byte(strings.Join(texts, "\n")))
	if got, want := hex.EncodeToString(sum[:6]), "1a675dccf44f"; got != want {
		t.Errorf("the hash of the texts is %s, want %s", got, want)
	}
	if n := strings.Count(fmt.Sprint(labels), "1"); n < 100 || n > 200 {
		t.Errorf("%d of 300 are friendly", n)
	}
	vocabulary := data.Vocabulary(texts, 100)
	tok, err := data.NewTokenizer(vocabulary)
	if err != nil {
		t.Fatal(err)
	}
	for _, text := range texts {
		if e := tok.Encode(text, data.TextOptions{}); slices.Contains(e.Tokens, "[UNK]") {
			t.Errorf("%q is %q", text, e.Tokens)
		}
	}
	if !slices.Contains(vocabulary, "phone") || len(vocabulary) != 100 || len(data.Vocabulary(nil, 0)) != 5 {
		t.Errorf("the vocabulary is %q", vocabulary)
	}
	if cased := data.Vocabulary([]string{"É"}, 99, data.Cased()); !slices.Equal(cased[5:], []string{"É", "##É"}) {
		t.Errorf("with capitals: %q", cased)
	}
}

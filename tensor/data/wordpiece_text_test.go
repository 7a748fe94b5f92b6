package data

import (
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"os"
	"slices"
	"strings"
	"testing"
	"unicode"
)

// newer lists the blocks of 256 characters in which the package tokenizers, with classes of
// Unicode 8 and lower case of Unicode 16, differs from Go's Unicode 15: marks, punctuation and
// format characters added later.
var newer = map[string][]int{
	"uncased": {6, 7, 8, 9, 10, 11, 12, 13, 14, 22, 23, 24, 26, 27, 28, 29, 46, 167, 168, 169, 269, 270, 271, 272, 273, 274, 275, 276, 278, 280, 281, 282, 283, 284, 285, 286, 287, 303, 308, 366, 367, 463, 480, 481, 482, 484, 489},
	"cased":   {6, 8, 9, 10, 12, 22, 27, 46, 270, 271, 272, 273, 276, 278, 280, 281, 282, 283, 284, 286, 287, 303, 308, 366, 367, 489},
}

// TestCharacters compares the treatment of every character below 0x30000 with that of the
// package tokenizers.
func TestCharacters(t *testing.T) {
	if unicode.Version != "15.0.0" {
		t.Skipf("the list of differences is for Unicode 15, not %s", unicode.Version)
	}
	text, err := os.ReadFile("testdata/tokenizer.json")
	if err != nil {
		t.Fatal(err)
	}
	var f struct{ Blocks map[string][]string }
	if err := json.Unmarshal(text, &f); err != nil {
		t.Fatal(err)
	}
	for name, hashes := range f.Blocks {
		var differ []int
		for block, want := range hashes {
			h := sha256.New()
			for c := rune(256 * block); c < rune(256*block+256); c++ {
				if c >= 0xd800 && c < 0xe000 {
					continue
				}
				for _, w := range words("a"+string(c)+"b", name == "uncased") {
					h.Write([]byte(w + "\n"))
				}
			}
			if got := hex.EncodeToString(h.Sum(nil)); !strings.HasPrefix(got, want) {
				differ = append(differ, block)
			}
		}
		if !slices.Equal(differ, newer[name]) {
			t.Errorf("%s: blocks %#v differ, want %#v", name, differ, newer[name])
		}
	}
}

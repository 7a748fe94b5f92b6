package data_test

import (
	"os"
	"path/filepath"
	"reflect"
	"strings"
	"testing"

	"halfnote/tensor"
	"halfnote/tensor/data"
)

// encoded is an encoding in testdata/tokenizer.json, made by tokenizer.py with the package
// tokenizers.
type encoded struct {
	Tokens           []string
	IDs, Types, Mask []int
}

type tokenized struct {
	Vocabulary []string
	Tokens     [][]int
	Decoded    []string
	Pairs      []struct {
		First, Second, Most int
		One, Two            encoded
	}
	Batch []encoded
}

type tokenizerFile struct {
	Texts          []string
	Uncased, Cased tokenized
	Blocks         map[string][]string
}

func TestTokenizer(t *testing.T) {
	var f tokenizerFile
	readJSON(t, "tokenizer.json", &f)
	for name, c := range map[string]tokenized{"uncased": f.Uncased, "cased": f.Cased} {
		var options []data.TokenizerOption
		if name == "cased" {
			options = append(options, data.Cased())
		}
		tok, err := data.NewTokenizer(c.Vocabulary, options...)
		if err != nil {
			t.Fatal(err)
		}
		for i, text := range f.Texts {
			e := tok.Encode(text, data.TextOptions{Plain: true})
			if !same(e.IDs, c.Tokens[i]) {
				t.Errorf("%s: %q: got %q %v, want %v", name, text, e.Tokens, e.IDs, c.Tokens[i])
			}
			if got := tok.Decode(c.Tokens[i]); got != c.Decoded[i] {
				t.Errorf("%s: %q decoded: got %q, want %q", name, text, got, c.Decoded[i])
			}
		}
		for _, p := range c.Pairs {
			o := data.TextOptions{MaxLength: p.Most}
			compareEncoding(t, f.Texts[p.First], p.Most, tok.Encode(f.Texts[p.First], o), p.One)
			compareEncoding(t, f.Texts[p.First]+" | "+f.Texts[p.Second], p.Most, tok.EncodePair(f.Texts[p.First], f.Texts[p.Second], o), p.Two)
		}
		batch := tok.EncodeAll(f.Texts[3:12], data.TextOptions{})
		for i, want := range c.Batch {
			got := encoded{want.Tokens, batch.IDs.Select(0, i).Ints(), batch.Types.Select(0, i).Ints(), batch.Mask.Select(0, i).Ints()}
			if !reflect.DeepEqual(got, want) {
				t.Errorf("%s: row %d of a batch: got %v, want %v", name, i, got, want)
			}
		}
	}
}

func compareEncoding(t *testing.T, text string, most int, got data.Encoding, want encoded) {
	t.Helper()
	if !reflect.DeepEqual(encoded(got), want) {
		t.Errorf("%q, at most %d tokens: got %v, want %v", text, most, got, want)
	}
}

func vocabulary(more ...string) []string {
	return append([]string{"[PAD]", "[UNK]", "[CLS]", "[SEP]"}, more...)
}

func TestTokenizerFile(t *testing.T) {
	path := file(t, "vocab.txt", []byte(strings.Join(vocabulary("un", "##aff", "##able", "!"), "\r\n")))
	tok, err := data.LoadTokenizer(path)
	if err != nil {
		t.Fatal(err)
	}
	again := filepath.Join(t.TempDir(), "vocab.txt")
	if err := tok.Save(again); err != nil {
		t.Fatal(err)
	}
	if text, _ := os.ReadFile(again); string(text) != "[PAD]\n[UNK]\n[CLS]\n[SEP]\nun\n##aff\n##able\n!\n" {
		t.Errorf("wrote %q", text)
	}
	if got := tok.Tokenize("Unaffable! affable"); !same(got, []string{"un", "##aff", "##able", "!", "[UNK]"}) {
		t.Errorf("got %q", got)
	}
	if tok.Len() != 8 || tok.ID("un") != 4 || tok.ID("no") != 1 || tok.Token(5) != "##aff" || tok.Token(8) != "[UNK]" || tok.Token(-1) != "[UNK]" {
		t.Error("ID and Token are not inverses")
	}
	// The vocabulary lacks [MASK], so the text [MASK] is three words.
	if got := tok.Tokenize("[MASK]"); len(got) != 3 {
		t.Errorf("got %q", got)
	}
	pairs := tok.EncodePairs([]string{"un", "unaffable"}, []string{"!", "!!"}, data.TextOptions{PadTo: 9})
	if got := pairs.Types.Ints(); !same(got, []int{0, 0, 0, 1, 1, 0, 0, 0, 0, 0, 0, 0, 0, 0, 1, 1, 1, 0}) {
		t.Errorf("got types %v", got)
	}
	if empty := tok.EncodeAll(nil, data.TextOptions{}); !same(empty.IDs.Shape(), []int{0, 0}) {
		t.Errorf("an empty list of texts: got shape %v", empty.IDs.Shape())
	}
}

func TestTokenizerErrors(t *testing.T) {
	for want, text := range map[string]string{
		`line 3: found ""; want a token without white space`:                         "[PAD]\n[UNK]\n\n[CLS]\n",
		`line 2: found "a b "; want a token without white space`:                     "[PAD]\na b \n",
		`line 2: found "\xff"; want UTF-8`:                                           "[PAD]\n\xff\n",
		`line 4: found "a", which is also on line 2; want a different token`:         "[PAD]\na\nb\na\n",
		`line 3: found the end of the file; want a line [CLS] bef`:                   "[PAD]\n[UNK]\n",
		`line 1: found a line that is too long; want a token of at most 65536 bytes`: strings.Repeat("x", 1<<17),
	} {
		path := file(t, "vocab.txt", []byte(text))
		if _, err := data.LoadTokenizer(path); err == nil || !strings.Contains(err.Error(), "data: vocabulary: "+path+": "+want) {
			t.Errorf("got error %v, want %s", err, want)
		}
	}
	for want, list := range map[string][]string{
		`token "a" has the ids 4 and 6; want each token once`: vocabulary("a", "b", "a"),
		"[SEP] is missing among 3 tokens; want":               vocabulary()[:3],
	} {
		if _, err := data.NewTokenizer(list); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("got error %v, want %s", err, want)
		}
	}
	tok, _ := data.NewTokenizer(vocabulary())
	for want, f := range map[string]func(){
		"MaxLength 2, PadTo 0; want at least 0, and at least 3": func() { tok.EncodePair("a", "b", data.TextOptions{MaxLength: 2}) },
		"MaxLength 0, PadTo -1; want at least 0":                func() { tok.Encode("a", data.TextOptions{PadTo: -1}) },
		"1 first texts, 0 second texts; want equal":             func() { tok.EncodePairs([]string{"a"}, nil, data.TextOptions{}) },
	} {
		if err := tensor.Try(f); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("got error %v, want %s", err, want)
		}
	}
}

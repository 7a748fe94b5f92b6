package data

import (
	"bufio"
	"errors"
	"fmt"
	"io"
	"strings"
	"unicode/utf8"

	"halfnote/internal/save"
)

// Special tokens: every BERT vocabulary has the first four, and most have the last.
const (
	padToken     = "[PAD]"
	unknownToken = "[UNK]"
	clsToken     = "[CLS]"
	sepToken     = "[SEP]"
	maskToken    = "[MASK]"
)

var specials = []string{padToken, unknownToken, clsToken, sepToken, maskToken}

// Tokenizer splits texts into tokens as BERT does: words are cut into the longest pieces in a
// vocabulary (Y. Wu and others, "Google's Neural Machine Translation System", 2016, section
// 4.1). It is transformers.BertTokenizer. Its methods may be called from several goroutines
// at once.
type Tokenizer struct {
	tokens  []string // tokens by id
	ids     map[string]int
	longest int // length of the longest token in bytes
	cased   bool
}

// TokenizerOption configures a Tokenizer.
type TokenizerOption func(*Tokenizer)

// Cased keeps capital letters and accents, for cased vocabularies; by default both are
// dropped.
func Cased() TokenizerOption { return func(t *Tokenizer) { t.cased = true } }

// NewTokenizer returns a tokenizer with a vocabulary, in which a token's index is its id.
// Pieces that continue a word begin with ##. The error names a duplicate token, or the one of
// [PAD], [UNK], [CLS] and [SEP] that is missing.
func NewTokenizer(vocabulary []string, options ...TokenizerOption) (*Tokenizer, error) {
	t := &Tokenizer{tokens: vocabulary, ids: make(map[string]int, len(vocabulary))}
	for i, o := range options {
		need("tokenizer", fmt.Sprintf("option %d", i+1), o != nil, "a TokenizerOption")
		o(t)
	}
	for id, token := range vocabulary {
		if first, twice := t.ids[token]; twice {
			return nil, fmt.Errorf("data: vocabulary: token %s has the ids %d and %d; want each token once", quoted(token), first, id)
		}
		t.ids[token] = id
		t.longest = max(t.longest, len(token))
	}
	for _, token := range specials[:4] {
		if _, ok := t.ids[token]; !ok {
			return nil, fmt.Errorf("data: vocabulary: %s is missing among %d tokens; want %s", token, len(vocabulary), strings.Join(specials[:4], ", "))
		}
	}
	return t, nil
}

// LoadTokenizer returns a tokenizer with the vocabulary of a file, vocab.txt, with one token
// per line. If the file is malformed the error is a *[FormatError].
func LoadTokenizer(path string, options ...TokenizerOption) (*Tokenizer, error) {
	src := source{"vocabulary", path}
	f, _, err := opened(src)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	tokens, err := readVocabulary(src, f)
	if err != nil {
		return nil, err
	}
	return NewTokenizer(tokens, options...)
}

func readVocabulary(src source, f io.Reader) (tokens []string, err error) {
	first := map[string]int{}
	lines := bufio.NewScanner(f)
	lines.Buffer(nil, mostToken)
	for lines.Scan() {
		line, token := len(tokens)+1, lines.Text()
		switch {
		case token == "" || strings.TrimSpace(token) != token:
			return nil, src.bad(atLine(line), quoted(token), "a token without white space around it")
		case !utf8.ValidString(token):
			return nil, src.bad(atLine(line), quoted(token), "UTF-8")
		case first[token] != 0:
			return nil, src.bad(atLine(line), quoted(token)+", which is also on line "+fmt.Sprint(first[token]), "a different token on each line")
		}
		first[token] = line
		tokens = append(tokens, token)
	}
	if err := lines.Err(); errors.Is(err, bufio.ErrTooLong) {
		return nil, src.bad(atLine(len(tokens)+1), "a line that is too long", fmt.Sprintf("a token of at most %d bytes", mostToken))
	} else if err != nil {
		return nil, src.fail(err)
	}
	for _, token := range specials[:4] {
		if first[token] == 0 {
			return nil, src.bad(atLine(len(tokens)+1), "the end of the file", "a line "+token+" before it")
		}
	}
	return tokens, nil
}

// mostToken is the largest length of a vocabulary's line in bytes.
const mostToken = 1 << 16

// Save writes the vocabulary to a file, vocab.txt, atomically.
func (t *Tokenizer) Save(path string) error {
	err := save.File(path, func(w io.Writer) error {
		_, err := io.WriteString(w, strings.Join(t.tokens, "\n")+"\n")
		return err
	})
	if err != nil {
		return source{"vocabulary", path}.fail(err)
	}
	return nil
}

// Len returns the size of the vocabulary.
func (t *Tokenizer) Len() int { return len(t.tokens) }

// ID returns the id of a token, or that of [UNK].
func (t *Tokenizer) ID(token string) int {
	if id, ok := t.ids[token]; ok {
		return id
	}
	return t.ids[unknownToken]
}

// Token returns the token of an id, or [UNK].
func (t *Tokenizer) Token(id int) string {
	if id < 0 || id >= len(t.tokens) {
		return unknownToken
	}
	return t.tokens[id]
}

// Tokenize returns the tokens of a text, without [CLS] and [SEP]. Tokens such as [MASK] may
// appear in the text.
func (t *Tokenizer) Tokenize(text string) []string {
	tokens := []string{}
	for text != "" {
		start, special := len(text), ""
		for _, s := range specials {
			if i := strings.Index(text[:start], s); i >= 0 {
				if _, known := t.ids[s]; known {
					start, special = i, s
				}
			}
		}
		for _, word := range words(text[:start], !t.cased) {
			tokens = t.pieces(tokens, word)
		}
		if special != "" {
			tokens = append(tokens, special)
		}
		text = text[start+len(special):]
	}
	return tokens
}

// mostLetters is the length above which a word is unknown: max_input_chars_per_word.
const mostLetters = 100

// pieces appends the pieces of a word: the longest at its start, then the longest continuation,
// and so on. A word that cannot be assembled is unknown as a whole.
func (t *Tokenizer) pieces(tokens []string, word string) []string {
	if utf8.RuneCountInString(word) > mostLetters {
		return append(tokens, unknownToken)
	}
	before := len(tokens)
	for start := 0; start < len(word); {
		prefix := ""
		if start > 0 {
			prefix = "##"
		}
		end := min(len(word), start+t.longest)
		for ; end > start; end-- {
			if end < len(word) && !utf8.RuneStart(word[end]) {
				continue
			}
			if _, ok := t.ids[prefix+word[start:end]]; ok {
				break
			}
		}
		if end == start {
			return append(tokens[:before], unknownToken)
		}
		tokens = append(tokens, prefix+word[start:end])
		start = end
	}
	return tokens
}

// Decode returns the text of ids, without special tokens. The spaces around punctuation
// are those that the package tokenizers leaves.
func (t *Tokenizer) Decode(ids []int) string {
	var b strings.Builder
	first := true
	for _, id := range ids {
		token := t.Token(id)
		if isSpecial(token) {
			continue
		}
		if rest, goesOn := strings.CutPrefix(token, "##"); goesOn && !first {
			token = rest
		} else if !first {
			token = " " + token
		}
		b.WriteString(cleanUp.Replace(token))
		first = false
	}
	return b.String()
}

func isSpecial(token string) bool {
	for _, s := range specials {
		if token == s {
			return true
		}
	}
	return false
}

// cleanUp is the cleanup of each token in tokenizers/src/decoders/wordpiece.rs.
var cleanUp = strings.NewReplacer(" .", ".", " ?", "?", " !", "!", " ,", ",", " n't", "n't", " 'm", "'m", " do not", " don't", " 's", "'s", " 've", "'ve", " 're", "'re")

package data

import (
	"fmt"

	"halfnote/tensor"
	"halfnote/tensor/driver"
)

// TextOptions are the options of Encode. The zero value keeps all tokens, with [CLS] before
// and [SEP] after them.
type TextOptions struct {
	// MaxLength is the largest number of tokens, including [CLS] and [SEP]; 0 means no
	// limit. The longer text of a pair is cut first.
	MaxLength int
	// PadTo is the length up to which [PAD] is added; 0 means the longest of the texts
	// encoded together.
	PadTo int
	// Plain omits [CLS] and [SEP].
	Plain bool
}

// Encoding is a text as a model's input.
type Encoding struct {
	Tokens []string
	IDs    []int
	Types  []int // 0 in the first text of a pair, 1 in the second
	Mask   []int // 1 for tokens, 0 for padding
}

// Encode returns the tokens of a text. It panics if o leaves no space for [CLS] and [SEP].
func (t *Tokenizer) Encode(text string, o TextOptions) Encoding {
	return t.encode([]string{text}, o)
}

// EncodePair is Encode for two texts, [CLS] first [SEP] second [SEP].
func (t *Tokenizer) EncodePair(first, second string, o TextOptions) Encoding {
	return t.encode([]string{first, second}, o)
}

func (t *Tokenizer) encode(texts []string, o TextOptions) (e Encoding) {
	parts := make([][]string, len(texts))
	for i, text := range texts {
		parts[i] = t.Tokenize(text)
	}
	around := len(texts) + 1
	if o.Plain {
		around = 0
	}
	if o.MaxLength < 0 || o.PadTo < 0 || o.MaxLength > 0 && o.MaxLength < around {
		panic(&tensor.Error{Op: "encode", Why: fmt.Sprintf("MaxLength %d, PadTo %d; want at least 0, and at least %d tokens", o.MaxLength, o.PadTo, around)})
	}
	if o.MaxLength > 0 {
		truncate(parts, o.MaxLength-around)
	}
	for i, tokens := range parts {
		if !o.Plain && i == 0 {
			tokens = append([]string{clsToken}, tokens...)
		}
		if !o.Plain {
			tokens = append(tokens, sepToken)
		}
		for _, token := range tokens {
			e.add(token, t.ID(token), i, 1)
		}
	}
	t.pad(&e, o.PadTo)
	return e
}

func (e *Encoding) add(token string, id, kind, mask int) {
	e.Tokens = append(e.Tokens, token)
	e.IDs = append(e.IDs, id)
	e.Types = append(e.Types, kind)
	e.Mask = append(e.Mask, mask)
}

func (t *Tokenizer) pad(e *Encoding, length int) {
	const each = 64 // approximate bytes per token: text, id, type, mask and spare capacity
	if err := driver.Room(max(length-len(e.IDs), 0), 2*each); err != nil {
		panic(&tensor.Error{Op: "encode", Why: "PadTo: " + err.Error()})
	}
	for len(e.IDs) < length {
		driver.Poll()
		e.add(padToken, t.ids[padToken], 0, 0)
	}
}

// truncate cuts the tokens of one or two texts to most: of two, the longer one to the
// shorter one's length, then both; longest_first in tokenizers/src/utils/truncation.rs.
func truncate(parts [][]string, most int) {
	if len(parts) == 1 {
		parts[0] = parts[0][:min(len(parts[0]), most)]
		return
	}
	short, long := len(parts[0]), len(parts[1])
	if short+long <= most {
		return
	}
	swap := short > long
	if swap {
		short, long = long, short
	}
	long = max(short, most-short)
	if short+long > most {
		short = most / 2
		long = short + most%2
	}
	if swap {
		short, long = long, short
	}
	parts[0], parts[1] = parts[0][:short], parts[1][:long]
}

// TextBatch holds texts as tensors (texts, tokens) of int64.
type TextBatch struct {
	IDs, Types, Mask *tensor.Tensor
}

// EncodeAll returns texts as tensors, padded to the longest one. It is
// calling transformers.BertTokenizer with padding.
func (t *Tokenizer) EncodeAll(texts []string, o TextOptions) TextBatch {
	list := make([]Encoding, len(texts))
	for i, text := range texts {
		list[i] = t.Encode(text, o)
	}
	return t.batch(list)
}

// EncodePairs is EncodeAll for pairs of texts. It panics if the numbers of texts differ.
func (t *Tokenizer) EncodePairs(first, second []string, o TextOptions) TextBatch {
	if len(first) != len(second) {
		panic(&tensor.Error{Op: "encode", Why: fmt.Sprintf("%d first texts, %d second texts; want equal numbers", len(first), len(second))})
	}
	list := make([]Encoding, len(first))
	for i := range first {
		list[i] = t.EncodePair(first[i], second[i], o)
	}
	return t.batch(list)
}

func (t *Tokenizer) batch(list []Encoding) TextBatch {
	length := 0
	for _, e := range list {
		length = max(length, len(e.IDs))
	}
	var ids, types, mask []int
	for _, e := range list {
		t.pad(&e, length)
		ids, types, mask = append(ids, e.IDs...), append(types, e.Types...), append(mask, e.Mask...)
	}
	of := func(x []int) *tensor.Tensor { return tensor.FromInts(x, len(list), length) }
	return TextBatch{of(ids), of(types), of(mask)}
}

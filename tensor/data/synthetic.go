package data

import (
	"cmp"
	"fmt"
	"maps"
	"slices"
	"strings"

	"halfnote/tensor"
	"halfnote/tensor/driver"
)

// Synthetic data sets, for tests and lessons that cannot download data. They are drawn from
// a seed with integer arithmetic, so they are the same on every machine.

// stripes lists the directions of the classes' stripes. tints lists their brightness in
// red, green and blue, in quarters.
var (
	stripes = [5][2]int{{1, 0}, {0, 1}, {1, 1}, {1, -1}, {2, 1}}
	tints   = [2][3]int{{4, 2, 1}, {1, 2, 4}}
)

// SyntheticCIFAR returns n images (n, 3, 32, 32) of uint8 and their classes (n) of int64,
// 0 to 9, like [LoadCIFAR10]: stripes in one of five directions, reddish or bluish, with a
// random phase and noise.
func SyntheticCIFAR(n int, seed int64) *TensorDataset {
	const period, noise = 16, 48
	pixels := hostBytes("synthetic_cifar", n, cifarPixels)
	g := tensor.NewGenerator(seed)
	classes := g.Randint(0, 10, n)
	for _, class := range classes.Ints() {
		driver.Poll()
		direction, tint := stripes[class%5], tints[class/5]
		phase := int(g.Randint(0, period, 1).Item())
		grain := g.Randint(-noise, noise+1, cifarPixels).Ints()
		for channel := range 3 {
			for y := range cifarSide {
				for x := range cifarSide {
					t := (direction[0]*x+direction[1]*y+phase)%period + period
					wave := abs(t%period-period/2) * 16 // 0 to 128
					value := 64 + wave*tint[channel]/4 + grain[(channel*cifarSide+y)*cifarSide+x]
					pixels = append(pixels, byte(min(max(value, 0), 255)))
				}
			}
		}
	}
	return NewTensorDataset(tensor.FromBytes(tensor.Uint8, pixels, n, 3, cifarSide, cifarSide), classes)
}

// hostBytes allocates n items of the given size. It panics if there is not enough memory.
func hostBytes(op string, n, each int) []byte {
	if err := driver.Room(n, 2*each); err != nil { // they become a tensor
		panic(&tensor.Error{Op: op, Why: err.Error()})
	}
	return make([]byte, 0, n*each)
}

func abs(n int) int { return max(n, -n) }

// The parts of synthetic tweets. Some verdicts mean the opposite of their last word.
var (
	tweetStarts   = []string{"", "", "omg ", "well, ", "@friend ", "RT @news: ", "so ", "Honestly ", "update: "}
	tweetSubjects = []string{"my new phone", "the flight", "this café", "that movie", "the service", "our hotel", "this app", "the concert", "my morning coffee", "the train"}
	tweetVerdicts = [2][]string{
		{"is terrible", "was not good", "makes me sad", "is the worst", "was awful", "isn't worth it", "let me down", "is never great", "broke again"},
		{"is wonderful", "was not bad", "makes me happy", "is the best", "was amazing", "is worth it", "surprised me", "is never awful", "works again"},
	}
	tweetEnds = []string{"", "", ".", "!", "!!!", " #life", " 😀", " ☕️", " http://t.co/x1", "… again", " (really)"}
)

// SyntheticTweets returns n short texts and their labels: 1 if friendly, 0 if not. Single
// words do not always decide, for example in "not bad".
func SyntheticTweets(n int, seed int64) (texts []string, labels []int) {
	const each = 128 // approximate bytes of a text and its label
	if err := driver.Room(n, each); err != nil {
		panic(&tensor.Error{Op: "synthetic_tweets", Why: err.Error()})
	}
	g := tensor.NewGenerator(seed)
	pick := func(list []string) string { return list[int(g.Randint(0, len(list), 1).Item())] }
	for range n {
		driver.Poll()
		label := int(g.Randint(0, 2, 1).Item())
		text := pick(tweetStarts) + pick(tweetSubjects) + " " + pick(tweetVerdicts[label]) + pick(tweetEnds)
		if g.Randint(0, 8, 1).Item() == 0 {
			text = strings.ToUpper(text)
		}
		texts, labels = append(texts, text), append(labels, label)
	}
	return texts, labels
}

// Vocabulary returns up to size tokens for texts: [PAD], [UNK], [CLS], [SEP] and [MASK],
// every character that occurs, as the start and as the continuation of a word, and then the
// most frequent words. It does not train WordPiece, which finds frequent pieces of words,
// but it can represent every text of known characters.
func Vocabulary(texts []string, size int, options ...TokenizerOption) []string {
	var t Tokenizer
	for i, o := range options {
		need("vocabulary", fmt.Sprintf("option %d", i+1), o != nil, "a TokenizerOption")
		o(&t)
	}
	letters, counts := map[string]int{}, map[string]int{}
	for _, text := range texts {
		driver.Poll()
		for _, word := range words(text, !t.cased) {
			counts[word]++
			for _, r := range word {
				letters[string(r)]++
			}
		}
	}
	frequent := func(count map[string]int) []string {
		return slices.SortedFunc(maps.Keys(count), func(a, b string) int {
			return cmp.Or(cmp.Compare(count[b], count[a]), strings.Compare(a, b))
		})
	}
	list := slices.Clone(specials)
	for _, r := range frequent(letters) {
		list = append(list, r, "##"+r)
	}
	for _, word := range frequent(counts) {
		if letters[word] == 0 {
			list = append(list, word)
		}
	}
	return list[:min(len(list), max(size, len(specials)))]
}

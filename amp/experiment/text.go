package experiment

import (
	"fmt"

	"halfnote/amp"
	"halfnote/amp/roofline"
	"halfnote/tensor"
	"halfnote/tensor/data"
	"halfnote/tensor/nn"
	"halfnote/tensor/nn/models"
	"halfnote/tensor/optim"
)

// Text holds the sizes of [TinyTextClassifier].
type Text struct {
	Model        models.BERTConfig // sizes of the model; the vocabulary may be smaller, as far as the texts need
	Texts, Batch int
	Length       int // length of the longest text in tokens
	Epochs       int
	LR           float64
	Seed         int64
}

// LaptopText returns sizes that take seconds on two cores: a transformer of two layers of 64 features
// in four heads.
func LaptopText() Text {
	return Text{
		Model: models.BERTConfig{Vocabulary: 256, Hidden: 64, Layers: 2, Heads: 4, Intermediate: 128, Positions: 32, Types: 2, Dropout: 0.1, NoPooler: true},
		Texts: 256, Batch: 16, Length: 24, Epochs: 3, LR: 1e-3, Seed: 1,
	}
}

// FullText returns the sizes of a classifier of tweets: BERT-base, batches of 16
// texts of 512 tokens, five epochs. On a Tesla T4 that took 5149 s in float32 and 2163 s in
// mixed precision.
func FullText() Text {
	model := models.BERTBase()
	model.NoPooler = true
	return Text{Model: model, Texts: 11916, Batch: 16, Length: 512, Epochs: 5, LR: 2e-5, Seed: 1}
}

// TinyTextClassifier trains BERT with a linear layer on the first token to classify synthetic texts as
// friendly or unfriendly, in float32 and in mixed precision, with AdamW and the loss with logits. The
// score is the accuracy under autocast on a quarter of the texts, which are not used for training.
func TinyTextClassifier(s Text) *RunsReport {
	texts, labels := data.SyntheticTweets(s.Texts+s.Texts/4, s.Seed)
	vocabulary := data.Vocabulary(texts, s.Model.Vocabulary)
	tokenizer, err := data.NewTokenizer(vocabulary)
	if err != nil {
		panic(err) // the tokens of Vocabulary are distinct
	}
	r := &RunsReport{}
	for _, t := range []runSpec{
		{name: "float32", dtype: "float32", policy: amp.Off},
		{name: "autocast + scaler", dtype: "float16", policy: amp.Float16, scale: 65536},
	} {
		tensor.ManualSeed(s.Seed)
		net := models.NewBERTClassifier(s.Model, 1)
		batch := func(from, to int) (models.BERTInput, *tensor.Tensor) {
			b := tokenizer.EncodeAll(texts[from:to], data.TextOptions{MaxLength: s.Length})
			return models.BERTInput{IDs: b.IDs, Mask: b.Mask}, tensor.FromInts(labels[from:to], to-from).Float()
		}
		per := s.Texts / s.Batch
		t.steps = per * s.Epochs
		run := t.run(net, func(params []*tensor.Tensor) *optim.Optimizer { return optim.NewAdamW(params, s.LR) },
			func(i int, _ func(x *tensor.Tensor) *tensor.Tensor) *tensor.Tensor {
				in, y := batch(i%per*s.Batch, (i%per+1)*s.Batch)
				return nn.BinaryCrossEntropyWithLogits(net.ForwardInput(in).Squeeze(1), y)
			})
		nn.Eval(net)
		right := 0
		tensor.NoGrad(func() {
			amp.Autocast(t.policy, func() {
				for from := s.Texts; from+s.Batch <= len(texts); from += s.Batch {
					in, _ := batch(from, from+s.Batch)
					for i, logit := range net.ForwardInput(in).Squeeze(1).Float64s() {
						if (logit > 0) == (labels[from+i] == 1) {
							right++
						}
					}
				}
			})
		})
		run.Score = float64(right) / float64(s.Texts/4/s.Batch*s.Batch)
		r.Runs = append(r.Runs, run)
	}
	r.compare()
	m := s.Model
	r.predict(roofline.BERT(s.Batch, s.Length, m.Hidden, m.Layers, m.Heads, m.Intermediate, len(vocabulary)), s.Texts/s.Batch*s.Epochs-1)
	r.Says = fmt.Sprintf("In float32 %s of new texts are right, in mixed precision %s; it took %.2f times as long, measured here.",
		percent(r.Runs[0].Score), percent(r.Runs[1].Score), r.Runs[1].Seconds/r.Runs[0].Seconds)
	return r
}

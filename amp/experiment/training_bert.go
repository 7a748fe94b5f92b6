package experiment

import (
	"halfnote/tensor"
	"halfnote/tensor/nn"
	"halfnote/tensor/nn/models"
	"halfnote/tensor/optim"
)

// BERTSize holds the sizes of [NewBERTTraining]: of a batch of sequences, and of the encoder's layers.
// Each head has 64 features.
type BERTSize struct{ Batch, Length, Hidden, Layers int }

// BERTMini returns sizes of BERT-mini (I. Turc et al., "Well-Read Students Learn Better",
// 2019).
func BERTMini(batch, length int) BERTSize { return BERTSize{batch, length, 256, 4} }

// BERTBase returns sizes of BERT-base (J. Devlin et al., "BERT", 2019).
func BERTBase(batch, length int) BERTSize { return BERTSize{batch, length, 768, 12} }

// NewBERTTraining returns the training of a classifier with two labels on a batch of sequences, by
// cross entropy and AdamW, with dropout of 0.1, in dtype: "float32", "bfloat16" or "float16".
func NewBERTTraining(s BERTSize, dtype string) *Training {
	const vocabulary = 30522
	net := models.NewBERTClassifier(models.BERTConfig{
		Vocabulary: vocabulary, Hidden: s.Hidden, Layers: s.Layers, Heads: s.Hidden / 64, Intermediate: 4 * s.Hidden, Positions: 512, Types: 2, Dropout: 0.1,
	}, 2)
	draw(net)
	ids, labels := tensor.Randint(0, vocabulary, s.Batch, s.Length), tensor.Randint(0, 2, s.Batch)
	return newTraining("bert step", dtype, optim.NewAdamW(nn.Parameters(net), 1e-4), func() *tensor.Tensor {
		return nn.CrossEntropy(net.Forward(ids), labels)
	})
}

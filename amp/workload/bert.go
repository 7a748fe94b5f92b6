package workload

import (
	"halfnote/tensor"
	"halfnote/tensor/nn"
	"halfnote/tensor/nn/models"
	"halfnote/tensor/optim"
)

// NewBERT returns the training of a classifier with two labels on a batch of sequences of
// that length, by cross entropy and AdamW, in dtype: "float32", "bfloat16" or "float16". The
// encoder is BERT-mini, 4 layers of 256 features in 4 heads (I. Turc et al., "Well-Read
// Students Learn Better", 2019), with dropout of 0.1.
func NewBERT(batch, length int, dtype string) *Training {
	const vocabulary = 30522
	net := models.NewBERTClassifier(models.BERTConfig{
		Vocabulary: vocabulary, Hidden: 256, Layers: 4, Heads: 4, Intermediate: 1024, Positions: 512, Types: 2, Dropout: 0.1,
	}, 2)
	draw(net)
	ids, labels := tensor.Randint(0, vocabulary, batch, length), tensor.Randint(0, 2, batch)
	return newTraining("bert step", dtype, optim.NewAdamW(nn.Parameters(net), 1e-4), func() *tensor.Tensor {
		return nn.CrossEntropy(net.Forward(ids), labels)
	})
}

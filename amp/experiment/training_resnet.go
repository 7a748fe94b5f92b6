package experiment

import (
	"halfnote/tensor"
	"halfnote/tensor/nn"
	"halfnote/tensor/nn/models"
	"halfnote/tensor/optim"
)

// NewResNetTraining returns the training of ResNet-18 on a batch of images (3, 32, 32) of ten
// classes, by cross entropy and SGD with momentum, in dtype: "float32", "bfloat16" or
// "float16".
func NewResNetTraining(batch int, dtype string) *Training {
	net := models.NewResNet18(models.ResNetOptions{Classes: 10, SmallStem: true})
	draw(net)
	x, labels := tensor.Randn(batch, 3, 32, 32), tensor.Randint(0, 10, batch)
	return newTraining("resnet step", dtype, optim.NewSGD(nn.Parameters(net), 0.01, optim.Momentum(0.9)), func() *tensor.Tensor {
		return nn.CrossEntropy(net.Forward(x), labels)
	})
}

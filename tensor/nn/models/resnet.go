package models

import (
	"fmt"
	"math"

	"halfnote/tensor"
	"halfnote/tensor/nn"
)

// ResNet is a residual network: He, Zhang, Ren, Sun, Deep residual learning for
// image recognition, 2015. Its names are those of torchvision.models.resnet.
type ResNet struct {
	Conv1  *nn.Conv2d
	Bn1    *nn.BatchNorm2d
	Layer1 *nn.Sequential
	Layer2 *nn.Sequential
	Layer3 *nn.Sequential
	Layer4 *nn.Sequential // nil in the CIFAR networks
	FC     *nn.Linear

	pool nn.Module // pooling after the first layer, or nil
}

// ResNetOptions are the options of the constructors of residual networks.
type ResNetOptions struct {
	Classes   int               // number of classes; by default 10 in the CIFAR networks, 1000 in the others
	SmallStem bool              // starts with a 3 by 3 kernel and without pooling, for images of 32 by 32
	InitFrom  *tensor.Generator // generator of the parameters; nil for the one that tensor.ManualSeed seeds
}

// NewCIFARResNet returns the network of 6n+2 layers for images (n, 3, 32, 32) from section 4.2
// of the paper: three stages of 16, 32 and 64 channels, with shortcuts without parameters.
// depth is 8, 14, 20, 32, 44, 56 and so on; it panics for other values.
func NewCIFARResNet(depth int, o ResNetOptions) *ResNet {
	if depth < 8 || (depth-2)%6 != 0 {
		panic(&tensor.Error{Op: "cifar_resnet", Why: fmt.Sprintf("%d layers; want 6n+2, such as 8, 14, 20, 32, 44 or 56", depth)})
	}
	b := builder{options: initFrom(o)}
	n := (depth - 2) / 6
	r := &ResNet{Conv1: b.conv(3, 16, 3, 1), Bn1: nn.NewBatchNorm2d(16)}
	b.channels, b.padded = 16, true
	r.Layer1, r.Layer2, r.Layer3 = b.stage(n, 16, 1), b.stage(n, 32, 2), b.stage(n, 64, 2)
	r.FC = nn.NewLinear(64, classes(o, 10), b.options...)
	b.init(o)
	return r
}

// NewResNet18 returns the network of two basic blocks per stage, for images (n, 3, 224, 224)
// or, with SmallStem, (n, 3, 32, 32). It is torchvision.models.resnet18.
func NewResNet18(o ResNetOptions) *ResNet { return newResNet(o, false, 2, 2, 2, 2) }

// NewResNet34 is ResNet18 with 3, 4, 6 and 3 basic blocks. It is
// torchvision.models.resnet34.
func NewResNet34(o ResNetOptions) *ResNet { return newResNet(o, false, 3, 4, 6, 3) }

// NewResNet50 is ResNet34 with bottleneck blocks: three layers, the outer two with 1 by 1
// kernels. It is torchvision.models.resnet50.
func NewResNet50(o ResNetOptions) *ResNet { return newResNet(o, true, 3, 4, 6, 3) }

func newResNet(o ResNetOptions, bottleneck bool, blocks ...int) *ResNet {
	b := builder{options: initFrom(o), bottleneck: bottleneck}
	r := &ResNet{}
	if o.SmallStem {
		r.Conv1 = b.conv(3, 64, 3, 1)
	} else {
		r.Conv1 = b.conv(3, 64, 7, 2)
		r.pool = nn.NewMaxPool2d(3, nn.Stride(2), nn.Padding(1))
	}
	r.Bn1 = nn.NewBatchNorm2d(64)
	b.channels = 64
	r.Layer1, r.Layer2 = b.stage(blocks[0], 64, 1), b.stage(blocks[1], 128, 2)
	r.Layer3, r.Layer4 = b.stage(blocks[2], 256, 2), b.stage(blocks[3], 512, 2)
	r.FC = nn.NewLinear(b.channels, classes(o, 1000), b.options...)
	b.init(o)
	return r
}

func classes(o ResNetOptions, otherwise int) int {
	if o.Classes == 0 {
		return otherwise
	}
	return o.Classes
}

func initFrom(o ResNetOptions) []nn.Option {
	if o.InitFrom == nil {
		return nil
	}
	return []nn.Option{nn.InitFrom(o.InitFrom)}
}

// Forward maps images (n, 3, h, w) to scores (n, classes).
func (r *ResNet) Forward(x *tensor.Tensor) *tensor.Tensor {
	x = in("bn1", r.Bn1, in("conv1", r.Conv1, x)).ReLU()
	if r.pool != nil {
		x = r.pool.Forward(x)
	}
	x = in("layer3", r.Layer3, in("layer2", r.Layer2, in("layer1", r.Layer1, x)))
	if r.Layer4 != nil {
		x = in("layer4", r.Layer4, x)
	}
	return in("fc", r.FC, nn.AdaptiveAvgPool2d(x, 1).Flatten(1))
}

// builder makes the layers in torchvision's order, so that the same seed gives the
// same parameters.
type builder struct {
	options    []nn.Option
	bottleneck bool
	padded     bool // shortcuts without parameters
	channels   int  // output channels of the layers so far
	convs      []*nn.Conv2d
}

func (b *builder) conv(in, out, kernel, stride int) *nn.Conv2d {
	c := nn.NewConv2d(in, out, kernel, append([]nn.Option{nn.Stride(stride), nn.Padding(kernel / 2), nn.Bias(false)}, b.options...)...)
	b.convs = append(b.convs, c)
	return c
}

// stage returns n blocks, the first of which has the stride.
func (b *builder) stage(n, channels, stride int) *nn.Sequential {
	s := nn.NewSequential()
	for i := range n {
		if i > 0 {
			stride = 1
		}
		s.Append(b.block(channels, stride))
	}
	return s
}

func (b *builder) block(channels, stride int) nn.Module {
	out := channels
	if b.bottleneck {
		out *= 4
	}
	block := &Block{}
	var shortcut *nn.Conv2d
	if stride != 1 || b.channels != out {
		if b.padded {
			block.stride, block.more = stride, out-b.channels
		} else {
			shortcut = nn.NewConv2d(b.channels, out, 1, append([]nn.Option{nn.Stride(stride), nn.Bias(false)}, b.options...)...)
			block.Downsample = nn.NewSequential(shortcut, nn.NewBatchNorm2d(out))
		}
	}
	if b.bottleneck {
		block.Conv1, block.Bn1 = b.conv(b.channels, channels, 1, 1), nn.NewBatchNorm2d(channels)
		block.Conv2, block.Bn2 = b.conv(channels, channels, 3, stride), nn.NewBatchNorm2d(channels)
		block.Conv3, block.Bn3 = b.conv(channels, out, 1, 1), nn.NewBatchNorm2d(out)
	} else {
		block.Conv1, block.Bn1 = b.conv(b.channels, channels, 3, stride), nn.NewBatchNorm2d(channels)
		block.Conv2, block.Bn2 = b.conv(channels, channels, 3, 1), nn.NewBatchNorm2d(channels)
	}
	if shortcut != nil {
		b.convs = append(b.convs, shortcut)
	}
	b.channels = out
	return block
}

// init draws the convolutions' weights again, normal with variance 2/(out·kernel):
// torch.nn.init.kaiming_normal_ with mode fan_out.
func (b *builder) init(o ResNetOptions) {
	for _, c := range b.convs {
		w := c.Weight
		std := math.Sqrt2 / math.Sqrt(float64(w.Numel()/w.Size(1)))
		draw := tensor.Randn
		if o.InitFrom != nil {
			draw = o.InitFrom.Randn
		}
		tensor.NoGrad(func() { w.Assign(draw(w.Shape()...).MulScalar(std)) })
	}
}

// Block is two or three convolutions with a shortcut around them: torchvision's
// BasicBlock and Bottleneck.
type Block struct {
	Conv1      *nn.Conv2d
	Bn1        *nn.BatchNorm2d
	Conv2      *nn.Conv2d
	Bn2        *nn.BatchNorm2d
	Conv3      *nn.Conv2d // nil in a basic block
	Bn3        *nn.BatchNorm2d
	Downsample *nn.Sequential // projection of the shortcut, or nil

	stride, more int // stride and added zero channels of a shortcut without parameters; 0 if none
}

// Forward maps x (n, c, h, w) to the sum of the convolutions and the shortcut.
func (b *Block) Forward(x *tensor.Tensor) *tensor.Tensor {
	y := in("bn1", b.Bn1, in("conv1", b.Conv1, x)).ReLU()
	y = in("bn2", b.Bn2, in("conv2", b.Conv2, y))
	if b.Conv3 != nil {
		y = in("bn3", b.Bn3, in("conv3", b.Conv3, y.ReLU()))
	}
	switch {
	case b.Downsample != nil:
		x = in("downsample", b.Downsample, x)
	case b.stride > 0:
		x = nn.AvgPool2d(x, 1, nn.Stride(b.stride))
		x = x.Pad([]int{0, 0, 0, 0, b.more / 2, b.more - b.more/2}, tensor.PadOptions{})
	}
	return y.Add(x).ReLU()
}

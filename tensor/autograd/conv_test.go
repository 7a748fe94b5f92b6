package autograd_test

import "halfnote/tensor"

// derivative is a case of TestDerivatives.
type derivative = struct {
	name string
	f    func(a, b *tensor.Tensor) *tensor.Tensor
}

func init() {
	shaped := func(x *tensor.Tensor, shape ...int) *tensor.Tensor { return x.Reshape(shape...) }
	cases = append(cases, []derivative{
		{"conv1d", func(a, b *tensor.Tensor) *tensor.Tensor {
			return tensor.Conv1d(shaped(a, 1, 1, 6), shaped(b, 2, 1, 3), b.Select(1, 0), tensor.ConvOptions{Stride: []int{2}, Padding: []int{2}})
		}},
		{"conv2d", func(a, b *tensor.Tensor) *tensor.Tensor {
			return tensor.Conv2d(a.Pow(2).Reshape(1, 2, 1, 3), shaped(b, 2, 1, 1, 3), nil, tensor.ConvOptions{Padding: []int{1}, Groups: 2, Dilation: []int{2, 1}})
		}},
		{"conv3d", func(a, b *tensor.Tensor) *tensor.Tensor {
			return tensor.Conv3d(shaped(a, 1, 1, 1, 2, 3), shaped(b, 1, 1, 1, 2, 3), nil, tensor.ConvOptions{Padding: []int{0, 1, 1}})
		}},
		{"conv_transpose1d", func(a, b *tensor.Tensor) *tensor.Tensor {
			return tensor.ConvTranspose1d(shaped(a, 1, 2, 3), shaped(b, 2, 1, 3), b.Select(1, 0).Slice(0, 0, 1), tensor.ConvTransposeOptions{Stride: []int{2}, OutputPadding: []int{1}, Padding: []int{1}})
		}},
		{"conv_transpose2d", func(a, b *tensor.Tensor) *tensor.Tensor {
			return tensor.ConvTranspose2d(shaped(a, 1, 2, 3).Unsqueeze(2), shaped(b, 2, 1, 1, 3), nil, tensor.ConvTransposeOptions{Groups: 2})
		}},
		{"conv_transpose3d", func(a, b *tensor.Tensor) *tensor.Tensor {
			return tensor.ConvTranspose3d(shaped(a, 1, 1, 1, 2, 3), shaped(b, 1, 1, 3, 1, 2), nil, tensor.ConvTransposeOptions{Stride: []int{2}})
		}},
		{"conv_tbc", func(a, b *tensor.Tensor) *tensor.Tensor {
			return tensor.ConvTBC(shaped(a, 3, 2, 1), shaped(b, 3, 1, 2), b.Select(1, 0), 1)
		}},
	}...)
}

package data

import (
	"bytes"
	"fmt"
	"slices"

	"halfnote/internal/text"
	"halfnote/tensor"
)

// Transform changes a sample's first field, with random numbers from g if needed. Workers
// call it from several goroutines at once, each with its own g.
type Transform func(x *tensor.Tensor, g *tensor.Generator) *tensor.Tensor

// ToFloat returns a transform of uint8 images to float32 from 0 to 1. It is
// torchvision.transforms.ToTensor, without its change of dimensions.
func ToFloat() Transform {
	return func(x *tensor.Tensor, _ *tensor.Generator) *tensor.Tensor {
		return x.To(tensor.Float32).Div(tensor.Scalar(255))
	}
}

// Normalize returns a transform of float32 images (c, h, w) that subtracts each channel's mean
// and divides by its standard deviation. It panics if mean and std differ in length, or if a
// std is 0. It is torchvision.transforms.Normalize.
func Normalize(mean, std []float64) Transform {
	if len(mean) != len(std) || slices.Contains(std, 0) {
		panic(&tensor.Error{Op: "normalize", Why: text.Sprintf("means %v and deviations %v; want one of each per channel, and nonzero deviations", mean, std)})
	}
	m, d := tensor.New(mean, len(mean), 1, 1), tensor.New(std, len(mean), 1, 1)
	return func(x *tensor.Tensor, _ *tensor.Generator) *tensor.Tensor { return x.Sub(m).Div(d) }
}

// RandomCrop returns a transform that pads images (…, h, w) with padding zeros on each side
// and crops a random square of the given size. It draws like torchvision.transforms.RandomCrop.
func RandomCrop(size, padding int) Transform {
	if size < 1 || padding < 0 {
		panic(&tensor.Error{Op: "random_crop", Why: fmt.Sprintf("size %d, padding %d; want size at least 1 and padding at least 0", size, padding)})
	}
	return func(x *tensor.Tensor, g *tensor.Generator) *tensor.Tensor {
		p := pixels("random_crop", x)
		tall, wide := p.h+2*padding, p.w+2*padding
		if tall < size || wide < size {
			panic(&tensor.Error{Op: "random_crop", Shapes: [][]int{x.Shape()}, Why: fmt.Sprintf("the image padded by %d is smaller than the crop of size %d", padding, size)})
		}
		top, left := 0, 0
		if tall > size || wide > size {
			top = int(g.Randint(0, tall-size+1, 1).Item())
			left = int(g.Randint(0, wide-size+1, 1).Item())
		}
		out := make([]byte, p.images*size*size*p.each)
		for image := range p.images {
			for row := range size {
				from, first, last := row+top-padding, max(0, padding-left), min(size, p.w+padding-left)
				if from < 0 || from >= p.h || first >= last {
					continue
				}
				copy(out[((image*size+row)*size+first)*p.each:][:(last-first)*p.each], p.bytes[((image*p.h+from)*p.w+first+left-padding)*p.each:])
			}
		}
		return p.image(out, size, size)
	}
}

// RandomHorizontalFlip returns a transform that mirrors an image (…, h, w) with
// probability p. It draws like torchvision.transforms.RandomHorizontalFlip.
func RandomHorizontalFlip(p float64) Transform {
	if !(p >= 0 && p <= 1) {
		panic(&tensor.Error{Op: "random_horizontal_flip", Why: fmt.Sprintf("p is %v; want 0 to 1", p)})
	}
	return func(x *tensor.Tensor, g *tensor.Generator) *tensor.Tensor {
		if g.Rand(1).Item() >= p {
			return x
		}
		r := pixels("random_horizontal_flip", x)
		out := make([]byte, len(r.bytes))
		for row := range r.images * r.h {
			from, to := r.bytes[row*r.w*r.each:], out[row*r.w*r.each:]
			for i := range r.w {
				copy(to[i*r.each:(i+1)*r.each], from[(r.w-1-i)*r.each:])
			}
		}
		return r.image(out, r.h, r.w)
	}
}

// raster holds the elements of images (…, h, w).
type raster struct {
	of           *tensor.Tensor
	images, h, w int
	each         int // bytes of an element
	bytes        []byte
}

func pixels(op string, x *tensor.Tensor) raster {
	if x.Dim() < 2 || x.Numel() == 0 {
		panic(&tensor.Error{Op: op, Shapes: [][]int{x.Shape()}, Why: "want an image (…, h, w) with at least one element"})
	}
	var b bytes.Buffer
	x.WriteTo(&b) // writing to a Buffer cannot fail
	h, w := x.Size(-2), x.Size(-1)
	return raster{x, x.Numel() / (h * w), h, w, x.DType().Size(), b.Bytes()}
}

func (p raster) image(elements []byte, h, w int) *tensor.Tensor {
	shape := p.of.Shape()
	shape[len(shape)-2], shape[len(shape)-1] = h, w
	return tensor.FromBytes(p.of.DType(), elements, shape...).ToDevice(p.of.Device())
}

//go:build cuda && linux && cgo

package gpu

import (
	"halfnote/tensor"
	"halfnote/tensor/driver"
	"halfnote/tensor/nn"
)

// products measures matrix products by each route.
func (f *figures) products() {
	b := f.b
	defer func(routes route, tf32 bool) {
		b.routes = routes
		b.AllowTF32(tf32)
	}(b.routes, b.tf32.Load())
	_, missing := b.Library()
	if missing != nil {
		f.Log("without cublasLt:", missing)
	}
	major, _ := b.Capability()
	wide := f.pick(4096, 32)
	routes := []struct {
		name string
		route
	}{{"cublasLt", library}, {"mma", mma}, {"simt", simt}}
	for _, m := range []int{wide, f.pick(512, 16)} {
		for _, c := range []struct {
			name string
			driver.DType
			tf32   bool
			routes route
		}{
			{"float16", driver.Float16, false, allRoutes},
			{"bfloat16", driver.BFloat16, false, allRoutes},
			{"tf32", driver.Float32, true, library | mma},
			{"float32", driver.Float32, false, library | simt},
		} {
			x, w, y := f.view(c.DType, m, wide), f.view(c.DType, wide, wide), f.view(c.DType, m, wide)
			for _, p := range []struct {
				name string
				dst  driver.View
				x, y driver.View
			}{ // products of a linear layer with weights (outputs, inputs)
				{"forward", y, x, turnedView(w)},
				{"dx", x, y, w},
				{"dw", w, turnedView(y), x},
			} {
				if p.name != "forward" && c.DType != driver.Float16 {
					continue
				}
				for _, r := range routes {
					if c.routes&r.route == 0 || r.route == library && missing != nil || r.route == mma && major < 8 {
						continue
					}
					b.routes = r.route | simt
					b.AllowTF32(c.tf32)
					t := f.onGPU(func() { b.Run(driver.Kernel{Code: driver.Matmul}, p.dst, p.x, p.y) })
					f.rate(2*float64(m)*float64(wide)*float64(wide), t, "TFLOP/s", "product %s %dx%dx%d %s %s", p.name, m, wide, wide, c.name, r.name)
				}
			}
			f.release(x, w, y)
		}
	}
}

// turnedView returns the transpose of a matrix.
func turnedView(v driver.View) driver.View {
	v.Shape, v.Stride = []int{v.Shape[1], v.Shape[0]}, []int{v.Stride[1], v.Stride[0]}
	return v
}

// convolutions measures layers of ResNet-18 for images of 224 by 224, including padding and layout
// changes.
func (f *figures) convolutions() {
	defer f.b.AllowTF32(f.b.tf32.Load())
	images := f.pick(64, 1)
	for _, c := range []struct{ in, out, size, kernel, stride int }{
		{3, 64, 224, 7, 2},
		{64, 64, 56, 3, 1},
		{64, 128, 56, 3, 2},
		{64, 128, 56, 1, 2},
		{128, 128, 28, 3, 1},
		{256, 256, 14, 3, 1},
		{512, 512, 7, 3, 1},
	} {
		if c.size = f.pick(c.size, 6); f.pick(0, 1) == 1 {
			c.in, c.out = min(c.in, 8), 8
		}
		for _, d := range []tensor.DType{tensor.Float16, tensor.Float32} {
			name := "float16"
			if d == tensor.Float32 {
				name = "tf32"
			}
			f.b.AllowTF32(d == tensor.Float32)
			x, w := f.tensor(d, images, c.in, c.size, c.size), f.tensor(d, c.out, c.in, c.kernel, c.kernel)
			o := tensor.ConvOptions{Stride: []int{c.stride}, Padding: []int{c.kernel / 2}}
			forward := func() *tensor.Tensor { return tensor.Conv2d(x, w, nil, o) }
			y := forward()
			flops := 2 * float64(y.Numel()*c.in*c.kernel*c.kernel)
			say := func(what string, run func()) {
				f.rate(flops, f.onGPU(run), "TFLOP/s", "convolution %s %s of %d images %dx%dx%d, %d kernels %dx%d, stride %d", what, name, images, c.in, c.size, c.size, c.out, c.kernel, c.kernel, c.stride)
			}
			say("forward", func() { forward() })
			dy := y.MulScalar(0.5)
			w = w.RequireGrad()
			f.gradient("dw", forward(), dy, say, w)
			if w = w.Detach(); c.in > 3 { // the gradient of the images is not needed
				x = x.RequireGrad()
				f.gradient("dx", forward(), dy, say, x)
			}
		}
	}
}

// gradient measures the gradients of y with respect to operands.
func (f *figures) gradient(what string, y, dy *tensor.Tensor, say func(string, func()), operands ...*tensor.Tensor) {
	say(what, func() {
		tensor.GradWith(y, operands, tensor.BackwardOptions{Gradient: dy, RetainGraph: true})
	})
}

// attention measures the attention of BERT-base.
func (f *figures) attention() {
	heads, features := f.pick(12, 1), 64
	for _, c := range []struct {
		batch, length int
		dropout       float64
	}{{32, 128, 0}, {32, 128, 0.1}, {8, 512, 0}} {
		for _, d := range []tensor.DType{tensor.Float16, tensor.BFloat16} {
			batch, length := f.pick(c.batch, 1), f.pick(c.length, 16)
			operand := func() *tensor.Tensor { // in the layout of a projection's result
				return f.tensor(d, batch, length, heads, features).Transpose(1, 2).Detach().RequireGrad()
			}
			q, k, v := operand(), operand(), operand()
			forward := func() *tensor.Tensor {
				return nn.ScaledDotProductAttention(q, k, v, nn.DropoutP(c.dropout))
			}
			product := 2 * float64(batch*heads*length*length*features)
			products := 2.0 // q kᵀ and the product with v; backward recomputes q kᵀ and has two gradients of each product
			say := func(what string, run func()) {
				f.rate(products*product, f.onGPU(run), "TFLOP/s", "attention %s %v of %d sequences of %d, %d heads of %d, dropout %v", what, d, batch, length, heads, features, c.dropout)
			}
			say("forward", func() { forward() })
			products = 5
			y := forward()
			f.gradient("backward", y, y.Detach().MulScalar(0.5), say, q, k, v)
		}
	}
}

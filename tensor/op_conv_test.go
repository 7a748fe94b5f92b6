package tensor

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"halfnote/tensor/driver"
)

// whole returns small integers, so that sums of products are exact in every dtype.
func whole(d DType, shape ...int) *Tensor {
	data := make([]float64, size(shape))
	for i := range data {
		data[i] = float64(i*7%5 - 2)
	}
	return NewAs(d, data, len(data)).Reshape(shape...)
}

// strided returns x with its dimensions reversed in memory, and gaps.
func strided(x *Tensor) *Tensor {
	order := seq(len(x.shape))
	slices.Reverse(order)
	y := x.Permute(order...)
	room := newTensor(x.mem.backend, x.dtype, append(slices.Clone(y.shape), 2))
	room.Select(-1, 1).Assign(y)
	return room.Select(-1, 1).Permute(order...)
}

// walk calls body for every index of shape.
func walk(shape []int, body func(at []int)) {
	at := make([]int, len(shape))
	for range size(shape) {
		body(at)
		for d := len(at) - 1; d >= 0; d-- {
			if at[d]++; at[d] < shape[d] {
				break
			}
			at[d] = 0
		}
	}
}

// loopConv is the loop in conv's comment, for both directions. It calls body for every product.
func loopConv(c conv, n, o, channels int, sizes []int, body func(x, w, y []int)) {
	perGroup, outs := channels/c.groups, o/c.groups
	places := c.places(sizes)
	walk(slices.Concat([]int{n, o, perGroup}, places, c.kernel), func(at []int) {
		p, k := at[3:3+c.dims], at[3+c.dims:]
		x := []int{at[0], at[1]/outs*perGroup + at[2]}
		for i := range p {
			s := p[i]*c.stride[i] + k[i]*c.dilation[i] - c.lo[i]
			if s < 0 || s >= sizes[i] {
				return
			}
			x = append(x, s)
		}
		body(x, append([]int{at[1], at[2]}, k...), append([]int{at[0], at[1]}, p...))
	})
}

func TestConv(t *testing.T) {
	for _, c := range []struct {
		x, w []int
		o    ConvOptions
	}{
		{[]int{2, 3, 7}, []int{4, 3, 3}, ConvOptions{}},
		{[]int{1, 1, 1}, []int{1, 1, 1}, ConvOptions{}},
		{[]int{0, 2, 5}, []int{3, 2, 2}, ConvOptions{}},
		{[]int{2, 4, 9}, []int{6, 2, 3}, ConvOptions{Stride: []int{2}, Padding: []int{1}, Dilation: []int{2}, Groups: 2}},
		{[]int{2, 3, 6}, []int{2, 3, 4}, ConvOptions{Same: true}},
		{[]int{2, 3, 5, 7}, []int{4, 3, 3, 2}, ConvOptions{}},
		{[]int{3, 4, 6, 6}, []int{4, 1, 3, 3}, ConvOptions{Groups: 4, Padding: []int{1}}},
		{[]int{2, 2, 4}, []int{3, 2, 2}, ConvOptions{Padding: []int{3}}},
		{[]int{2, 2, 7, 5}, []int{2, 2, 3, 3}, ConvOptions{Stride: []int{3, 2}, Padding: []int{2, 0}, Dilation: []int{1, 2}}},
		{[]int{2, 3, 6, 6}, []int{5, 3, 1, 1}, ConvOptions{}},
		{[]int{2, 4, 2, 2}, []int{6, 2, 1, 1}, ConvOptions{Groups: 2}},
		{[]int{2, 3, 6, 6}, []int{5, 3, 1, 1}, ConvOptions{Stride: []int{2}}},
		{[]int{2, 2, 3, 4, 5}, []int{3, 2, 2, 3, 2}, ConvOptions{Padding: []int{1}, Stride: []int{2, 1, 1}}},
		{[]int{2, 2, 12, 13}, []int{3, 2, 2, 3}, ConvOptions{Stride: []int{3, 4}, Padding: []int{1, 2}}},
		{[]int{2, 2, 14, 15}, []int{3, 2, 4, 3}, ConvOptions{Stride: []int{2, 4}, Padding: []int{2, 3}, Dilation: []int{2, 6}}},
		{[]int{3, 20, 8, 8}, []int{18, 20, 3, 3}, ConvOptions{Stride: []int{2}, Padding: []int{1}}},
		{[]int{3, 20, 4, 4}, []int{18, 20, 3, 3}, ConvOptions{Padding: []int{1}}},
	} {
		dims := len(c.x) - 2
		for _, d := range []DType{Float64, Float32, Float16, BFloat16} {
			for _, layout := range []func(*Tensor) *Tensor{func(x *Tensor) *Tensor { return x }, strided} {
				name := fmt.Sprint(c.x, c.w, c.o, d)
				x, w, b := layout(whole(d, c.x...)).RequireGrad(), layout(whole(d, c.w...)).RequireGrad(), whole(d, c.w[0]).RequireGrad()
				y := [4]func(x, w, b *Tensor, o ConvOptions) *Tensor{1: Conv1d, 2: Conv2d, 3: Conv3d}[dims](x, w, b, c.o)
				dy := whole(d, y.shape...)
				y.BackwardWith(BackwardOptions{Gradient: dy})

				want, dx, dw := arrayOfZeros(y.shape...), arrayOfZeros(c.x...), arrayOfZeros(c.w...)
				ax, aw, ab, ady := arrayOf(x), arrayOf(w), arrayOf(b), arrayOf(dy)
				walk(y.shape, func(at []int) { *want.at(at) = ab.data[at[1]] })
				loopConv(newConv("", dims, w, c.o), c.x[0], c.w[0], c.x[1], c.x[2:], func(i, k, o []int) {
					*want.at(o) += *ax.at(i) * *aw.at(k)
					*dx.at(i) += *ady.at(o) * *aw.at(k)
					*dw.at(k) += *ady.at(o) * *ax.at(i)
				})
				for _, r := range []struct {
					what string
					got  *Tensor
					want array
				}{{"y", y, want}, {"dx", x.grad, dx}, {"dw", w.grad, dw}} {
					if r.got.dtype != d || !r.want.same(r.got) {
						t.Errorf("%s: %s: got %v, want %v", name, r.what, r.got, r.want.data)
					}
				}
				if dims == 1 && c.x[0] == 1 {
					if one := Conv1d(x.Squeeze(0), w, b, c.o); !slices.Equal(one.shape, y.shape[1:]) {
						t.Errorf("%s without a batch: got %v", name, one.shape)
					}
				}
			}
		}
	}
}

// array holds the numbers of the plain loops.
type array struct {
	shape []int
	data  []float64
}

func arrayOf(t *Tensor) array         { return array{t.shape, t.Float64s()} }
func arrayOfZeros(shape ...int) array { return array{shape, make([]float64, size(shape))} }

func (a array) at(index []int) *float64 {
	i := 0
	for d, n := range a.shape {
		i = i*n + index[d]
	}
	return &a.data[i]
}

// same reports whether t has the elements of a, rounded.
func (a array) same(t *Tensor) bool {
	return slices.Equal(t.shape, a.shape) && slices.Equal(t.Float64s(), NewAs(t.dtype, a.data, len(a.data)).Float64s())
}

func TestConvTranspose(t *testing.T) {
	for _, c := range []struct {
		x, w, want []int
		o          ConvTransposeOptions
	}{
		{[]int{2, 3, 5}, []int{3, 2, 3}, []int{2, 2, 7}, ConvTransposeOptions{}},
		{[]int{1, 4, 4}, []int{4, 3, 2}, []int{1, 6, 9}, ConvTransposeOptions{Stride: []int{2}, Dilation: []int{3}, Padding: []int{1}, OutputPadding: []int{1}, Groups: 2}},
		{[]int{1, 2, 4}, []int{2, 1, 3}, []int{1, 1, 10}, ConvTransposeOptions{Dilation: []int{3}, Padding: []int{1}, OutputPadding: []int{2}}},
		{[]int{2, 2, 5}, []int{2, 3, 2}, []int{2, 3, 2}, ConvTransposeOptions{Padding: []int{2}}},
		{[]int{2, 2, 3, 4}, []int{2, 3, 3, 2}, []int{2, 3, 7, 5}, ConvTransposeOptions{Stride: []int{2, 1}}},
		{[]int{2, 2, 4, 5}, []int{2, 3, 2, 1}, []int{2, 3, 11, 13}, ConvTransposeOptions{Stride: []int{3}}},
		{[]int{2, 2, 4, 5}, []int{2, 3, 2, 4}, []int{2, 3, 11, 14}, ConvTransposeOptions{Stride: []int{4, 3}, Dilation: []int{2, 1}, Padding: []int{2, 1}}},
		{[]int{1, 1, 2, 2, 2}, []int{1, 2, 2, 2, 2}, []int{1, 2, 4, 4, 4}, ConvTransposeOptions{Stride: []int{2}}},
	} {
		dims := len(c.x) - 2
		for _, d := range []DType{Float64, Float32, Float16, BFloat16} {
			x, w, b := strided(whole(d, c.x...)).RequireGrad(), whole(d, c.w...).RequireGrad(), whole(d, c.want[1]).RequireGrad()
			y := [4]func(x, w, b *Tensor, o ConvTransposeOptions) *Tensor{1: ConvTranspose1d, 2: ConvTranspose2d, 3: ConvTranspose3d}[dims](x, w, b, c.o)
			if !slices.Equal(y.shape, c.want) {
				t.Errorf("%v: got shape %v, want %v", c, y.shape, c.want)
				continue
			}
			dy := whole(d, y.shape...)
			y.BackwardWith(BackwardOptions{Gradient: dy})
			want, dx, dw := arrayOfZeros(y.shape...), arrayOfZeros(c.x...), arrayOfZeros(c.w...)
			ax, aw, ab, ady := arrayOf(x), arrayOf(w), arrayOf(b), arrayOf(dy)
			walk(y.shape, func(at []int) { *want.at(at) = ab.data[at[1]] })
			form := newConv("", dims, w, ConvOptions{Stride: c.o.Stride, Padding: c.o.Padding, Dilation: c.o.Dilation, Groups: c.o.Groups})
			for i := range dims {
				form.hi[i] -= append(c.o.OutputPadding, 0)[0]
			}
			loopConv(form, c.x[0], c.x[1], c.want[1], c.want[2:], func(o, k, i []int) {
				*want.at(o) += *ax.at(i) * *aw.at(k)
				*dx.at(i) += *ady.at(o) * *aw.at(k)
				*dw.at(k) += *ady.at(o) * *ax.at(i)
			})
			for _, r := range []struct {
				what string
				got  *Tensor
				want array
			}{{"y", y, want}, {"dx", x.grad, dx}, {"dw", w.grad, dw}} {
				if r.got.dtype != d || !r.want.same(r.got) {
					t.Errorf("%v %v: %s: got %v, want %v", c, d, r.what, r.got, r.want.data)
				}
			}
		}
	}
}

// TestConvParts checks that a batch computed in parts gives the results of single images.
func TestConvParts(t *testing.T) {
	x, w := Randn(110, 32, 16, 16).RequireGrad(), Randn(8, 32, 3, 3).RequireGrad()
	var firsts []int
	packingOf(x, 1, false).padded(x, []int{1, 1}, []int{1, 1}, w.Numel(), false, func(first int, _ *Tensor) { firsts = append(firsts, first) })
	if !slices.Equal(firsts, []int{0, 37, 74}) {
		t.Fatalf("parts begin at images %v; want 0, 37 and 74", firsts)
	}
	o := ConvOptions{Padding: []int{1}}
	y := Conv2d(x, w, nil, o)
	y.BackwardWith(BackwardOptions{Gradient: Ones(y.shape...)})
	for _, i := range []int{0, 36, 37, 109} {
		one := x.Detach().Slice(0, i, i+1).RequireGrad()
		z := Conv2d(one, w, nil, o)
		z.BackwardWith(BackwardOptions{Gradient: Ones(z.shape...)})
		if !Equal(z.Detach(), y.Detach().Slice(0, i, i+1)) || !Equal(one.grad, x.grad.Slice(0, i, i+1)) {
			t.Errorf("image %d: the result differs when it is computed alone", i)
		}
	}
}

// TestConvCounts counts two operations per product.
func TestConvCounts(t *testing.T) {
	var got []float64
	stop := Observe(func(e Event) {
		if strings.HasPrefix(e.Op.Name, "conv") {
			got = append(got, e.FLOPs)
		}
	})
	x, w := Ones(2, 3, 5, 5).RequireGrad(), Ones(4, 3, 2, 2).RequireGrad()
	Conv2d(x, w, nil, ConvOptions{}).Sum().Backward()
	stop()
	const want = 2 * 2 * 4 * 4 * 4 * 3 * 2 * 2
	if !slices.Equal(got, []float64{want, want, want}) {
		t.Errorf("forward, gradients of input and weight: got %v, want %d each", got, want)
	}
}

func TestConvErrors(t *testing.T) {
	x, w, b := Zeros(2, 4, 5, 5), Zeros(6, 2, 3, 3), Zeros(6)
	for _, c := range []struct {
		body func()
		want string
	}{
		{func() { Conv2d(x, w, b, ConvOptions{}) }, "conv2d: shapes (2, 4, 5, 5), (6, 2, 3, 3) and (6,): input has 4 channels and Groups is 1; the weight expects 2 channels"},
		{func() { Conv2d(x, w, Zeros(5), ConvOptions{Groups: 2}) }, "want shape (6,)"},
		{func() { Conv1d(x, w, b, ConvOptions{}) }, "conv1d: shapes (2, 4, 5, 5), (6, 2, 3, 3) and (6,): want an input of 2 or 3"},
		{func() { Conv2d(x, w, b, ConvOptions{Groups: 2, Stride: []int{1, 2, 3}}) }, "conv2d: stride is (1, 2, 3), of length 3; want length 1 or 2"},
		{func() { Conv2d(x, w, b, ConvOptions{Groups: 2, Stride: []int{0}}) }, "conv2d: stride is (0,); want numbers of at least 1"},
		{func() { Conv2d(x, w, b, ConvOptions{Groups: 2, Padding: []int{-1}}) }, "padding is (-1,); want"},
		{func() { Conv2d(x, w, b, ConvOptions{Groups: 2, Dilation: []int{3}}) }, "the kernel spans 7 elements, but dimension 2 has only 5"},
		{func() { Conv2d(x, w, b, ConvOptions{Groups: 2, Same: true, Stride: []int{2}}) }, "want stride 1"},
		{func() { Conv2d(x, w.Half(), b, ConvOptions{Groups: 2}) }, "conv2d: dtypes float32, float16 and float32"},
		{func() { Conv2d(x, Zeros(6, 2, 0, 3), b, ConvOptions{Groups: 2}) }, "want at least 1, and kernel sizes of at least 1"},
		{func() { ConvTranspose2d(x, w, nil, ConvTransposeOptions{}) }, "conv_transpose2d: shapes (2, 4, 5, 5) and (6, 2, 3, 3): input has 4 channels and Groups is"},
		{func() { ConvTranspose2d(Zeros(2, 6, 5, 5), w, nil, ConvTransposeOptions{OutputPadding: []int{1}}) }, "output padding is 1 in dimension 2; want less than the stride 1"},
		{func() { ConvTranspose2d(Zeros(2, 6, 1, 5), w, nil, ConvTransposeOptions{Padding: []int{2}}) }, "the result would have -1 elements along dimension 2"},
		{func() { ConvTranspose2d(Zeros(2, 6, 5, 5), w, b, ConvTransposeOptions{}) }, "want shape (2,)"},
		{func() { ConvTBC(Zeros(5, 2, 3), Zeros(3, 4, 2), Zeros(2), 0) }, "conv_tbc: shapes (5, 2, 3), (3, 4, 2) and (2,)"},
	} {
		if err := Try(c.body); err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("got %v, want an error that contains %q", err, c.want)
		}
	}
}

// basic is a backend without optional interfaces. It is not registered, because other tests
// list the devices.
type basic struct{ driver.Backend }

func (b basic) Offers(c driver.Code, dst driver.DType, src ...driver.DType) bool {
	return c < driver.Optional && b.Backend.Offers(c, dst, src...)
}

// TestConvolutionByMatrixProducts checks that a backend that offers only matrix products gives the same
// bits for convolutions.
func TestConvolutionByMatrixProducts(t *testing.T) {
	cpu := CPU.backend()
	for _, o := range []ConvOptions{
		{},
		{Padding: []int{1}, Stride: []int{2}},
		{Padding: []int{2}, Dilation: []int{2}, Groups: 2},
		{Stride: []int{4}}, // some elements of x are in no window
		{Groups: 4, Padding: []int{1}},
	} {
		for _, d := range []DType{Float64, Float32, Float16, BFloat16} {
			x, w, bias := Randn(3, 4, 11, 13).To(d), Randn(8, 4/max(1, o.Groups), 3, 3).To(d), Randn(8).To(d)
			var dy *Tensor
			results := func(b driver.Backend) []*Tensor {
				x, w, bias := copied(b, x).RequireGrad(), copied(b, w).RequireGrad(), copied(b, bias).RequireGrad()
				y := Conv2d(x, w, bias, o)
				if dy == nil {
					dy = Randn(y.shape...).To(d)
				}
				return append(GradWith(y, []*Tensor{x, w, bias}, BackwardOptions{Gradient: copied(b, dy)}), y)
			}
			want := results(cpu)
			for i, got := range results(basic{cpu}) {
				if !Equal(copied(cpu, got), want[i].Detach()) {
					t.Errorf("%s of %v: result %d differs from a contraction's", fmt.Sprint(o), d, i)
				}
			}
		}
	}
}

// copied returns a copy of x on a backend.
func copied(b driver.Backend, x *Tensor) *Tensor {
	y := newTensor(b, x.dtype, x.shape)
	b.Write(y.mem.buffer, 0, compact(x.Detach()).bytes())
	return y
}
